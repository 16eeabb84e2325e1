#!/usr/bin/env python3
"""Changes too large to publish unseen, each at its border: half of a region's rows or prices, a
factor of 3, 5 % of the prices, a currency, a kind of price, a field. What is held back says how to
see it and how to take it; the prices before stay."""
from little import Box, check, csv_text, main

OWN = "vendor,region,instance_type,gpu,gpu_count,vcpus,memory_gib,price_per_hour,currency,purchase,sku"


def row(i, price="10", **more):
    return dict(dict(vendor="oci", region="r1", instance_type="t%02d" % i, gpu="A10", gpu_count=1, vcpus=8,
                     memory_gib=64, price_per_hour=price, currency="USD", purchase="on_demand", sku="s%d" % i), **more)


def verdict(name, old, new, held=None, header=OWN, kind="prices-csv", options=()):
    """The second list after the first: held back for a reason with those words, or published."""
    box = Box()
    box.take(kind, csv_text(OWN if kind == "prices-csv" else header[0], old), *options, name="list.csv")
    before = box.offers()
    second = csv_text(header if kind == "prices-csv" else header[1], new)
    r = box.take(kind, second, *options, name="list.csv", status=3 if held else 0)
    if held is None:
        check(name + ": published", r.stderr, "")
        return
    check(name + ": says why", held in r.stderr, True)
    check(name + ": how to see and to take it: " + r.stderr, "list.csv: " in r.stderr and
          "gputier --db NEW.db import %s FILE" % kind in r.stderr and "--accept-large-change" in r.stderr, True)
    check(name + ": the prices before", box.offers(), before)
    state = next(s for s in box.json("sources")["sources"] if s["source_id"] == kind)
    check(name + ": sources", (state["state"], held in state["why"] and "--accept" in state["why"]),
          ("quarantined", True))
    box.take(kind, second, "--accept-large-change", *options, name="list.csv")
    other = Box()
    other.take(kind, second, *options, name="list.csv")
    key = ("instance_type", "purchase", "price_per_hour", "currency", "region")
    check(name + ": taken when asked", box.rows(*key), other.rows(*key))
    box.take(kind, second, *options, name="list.csv") # which is the list to compare with from then on


def half_of_the_rows_may_go():
    old = [row(i) for i in range(10)] + [row(i, region="r2") for i in range(30)]
    verdict("half", old, old[5:])
    verdict("more than half", old, old[6:], "oci/r1 shrinks from 10 to 4 rows")
    verdict("one region", old, old[10:], "oci/r1 shrinks from 10 to 0 rows")
    odd = [row(i) for i in range(9)]
    verdict("4 of 9 stay", odd, odd[:4], "from 9 to 4 rows")
    verdict("5 of 9 stay", odd, odd[:5])


def half_of_the_prices_may_go():
    old = [row(i) for i in range(10)]
    verdict("no price in half of the rows", old, [row(i, "" if i < 5 else "10") for i in range(10)])
    verdict("no price in more", old, [row(i, "" if i < 6 else "10") for i in range(10)],
            "from 10 to 4 prices")


def a_factor_of_3_is_not_above_it():
    # in binary 3 x 0.3 is less than 0.9, 3 x 0.1 more than 0.3
    for price, three, more in (("0.3", "0.9", "0.900001"), ("0.1", "0.3", "0.300001"), ("1.1", "3.3", "3.300001"),
                               ("0.7", "2.1", "2.1001"), ("32.7726", "98.3178", "98.3179"),
                               ("0.00005", "0.00015", "0.00015001")):
        verdict("%s to %s" % (price, three), [row(0, price)], [row(0, three)])
        verdict("%s to %s" % (three, price), [row(0, three)], [row(0, price)])
        verdict("%s to %s" % (price, more), [row(0, price)], [row(0, more)], "1 of 1 prices move by a factor above 3")
        verdict("%s to %s" % (more, price), [row(0, more)], [row(0, price)], "1 of 1 prices move by a factor above 3")


def one_in_twenty_may_move():
    old = [row(i) for i in range(40)]
    verdict("2 of 40", old, [row(i, "31" if i < 2 else "10") for i in range(40)])
    verdict("3 of 40", old, [row(i, "31" if i < 3 else "10") for i in range(40)],
            "3 of 40 prices move by a factor above 3; at most 5 %")
    verdict("1 of 20", old[:20], [row(i, "1" if i < 1 else "10") for i in range(20)])
    verdict("1 of 19", old[:19], [row(i, "1" if i < 1 else "10") for i in range(19)], "1 of 19 prices")


def no_currency_may_change():
    old = [row(i) for i in range(40)]
    new = [row(i) for i in range(40)]
    new[7]["currency"] = "EUR"
    verdict("one currency", old, new, "1 of 40 prices change currency (USD to EUR)")
    verdict("all and three times the figure", old, [row(i, "31", currency="EUR") for i in range(40)],
            "40 of 40 prices change currency (USD to EUR)")
    verdict("a new row in another one", old, old + [row(50, currency="EUR")])


SKY = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone"


def sky(i):
    return {"InstanceType": "m%d" % i, "AcceleratorName": "A10", "AcceleratorCount": 1, "vCPUs": 8, "MemoryGiB": 64,
            "Price": 2, "SpotPrice": "0.9", "Region": "eu-%d" % (i % 3), "AvailabilityZone": "eu-%d-a" % (i % 3)}


def no_kind_of_price_may_vanish():
    def vendor(name, old, new, held=None):
        verdict(name, old, new, held, (SKY, SKY), "skypilot", ("--vendor", "fluidstack"))
    both, none = [sky(i) for i in range(12)], [dict(sky(i), SpotPrice="") for i in range(12)]
    vendor("all spot prices", both, none, "all 12 spot prices vanish")
    vendor("all but one", both, none[:11] + both[11:])
    vendor("the only one", none[:11] + both[11:], none, "the only spot price vanishes")
    vendor("spot at the price of on demand, which is none", both, [dict(r, SpotPrice=2) for r in both],
           "all 12 spot prices vanish")
    vendor("a new kind", none, both)
    old = [row(i) for i in range(30)] + [row(i, "4", purchase="spot") for i in range(10)]
    verdict("ten of an own list", old, old[:30], "all 10 spot prices vanish")
    verdict("no price in ten of them", old, old[:30] + [row(i, "", purchase="spot") for i in range(10)],
            "all 10 spot prices vanish")
    verdict("nine, which the author may do", old[:39], old[:30])


STORE = "vendor,region,product,tier,component,unit,from_qty,to_qty,usd,source,date"


def no_kind_of_storage_fee_may_vanish():
    def rates(*components):
        return csv_text(STORE, [("aws", "us-east-%d" % i, "S3", tier, c, u, "0", "", p, "bill", "2026-11-01")
                                for tier in ("Standard-IA", "One Zone-IA") for c, u, p in components
                                for i in range(1, 6)])
    box = Box()
    storage, get, retrieval = (("storage", "GB-month", "0.0125"), ("get", "1k", "0.001"),
                               ("retrieval", "GB", "0.01"))
    box.take("prices-csv", rates(storage, get, retrieval), name="list.csv")
    r = box.take("prices-csv", rates(storage, get), name="list.csv", status=3)
    check("all retrieval fees: " + r.stderr, "all 10 retrieval prices vanish" in r.stderr, True)
    box.take("prices-csv", rates(storage, get, retrieval, ("put", "1k", "0.005")), name="list.csv")


def no_column_may_vanish():
    old = [sky(i) for i in range(12)]
    for column, held in (("SpotPrice", "all 12 spot prices vanish"), ("vCPUs", "no row has its vCPUs any more"),
                         ("MemoryGiB", "no row has its memory any more"),
                         ("AvailabilityZone", "no row has its zone any more"),
                         ("AcceleratorName,AcceleratorCount", "no row has its GPU any more")):
        gone = column.split(",")
        lost = ",".join(c for c in SKY.split(",") if c not in gone)
        if column in ("vCPUs", "MemoryGiB", "AvailabilityZone"): # the reader needs the others
            verdict("without the column " + column, old, old, held, (SKY, lost), "skypilot", ("--vendor", "fluidstack"))
        verdict("an empty column " + column, old, [dict(r, **{c: "" for c in gone}) for r in old], held,
                (SKY, SKY), "skypilot", ("--vendor", "fluidstack"))
        verdict("one row with " + column, old, [dict(r, **({} if i == 5 else {c: "" for c in gone}))
                                                for i, r in enumerate(old)],
                None, (SKY, SKY), "skypilot", ("--vendor", "fluidstack"))
    verdict("a SKU in a list of our own", [row(i) for i in range(12)], [row(i) for i in range(12)],
            "no row has its SKU any more", OWN.replace(",sku", ""))
    few = [row(i, sku="s" if i == 0 else "") for i in range(12)]
    verdict("a field of one row in twelve", few, [row(i, sku="") for i in range(12)])
    for column in ("Price", "SpotPrice", "Region", "InstanceType", "AcceleratorName", "AcceleratorCount"): # needed: the reader says what it misses
        box = Box()
        box.take("skypilot", csv_text(SKY, old), "--vendor", "fluidstack", name="list.csv")
        lost = ",".join(c for c in SKY.split(",") if c != column)
        before = box.offers()
        r = box.take("skypilot", csv_text(lost, old), "--vendor", "fluidstack", name="list.csv", status=4)
        check("a needed column, " + column, ("no column '%s'" % column in r.stderr, box.offers()), (True, before))


main([half_of_the_rows_may_go, half_of_the_prices_may_go, a_factor_of_3_is_not_above_it, one_in_twenty_may_move,
      no_currency_may_change, no_kind_of_price_may_vanish, no_kind_of_storage_fee_may_vanish, no_column_may_vanish])
