#!/usr/bin/env python3
"""Faults that other programs had with prices (../shared/oracles/known-faults.md, "Prices"), each by its
number: which row is the price, what is none, what may rank first."""
import itertools
import json
import os
from decimal import Decimal

from little import Box, check, main
from makers import aws, aws_offer, azure, azure_page, gcp_sku, own, own_list, sky, csv_text, SKY

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")


def plan(box, *args, status=0):
    r = box.run("plan", "--format", "json", *args)
    check("plan %s: status" % (args,), r.returncode, status)
    return json.loads(r.stdout)["plans"] if r.returncode in (0, 3) and r.stdout else []


def notes(p, word):
    return [n for n in p["notes"] if word in n]


def f001_wrong_field():
    # a marketplace's answer: the floor of bids, the price and what interruptible costs
    offer = {"id": 7, "gpu_name": "B200", "num_gpus": 1, "gpu_ram": 183359, "gpu_total_ram": 183359, "cpu_cores": 24,
             "cpu_cores_effective": 24, "cpu_ram": 131072, "disk_space": 100, "min_bid": 0.01, "dph_base": 3.45,
             "dph_total": 3.5, "storage_cost": 0.1, "geolocation": "France, FR", "rentable": True, "verification": "verified"}
    box = Box()
    box.take("vast", {"offers": [offer]})
    rows = box.rows("purchase", "price_per_hour")
    check("the floor is no price on demand", [r for r in rows if r[0] == "on_demand"], [("on_demand", "3.45")])
    # Lambda's cents
    cents = {"data": {"gpu_1x_b200": {"instance_type": {
        "name": "gpu_1x_b200", "description": "1x B200 (180 GB SXM6)", "gpu_description": "B200 (180 GB SXM6)",
        "price_cents_per_hour": 345, "specs": {"vcpus": 26, "memory_gib": 200, "storage_gib": 1400, "gpus": 1}},
        "regions_with_capacity_available": [{"name": "us-east-1", "description": "x"}]}}}
    box = Box()
    box.take("lambda", cents)
    check("345 cents", box.rows("purchase", "price_per_hour"), [("on_demand", "3.45")])
    # stored, flagged, and never first without a word
    box = Box(data=DATA)
    box.take("prices-csv", own_list([
        own("floor", "0.01", gpu="B200", region="a"), own("right", "3.45", gpu="B200", region="b"),
        own("just", "0.05", gpu="B200", region="c"), own("eight", "0.39", gpu="B200", gpu_count=8, region="d"),
        own("desk", "0.04", gpu="RTX 3060", region="e"), own("spot", "0.04", gpu="K80", region="f", purchase="spot")]))
    low = {"floor", "eight"}
    mine = ("--vendor", "oci")
    check("flagged, and those alone", {t for k, t in box.found(*mine) if k == "gpu_at_cpu_price"}, low)
    rows = {o["instance_type"]: o for o in box.offers(*mine, "--region", "oci/a") + box.offers(*mine, "--gpu", "B200")}
    check("stored", rows["floor"]["price_per_hour"], "0.01")
    check("marked in JSON", {t for t, o in rows.items() if "WARNING" in (o["note"] or "")}, low)
    r = box.run("prices", "--gpu", "B200", *mine)
    check("said beside the table", "WARNING: 2 of these offers cost less than 0.05 USD a GPU-hour" in r.stderr)
    r = box.run("prices", "--gpu", "B200", *mine, "--region", "oci/b", "--region", "oci/c")
    check("not where nothing is wrong", "WARNING" in r.stderr, False)
    first = plan(box, "--gpu", "B200", "--gpus", "1", "--gpu-hours", "10", *mine, "--purchase", "on_demand")[0]
    check("first with a warning", (first["instance_type"], bool(notes(first, "WARNING: less than 0.05"))), ("floor", True))
    other = plan(box, "--gpu", "B200", "--gpus", "1", "--gpu-hours", "10", "--region", "oci/b")[0]
    check("the right one without", notes(other, "WARNING"), [])


def f003_the_same_row_twice():
    row = sky("t", 2)
    box = Box()
    r = box.take("skypilot", csv_text(SKY, [row, row, sky("u", 3)]), "--vendor", "fluidstack")
    check("a counter", "1 repeated" in r.stdout and "2 rows" in r.stdout, True)
    r = box.take("skypilot", csv_text(SKY, [row, row, row, sky("u", 3)]), "--vendor", "fluidstack")
    check("again", "2 as before; 2 repeated" in r.stdout, True)
    check("one current row each", box.rows("instance_type", "price_per_hour"), [("t", "2"), ("u", "3")])


def f005_rank_by_what_is_asked():
    box = Box()
    box.take("prices-csv", own_list(own("t", p, region=r, purchase=k) for r, k, p in (
        ("a", "on_demand", "2.9"), ("a", "spot", "1.04"), ("b", "on_demand", "3.1"), ("b", "spot", "0.81"))))
    for purchase, first in (("spot", ["b", "a"]), ("on_demand", ["a", "b"])):
        check(purchase, [o["region"] for o in box.offers("--purchase", purchase)], first)
    box = Box(data=DATA)
    box.take("prices-csv", own_list(own("t", p, region=r, purchase=k, gpu="A100-80GB") for r, k, p in (
        ("a", "on_demand", "2.9"), ("a", "spot", "1.04"), ("b", "on_demand", "3.1"), ("b", "spot", "0.81"))))
    need = ("--gpu", "A100-80GB", "--gpus", "1", "--gpu-hours", "10", "--region", "oci/a", "--region", "oci/b")
    check("a plan on spot", plan(box, *need, "--purchase", "spot")[0]["region"], "b")
    check("a plan on demand", plan(box, *need, "--purchase", "on_demand")[0]["region"], "a")


def f015_spot_is_spot_however_it_is_written():
    box = Box(data=DATA)
    box.take("prices-csv", own_list([own("t", "3", gpu="A100-80GB", purchase="On-Demand"),
                                     own("t", "0.75", gpu="A100-80GB", purchase="SPOT")]))
    check("in a list", box.rows("purchase", "price_per_hour", args=("--region", "oci/r")), [("on_demand", "3"), ("spot", "0.75")])
    for word in ("spot", "SPOT", "Spot"):
        check("--purchase " + word, box.rows("price_per_hour", args=("--region", "oci/r", "--purchase", word)), [("0.75",)])
        p = plan(box, "--gpu", "A100-80GB", "--gpus", "1", "--gpu-hours", "10", "--region", "oci/r", "--purchase", word)[0]
        check("plan " + word, (p["purchase"]["option"], Decimal(p["provenance"][0]["rate"])), ("spot", Decimal("0.75")))
        check("its discount", notes(p, "75 % below on demand (3.0000)") != [], True)
    scenario = box.file("s.yaml", "schema: gputier/scenario/1\nworkload: {kind: training, gpu_hours: 10}\n"
                        "gpus: {allow: [A100-80GB], count: 1}\nplaces: {allow: [oci/r]}\npurchase: [SPOT]\n")
    r = box.run("scenario", "validate", scenario)
    if r.returncode == 0:
        check("in a scenario", plan(box, scenario)[0]["purchase"]["option"], "spot")
    else:
        check("in a scenario", "SPOT" in r.stderr, False)


def f045_an_own_price_counts_whole():
    box = Box(data=DATA)
    key = ("--instance", "p4d.24xlarge", "--region", "aws/us-east-1", "--purchase", "on_demand")
    bundled = box.offers(*key)[0]["price_per_hour"]
    box.take("prices-csv", own_list([own("p4d.24xlarge", "5", vendor="aws", region="us-east-1", gpu="A100-40GB",
                                         gpu_count=8, vcpus=96, memory_gib=1152),
                                     own("node", "", vendor="oci", purchase="monthly", price_month="730")]))
    o = box.offers(*key)
    check("the own price is the one used, of the node", [(x["price_per_hour"], x["source_id"]) for x in o], [("5", "prices-csv")])
    check("and another than the bundled one", bundled != "5" and bundled in o[0]["note"], True)
    check("730 a month are 1 an hour", box.rows("price_per_hour", "purchase", args=("--region", "oci/r")), [("1", "monthly")])
    # parts of simple figures add up to the hour: 12 x 1/16 + 85 x 1/32 + 2
    box = Box()
    box.take("gcp-skus", {"skus": [gcp_sku("A2 Instance Core running in Iowa", "0.0625"),
                                   gcp_sku("A2 Instance Ram running in Iowa", "0.03125"),
                                   gcp_sku("Nvidia Tesla A100 GPU running in Iowa", "2")]})
    rows = dict(box.rows("instance_type", "price_per_hour"))
    check("the sum of the parts", Decimal(rows["a2-highgpu-1g"]), Decimal("5.40625"))
    check("of eight", Decimal(rows["a2-highgpu-8g"]), Decimal("5.40625") * 8)


def f079_commitments_look_like_on_demand():
    plain = [gcp_sku("A2 Instance Core running in Americas", "0.03"), gcp_sku("A2 Instance Ram running in Americas", "0.004"),
             gcp_sku("Nvidia Tesla A100 GPU running in Americas", "2.9")]
    others = [gcp_sku("Commitment v1: A2 Cpu in Americas for 1 Year", "0.01", "OnDemand"), # as marked, by mistake
              gcp_sku("Commitment v1: A2 Ram in Americas for 1 Year", "0.001", "Commit1Yr"),
              gcp_sku("Commitment v1: Nvidia Tesla A100 GPU running in Americas for 1 Year", "1.9", "Commit1Yr"),
              gcp_sku("A2 Custom Instance Core running in Americas", "0.05"),
              gcp_sku("A2 Custom Instance Ram running in Americas", "0.006"),
              gcp_sku("A2 Sole Tenancy Instance Core running in Americas", "0.06"),
              gcp_sku("Sole Tenancy Premium for A2 Sole Tenancy Instance Core running in Americas", "0.001"),
              gcp_sku("Reserved Nvidia Tesla A100 GPU in Americas", "0"),
              gcp_sku("Spot Preemptible A2 Instance Core running in Americas", "0.009", "Preemptible"),
              gcp_sku("Spot Preemptible A2 Instance Ram running in Americas", "0.001", "Preemptible"),
              gcp_sku("Nvidia Tesla A100 GPU attached to Spot Preemptible VMs running in Americas", "0.9")]
    wanted = [("committed_use_1y", "2.105"), ("on_demand", "3.6"), ("spot", "1.093")]
    for name, order in (("after", plain + others), ("before", others + plain), ("backwards", (plain + others)[::-1])):
        box = Box()
        box.take("gcp-skus", {"skus": order})
        check(name, box.rows("purchase", "price_per_hour", args=("--instance", "a2-highgpu-1g")), wanted)


def allowance(product, vendor="gcp"):
    import csv
    with open(os.path.join(DATA, "snapshot", "allowances.csv"), encoding="utf-8", newline="") as f:
        return [(r["rule"], r["value"], r["unit"]) for r in csv.DictReader(f) if (r["vendor"], r["product"]) == (vendor, product)]


def f081_terms_are_not_swapped():
    flex = {("1 year" if "1 year" in rule else "3 years"): (v, u) for rule, v, u in allowance("flexible-committed-use")}
    check("flexible commitments", flex, {"1 year": ("28", "%"), "3 years": ("46", "%")})
    check("preemptible ends after a day", [(v, u) for rule, v, u in allowance("preemptible-vm") if rule.startswith("maximum run")],
          [("24", "h")])
    check("spot does not", [v for rule, v, _ in allowance("spot-vm") if rule.startswith("maximum run")], ["none"])


def f087_no_price_is_not_zero():
    box = Box(data=DATA)
    box.take("prices-csv", own_list([own("t", "27", vendor="jarvislabs", gpu="H100", gpu_count=8)]))
    need = ("--gpu", "H100", "--gpus", "8", "--gpu-hours", "80", "--region", "jarvislabs/r", "--data", "100GB")
    p = plan(box, *need)[0]
    check("the total is at least", (p["cost"]["at_least"], notes(p, '"at least"') != []), (True, True))
    r = box.run("plan", *need)
    check("and looks so", (r.returncode, ">= " in r.stdout), (0, True))
    r = box.run("plan", "--strict", *need)
    check("--strict", (r.returncode, "at least" in r.stderr), (3, True))
    r = box.run("plan", "--strict", *need[:-2])
    check("with every part priced", (r.returncode, ">= " in r.stdout), (0, False))


def f107_one_price_for_all_counts():
    box = Box()
    box.take("prices-csv", own_list([own("t%d" % n, "0.79", gpu_count=n) for n in (1, 2, 4, 8)] +
                                    [own("u%d" % n, str(Decimal("0.79") * n), gpu="L4", gpu_count=n) for n in (1, 2, 4, 8)]))
    found = {t for k, t in box.found() if k == "price_not_scaling_with_count"}
    check("flagged", found, {"t2", "t4", "t8"})
    per = {o["instance_type"]: Decimal(o["price_per_gpu_hour"]) for o in box.offers("--per", "gpu-hour")}
    check("per GPU is node by count", per, {"t1": Decimal("0.79"), "t2": Decimal("0.395"), "t4": Decimal("0.1975"),
                                            "t8": Decimal("0.09875"), **{"u%d" % n: Decimal("0.79") for n in (1, 2, 4, 8)}})


def f115_f117_discount_for_sustained_use():
    box = Box(data=DATA)
    for gpu, hours, pct in (("T4", 40, None), ("T4", 180, None), ("T4", 730, "30 %"), ("T4", 360, "10 %"), ("L4", 730, None),
                            ("A100-40GB", 730, None), ("H100", 730, None)):
        for p in plan(box, "--gpu", gpu, "--gpus", "1", "--gpu-hours", str(hours), "--vendor", "gcp", "--purchase", "on_demand",
                      "--set", "workload.setup=0min")[:3]:
            told = notes(p, "sustained use")
            check("%s for %d h on %s" % (gpu, hours, p["instance_type"]), bool(told) and (pct or "") in told[0], pct is not None)
            line = p["cost"]["components"]["compute_on_demand"]
            rate = [x for x in p["provenance"] if x["used_for"].startswith("compute")] or p["provenance"]
            makespan = Decimal(str(p["time"]["makespan_s"]["mean"])) / 3600
            check("… hours x rate, nothing taken off unseen", abs(Decimal(line) - Decimal(rate[0]["rate"]) * makespan) <
                  Decimal("0.01") * Decimal(line), True)
    # a month's figure unfolds to hours x rate
    for per, hours in (("month", 730), ("720h", 720), ("744h", 744), ("8784h", 8784)):
        shown = box.run("prices", "--instance", "n1-standard-8*", "--purchase", "on_demand", "--limit", "3", "--per", per)
        rate = [Decimal(o["price_per_hour"]) for o in box.offers("--instance", "n1-standard-8*", "--purchase", "on_demand",
                                                                 "--limit", "3", "--per", per)]
        figures = [Decimal(line.split()[-4].replace(",", "")) for line in shown.stdout.splitlines()[1:]]
        check(per, figures, [(r * hours).quantize(Decimal("0.01")) for r in rate])


def pays(name, offers, one, three):
    by = {}
    for o in offers:
        if o["price_per_hour"]:
            rows = by.setdefault((o["region"], o["instance_type"]), {})
            rows[o["purchase"]] = min(rows.get(o["purchase"], Decimal("Infinity")), Decimal(o["price_per_hour"]))
    both = [r for r in by.values() if {"on_demand", one, three} <= set(r)]
    check(name + ": machines with all three", len(both) > 0, True)
    # hours of use in a year above which the term pays: between none and all of them
    even = [r[one] / r["on_demand"] * 8760 for r in both]
    check(name + ": pays somewhere", all(0 < h <= 8760 for h in even) and all(r[three] <= r["on_demand"] for r in both), True)


def f119_commitments_stand_beside():
    box = Box(data=DATA)
    for vendor, kind in (("aws", "reserved_%dy"), ("gcp", "committed_use_%dy"), ("aws-cn", "savings_plan_%dy")):
        one, three = kind % 1, kind % 3
        pays(vendor, box.offers("--vendor", vendor, "--purchase", "on_demand,%s,%s" % (one, three)), one, three)
    box = Box()
    size = "D2s v5"
    box.take("azure-retail", azure_page([
        azure(size, 0.096, savingsPlan=[{"unitPrice": 0.04, "retailPrice": 0.04, "term": "3 Years"},
                                        {"unitPrice": 0.06, "retailPrice": 0.06, "term": "1 Year"}]),
        azure(size, 525.6, type="Reservation", reservationTerm="1 Year"),
        azure(size, 1051.2, type="Reservation", reservationTerm="3 Years")]))
    check("of Azure", box.rows("purchase", "price_per_hour"),
          [("on_demand", "0.096"), ("reserved_1y", "0.06"), ("reserved_3y", "0.04"), ("savings_plan_1y", "0.06"),
           ("savings_plan_3y", "0.04")])
    pays("azure", box.offers(), "reserved_1y", "reserved_3y")


def f035_low_priority_is_not_on_demand():
    size = "D2s v5"
    rows = [azure(size, 0.0907), azure(size, 0.1827, product=" Windows"), azure(size, 0.0227, " Spot"),
            azure(size, 0.0456, " Spot", " Windows"), azure(size, 0.0181, " Low Priority"), azure(size, 0.073, " Low Priority", " Windows")]
    for order in itertools.islice(itertools.permutations(rows), 0, 720, 53):
        box = Box()
        box.take("azure-retail", azure_page(order))
        found = dict(box.rows("purchase", "price_per_hour"))
        check("on demand and spot in any order", (found.pop("on_demand"), found.pop("spot")), ("0.0907", "0.0227"))
        check("low priority for itself", found, {"low_priority": "0.0181"})


def f037_meters_that_are_no_price():
    size = "D2s v5"
    for tier in (0.0, "0.0", 0, "0"):
        box = Box()
        r = box.take("azure-retail", azure_page([
            azure("D4s v5", 0, tierMinimumUnits=tier), azure(size, 0.0907, tierMinimumUnits=tier),
            azure(size, 0.05, product=" Cloud Services", tierMinimumUnits=tier), azure(size, 0.06, product=" CloudServices"),
            azure("D8s v5", 0.3, tierMinimumUnits=tier, effectiveStartDate="2027-06-01T00:00:00Z")]))
        check("tier %r: %s" % (tier, r.stderr), [x for x in box.rows("instance_type", "price_per_hour") if x[1]],
              [("Standard_D2s_v5", "0.0907")])
        check("none at zero", [o for o in box.offers() if o["price_per_hour"] == "0"], [])


def f147_prices_as_people_write_them():
    cases = {"$4.096": "4.096", "-": None, "": None, "POA": None, "1,234.50": "1234.5", "$1,234,567.00": "1234567", "n/a": None,
             "US$2": "2", "$ 2.5": "2.5", "—": None, "on request": None}
    box = Box()
    box.take("prices-csv", own_list([own("t%d" % i, text) for i, text in enumerate(cases)]))
    found = dict(box.rows("instance_type", "price_per_hour"))
    for i, (text, wanted) in enumerate(cases.items()):
        check(repr(text), found["t%d" % i], wanted)
    check("a price that is missing is none", {o["price_state"] for o in box.offers() if o["price_per_hour"] is None}, {"none"})
    for text, currency in (("€4", "USD"), ("$4", "EUR"), ("1,234", "USD"), ("1.234,50", "USD"), ("12,34.5", "USD"), (",5", "USD"),
                           ("1,2345.5", "USD"), ("4 or 5", "USD"), ("-4", "USD"), ("$", "USD"), ("$$4", "USD"), ("4.096.1", "USD"),
                           ("0", "USD"), ("nan", "USD"), ("£" * 30, "GBP"), ("1" * 80, "USD"), ("1," * 40 + "111.0", "USD")):
        box = Box()
        r = box.take("prices-csv", own_list([own("a", "1"), own("t", text, currency=currency)]), status=4)
        check("%r in %s names its line" % (text[:20], currency), ":3: price_per_hour" in r.stderr and box.offers() == [], True)
        alone = text.count(",") == 1 and "." not in text
        check("%r says how to write it" % text[:20], "thousands or a decimal; expected it as 1234, 1,234.00 or 1.234" in r.stderr, alone)
    for text, currency in (("€4", "EUR"), ("£4", "GBP"), ("¥4", "CNY"), ("¥4", "JPY"), ("$4", "AUD")):
        box = Box()
        box.take("prices-csv", own_list([own("t", text, currency=currency)]))
        check("%s in %s" % (text, currency), box.rows("price_per_hour", "currency"), [("4", currency)])


def columns_nobody_knows():
    """A column passed over may say what the price is for; of two prices one is wrong."""
    head, row = "vendor,region,instance_type,purchase,currency,price_per_hour", "aws,us-east-1,m,on_demand,USD,14600"
    for more, value, said in ((",unit", ",per month", "'unit' is not known"), (",as_of", ",2026-11-01", "'as_of' is not known"),
                              (",price_per_hour", ",99", "'price_per_hour' stands twice, fields 6 and 7"), (",", ",", None)):
        box = Box()
        r = box.take("prices-csv", "%s%s\n%s%s\n" % (head, more, row, value), status=4 if said else 0)
        check("column %r" % more, [o["price_per_hour"] for o in box.offers()], [] if said else ["14600"])
        check("column %r is named" % more, not said or (":1: column " + said in r.stderr), True)
    box = Box()
    box.take("prices-csv", head + "\n" + row + "\n")
    box.take("prices-csv", box.run("prices", "--format", "csv").stdout, status=4)
    check("what prices wrote is no list of prices of today", [o["price_per_hour"] for o in box.offers()], ["14600"])


def term(itype, sku, code, years, option, hourly=None, upfront=None):
    common = {"TermType": "Reserved", "OfferTermCode": code, "LeaseContractLength": "%dyr" % years, "PurchaseOption": option,
              "OfferingClass": "standard", "EffectiveDate": "2026-01-01"}
    out = []
    if hourly is not None:
        out.append(aws(itype, hourly, vcpus=2, memory="8 GiB", sku=sku, **common, RateCode="%s.%s.6YS6EN2CT7" % (sku, code)))
    if upfront is not None:
        out.append(aws(itype, upfront, vcpus=2, memory="8 GiB", sku=sku, **dict(common, Unit="Quantity", PriceDescription="Upfront Fee"),
                       RateCode="%s.%s.2TG2D8R56U" % (sku, code)))
    return out


def f017_f185_upfront_and_hourly_parts():
    rows = [aws("m5.large", "0.096", vcpus=2, memory="8 GiB", sku="M5")]
    rows += term("m5.large", "M5", "A1", 1, "All Upfront", "0", "494") + term("m5.large", "M5", "P1", 1, "Partial Upfront", "0.029", "252")
    rows += term("m5.large", "M5", "N1", 1, "No Upfront", "0.06") + term("m5.large", "M5", "A3", 3, "All Upfront", "0", "949")
    rows += term("m5.large", "M5", "P3", 3, "Partial Upfront", "0.019", "505")
    wanted = {("on_demand", None): "0.09600", ("reserved_1y", "all"): "0.05639", ("reserved_1y", "partial"): "0.05777",
              ("reserved_1y", "none"): "0.06000", ("reserved_3y", "all"): "0.03611", ("reserved_3y", "partial"): "0.03822"}
    for order in (rows, rows[::-1], rows[5:] + rows[:5]):
        box = Box()
        box.take("aws-offer", aws_offer(order))
        check("hours and up-front parts", {(o["purchase"], o["payment"]): str(Decimal(o["price_per_hour"]).quantize(Decimal("1e-5")))
                                           for o in box.offers()}, wanted)
    # "reserved instance applied": on demand at 0
    box = Box()
    box.take("aws-offer", aws_offer(rows[:1] + [aws("m5.large", "0.0000000000", vcpus=2, memory="8 GiB", sku="M5",
                                                    RateCode="M5.JRTCKXETXF.XXXXXXXXXX",
                                                    PriceDescription="USD 0.0 per Reservation Linux m5.large Instance Hour")]))
    check("never on demand for nothing", box.rows("purchase", "price_per_hour"), [("on_demand", "0.096")])


def f009_f011_f013_f109_keys_and_places():
    windows = [aws("g4dn.xlarge", "0.71", sku="W1", **{"Operating System": "Windows"}),
               aws("g4dn.xlarge", "0.526", sku="W2", **{"Operating System": "Windows", "License Model": "Bring your own license"}),
               aws("g4dn.xlarge", "0.526", "1", sku="L"), aws("g4dn.xlarge", "0.6", sku="R", **{"Operating System": "RHEL"}),
               aws("g4dn.xlarge", "0", sku="C", CapacityStatus="AllocatedCapacityReservation"),
               aws("p5e.48xlarge", "0", "8", sku="B", MarketOption="CapacityBlock", operation="RunInstances:CB")]
    for order in itertools.islice(itertools.permutations(windows), 0, 720, 97):
        box = Box()
        box.take("aws-offer", aws_offer(order))
        check("Linux's price in any order", box.rows("instance_type", "price_per_hour", args=("--instance", "g4dn.xlarge")),
              [("g4dn.xlarge", "0.526")])
        block = box.offers("--instance", "p5e.48xlarge")
        check("capacity blocks have no hourly price", [(o["price_state"], o["price_per_hour"]) for o in block],
              [("sold_otherwise", None)])
    spain = {"Location": "Europe (Spain)", "Region Code": "eu-south-2", "usageType": "EUS2-BoxUsage:m7i.large"}
    milan = {"Location": "Europe (Milan)", "Region Code": "eu-south-1", "usageType": "EUS1-BoxUsage:m7i.large"}
    ohio = {"Location": "US East (Ohio)", "Region Code": "us-east-2", "usageType": "USE2-BoxUsage:g9.new"}
    rows = [aws("m7i.large", "0.11", **spain), aws("m7i.large", "0.12", **milan), aws("g9.new", "9", **ohio)]
    without = [dict(r, **{"Region Code": ""}) for r in rows]
    for name, given in (("codes", rows), ("names alone", without)):
        box = Box()
        box.take("aws-offer", aws_offer(given))
        check(name, box.rows("region", "instance_type", "price_per_hour"),
              [("eu-south-1", "m7i.large", "0.12"), ("eu-south-2", "m7i.large", "0.11"), ("us-east-2", "g9.new", "9")])
    box = Box()
    r = box.take("aws-offer", aws_offer(rows + [aws("m7i.large", "7", **{"Location": "Europe (Atlantis)", "Region Code": ""})]))
    check("a place that nobody knows is told, not mapped", ("Atlantis" in r.stdout + r.stderr, [x for x in box.rows(
        "region", "price_per_hour") if x[1] == "7" and x[0] in ("eu-south-1", "eu-south-2", "us-east-1")]), (True, []))


main([f001_wrong_field, f003_the_same_row_twice, f005_rank_by_what_is_asked, f009_f011_f013_f109_keys_and_places,
      f015_spot_is_spot_however_it_is_written, f035_low_priority_is_not_on_demand,
      f037_meters_that_are_no_price, f017_f185_upfront_and_hourly_parts, f045_an_own_price_counts_whole,
      f079_commitments_look_like_on_demand, f081_terms_are_not_swapped, f087_no_price_is_not_zero, f107_one_price_for_all_counts,
      f115_f117_discount_for_sustained_use, f119_commitments_stand_beside, f147_prices_as_people_write_them,
      columns_nobody_knows])
