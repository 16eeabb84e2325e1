#!/usr/bin/env python3
"""Each rule of `prices check` at its border on small lists: what must be found, with which rows, and what
must not. (prices_check.py spoils the shipped table and compares with a second implementation.)"""
import os
from decimal import Decimal

from little import Box, check, csv_text, main
from makers import own, own_list

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")


def findings(rows, kind, *args, data=None, more=()):
    """{instance types of each finding's rows} of one rule; the finding's first row is the one at fault."""
    box = Box(data=data)
    box.take("prices-csv", own_list(rows))
    for name, text in more:
        box.take(name, text, name="other.csv")
    doc = box.json("prices", "check", "--limit", "1000", "--vendor", "oci", *args)
    out = {}
    for f in doc["findings"]:
        if f["kind"] == kind:
            first = f["rows"][0]
            out[first["instance_type"], first["region"], first["purchase"]] = [
                (r["instance_type"], r["region"], r["purchase"], r["price_per_hour"]) for r in f["rows"]]
            check(kind + ": rows with source and date", all(r["source_id"] and r["as_of"] for r in f["rows"]) and
                  doc["errors" if "errors" in doc else "schema"] is not None)
    return out


def at(rows):
    return sorted({k[0] for k in rows})


def commitment_above_on_demand():
    od = own("t", "1")
    year = Decimal(8760)

    def run(price, purchase="reserved_1y", upfront="", full=od, **more):
        return findings([full, own("t", price, purchase=purchase, upfront=upfront, **more)], "commitment_above_on_demand")
    for kind in ("reserved_1y", "reserved_3y", "savings_plan_1y", "savings_plan_3y", "committed_use_1y", "committed_use_3y"):
        check(kind + " above", list(run("1.000001", kind).values()), [[("t", "r", kind, "1.000001"), ("t", "r", "on_demand", "1")]])
        check(kind + " at it", run("1", kind), {})
        check(kind + " below", run("0.4", kind), {})
    check("up-front parts count", at(run("0.5", upfront=str(year / 2 + 1))), ["t"])
    check("… to the hour", run("0.5", upfront=str(year / 2)), {})
    check("three years of them", run("0.5", "reserved_3y", upfront=str(year)), {})
    check("a package of 730 hours", at(findings([od, own("t", "", purchase="monthly", price_month="731")], "commitment_above_on_demand")), ["t"])
    check("… at 730", findings([od, own("t", "", purchase="monthly", price_month="730")], "commitment_above_on_demand"), {})
    check("another machine's price is no measure", run("2", full=own("u", "1")), {})
    check("another region's neither", run("2", full=own("t", "1", region="s")), {})
    check("no price on demand", run("2", full=own("t", "")), {})
    check("spot is no commitment", findings([od, own("t", "2", purchase="spot")], "commitment_above_on_demand"), {})


def spot_above_on_demand():
    def run(price, **more):
        rows = [own("t", "0.3"), own("t", price, purchase="spot", **more)]
        return findings(rows, "spot_above_on_demand"), findings(rows, "spot_equals_on_demand")
    above, equal = run("0.300001")
    check("above, with both rows", (list(above.values()), equal),
          ([[("t", "r", "spot", "0.300001"), ("t", "r", "on_demand", "0.3")]], {}))
    above, equal = run("0.3")
    check("equal is another finding", (above, at(equal)), ({}, ["t"]))
    check("below is none", run("0.299999"), ({}, {}))
    check("elsewhere is none", run("9", region="s"), ({}, {}))
    check("other currencies are compared by their rate", at(findings(
        [own("t", "1"), own("t", "6", purchase="spot", currency="CNY"), own("u", "1"), own("u", "9", purchase="spot", currency="CNY")],
        "spot_above_on_demand", data=DATA)), ["u"])


def price_scales_with_the_count():
    def run(*prices, **more):
        rows = [own("t%d" % n, p, gpu_count=n, **more) for n, p in prices]
        return at(findings(rows, "price_not_scaling_with_count"))
    check("one price for all", run((1, "0.79"), (2, "0.79"), (4, "0.79"), (8, "0.79")), ["t2", "t4", "t8"])
    check("linear", run((1, "0.79"), (2, "1.58"), (4, "3.16"), (8, "6.32")), [])
    check("a fifth more for twice as many", run((1, "0.1"), (2, "0.12")), [])
    check("a little less", run((1, "0.1"), (2, "0.1199")), ["t2"])
    check("4 times a GPU-hour", run((1, "0.3"), (8, "9.6")), [])
    check("more", run((1, "0.3"), (8, "9.61")), ["t8"])
    check("the price of eight for one GPU's", run((1, "3"), (8, "192")), ["t8"])
    check("three is not twice two", run((2, "1"), (3, "1.05")), [])
    check("other models apart", at(findings([own("a", "1"), own("b", "1", gpu="L4", gpu_count=8)], "price_not_scaling_with_count")), [])
    check("other regions apart", at(findings([own("a", "1"), own("b", "1", gpu_count=8, region="s")], "price_not_scaling_with_count")), [])
    check("spot markets apart", run((1, "1"), (8, "1"), purchase="spot"), [])
    check("a machine with more CPUs may cost more", at(findings([own("big", "3", vcpus=96), own("two", "3.1", gpu_count=2, vcpus=24)],
                                                                "price_not_scaling_with_count")), [])
    check("slices are no counts", at(findings([own("s", "0.5", gpu_count="1/2"), own("t", "0.5")], "price_not_scaling_with_count")), [])


def no_gpu_at_a_cpu_price():
    cpu = own("cpu", "0.4", gpu="", gpu_count="")

    def run(*rows):
        return at(findings(list(rows), "gpu_at_cpu_price"))
    check("as dear as its CPUs", run(cpu, own("t", "0.4")), ["t"])
    check("dearer", run(cpu, own("t", "0.41")), [])
    check("its CPUs elsewhere", run(dict(cpu, region="s"), own("t", "0.4")), [])
    check("a much larger CPU machine is no measure", run(dict(cpu, vcpus=13, memory_gib=104), own("t", "0.4")), [])
    check("nor one of other memory", run(dict(cpu, memory_gib=200), own("t", "0.4")), [])
    check("spot apart", run(cpu, own("t", "0.1", purchase="spot")), [])
    check("a slice apart", run(cpu, own("t", "0.1", gpu_count="1/6")), [])
    for n, low, edge in ((1, "0.0499", "0.05"), (7, "0.349", "0.35"), (8, "0.3999", "0.4")):
        check("the floor, %d GPUs" % n, (run(own("t", low, gpu_count=n)), run(own("t", edge, gpu_count=n))), (["t"], []))
    check("desk cards are let for less", run(own("t", "0.03", gpu="RTX 3060"), own("u", "0.02", gpu="GTX 1080")), [])
    check("those of data centres are not", run(own("t", "0.03", gpu="RTX PRO 6000"), own("u", "0.02", gpu="T4")), ["t", "u"])


def zero_is_not_none():
    box = Box()
    r = box.take("prices-csv", own_list([own("t", "0")]), status=4)
    check("a list with a zero is refused", "nothing is free" in r.stderr)
    box.take("prices-csv", own_list([own("t", "0", purchase="reserved_1y", upfront="876", payment="all"), own("t", ""), own("u", "0.000001")]))
    rows = {(o["instance_type"], o["purchase"]): (o["price_state"], o["price_per_hour"]) for o in box.offers()}
    check("no hourly part beside an up-front one is a price, empty is none, little is little", rows,
          {("t", "reserved_1y"): ("known", "0.1"), ("t", "on_demand"): ("none", None), ("u", "on_demand"): ("known", "0.000001")})
    check("and none of them a zero", [f["kind"] for f in box.json("prices", "check")["findings"] if f["kind"] == "zero_price"], [])
    check("none passes no price filter", [o["instance_type"] for o in box.offers("--max-price", "9", "--purchase", "on_demand")], ["u"])


def impossible_memory():
    rows, wrong = [], []

    def put(bad, **more):
        rows.append(own("t%d" % len(rows), "9", **more))
        if bad:
            wrong.append(rows[-1]["instance_type"])
    for gpu, fits, does_not in (("A100-80GB SXM4", (80, 79.6, 73.6, 86.4), (40, 640, 73.5, 86.5)),
                                ("L4", (24, 22.35, 22.08), (16, 22, 192)), ("T4", (16, 15), (14, 64))):
        for m in fits + does_not:
            put(m in does_not, gpu=gpu, gpu_memory_gib=m)
    for m in (4, 24): # of a sixth
        put(m == 24, gpu="A10", gpu_count="1/6", gpu_memory_gib=m)
    for vcpus, ram, bad in ((7, 1.4, False), (7, 1.39, True), (8, 512, False), (8, 513, True), (96, 1152, False), (1152, 96, True),
                            ("", 64, False), (8, "", False)):
        put(bad, vcpus=vcpus, memory_gib=ram)
    put(False, gpu="Rubin Ultra", gpu_memory_gib=3) # a model that nobody knows is not judged
    check("memory of GPUs and machines", at(findings(rows, "impossible_memory", data=DATA)), sorted(wrong))


def outliers_among_regions():
    def run(prices, purchase="on_demand"):
        rows = [own("t", p, region="r%d" % i, purchase=purchase) for i, p in enumerate(prices)]
        return sorted(k[1] for k in findings(rows, "price_outlier"))
    check("three times", run(["0.3", "0.3", "0.3", "0.9"]), [])
    check("above three times", run(["0.3", "0.3", "0.3", "0.9001"]), ["r3"])
    check("a third", run(["0.9", "0.9", "0.9", "0.3"]), [])
    check("below a third", run(["0.9", "0.9", "0.9", "0.2999"]), ["r3"])
    check("three regions have no median", run(["1", "1", "9"]), [])
    check("spot moves more", run(["1", "1", "1", "9.9"], "spot"), [])
    check("but not so much", run(["1", "1", "1", "10.1"], "spot"), ["r3"])
    check("other types and ways to buy apart", findings([own("t", "1", region="r%d" % i) for i in range(4)] + [
        own("u", "9", region="r1"), own("t", "0.1", region="r2", purchase="spot")], "price_outlier"), {})
    rows = findings([own("t", p, region="r%d" % i) for i, p in enumerate(["1", "2", "2", "2", "9"])], "price_outlier")
    check("with the row of the median", list(rows.values()), [[("t", "r4", "on_demand", "9"), ("t", rows and [
        r[1] for v in rows.values() for r in v][1], "on_demand", "2")]])


def exit_statuses():
    box = Box(data=DATA)
    box.take("prices-csv", own_list([own("t", "1", region="a"), own("t", "2", region="b", purchase="spot"), own("t", "1", region="b"),
                                     own("u", "9", region="c", gpu="A100-80GB SXM4", gpu_memory_gib=40)]))
    check("a warning is no failure", box.run("prices", "check", "--region", "oci/b").returncode, 0)
    check("an error is", box.run("prices", "check", "--region", "oci/c").returncode, 3)
    check("nothing found", box.run("prices", "check", "--region", "oci/a").returncode, 0)


main([commitment_above_on_demand, spot_above_on_demand, price_scales_with_the_count, no_gpu_at_a_cpu_price, zero_is_not_none,
      impossible_memory, outliers_among_regions, exit_statuses])
