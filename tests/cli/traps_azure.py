#!/usr/bin/env python3
"""Traps of Azure's retail prices (../shared/docs/pricing-sources.md section 10, rows 28 to 40, 61, 64, 65,
68, 69) at user level: small pages in Azure's layout, imported."""
import json
from decimal import Decimal

from little import Box, check, main
from makers import azure, azure_page

SIZE = "D2s v5"
TYPE = "Standard_D2s_v5"


def taken(*rows, pages=1, status=0):
    box = Box()
    n = -(-len(rows) // pages) or 1
    texts = [azure_page(rows[i:i + n]) for i in range(0, len(rows), n)] or [azure_page([])]
    r = box.take("azure-retail", texts, status=status)
    return box, r


def priced(box, *fields):
    return [x for x in box.rows(*(fields or ("purchase", "price_per_hour"))) if x[-1] is not None]


def blob(price, tier=0.0, meter="Hot LRS Data Stored", unit="1 GB/Month", **more):
    return azure("x", price, productName="General Block Blob v2", skuName="Hot LRS", meterName=meter, armSkuName="", serviceName="Storage",
                 serviceFamily="Storage", unitOfMeasure=unit, tierMinimumUnits=tier, **more)


def trap_28_the_total_of_a_term():
    box, _ = taken(azure(SIZE, 0.096), azure(SIZE, 525.6, type="Reservation", reservationTerm="1 Year"),
                   azure(SIZE, 1051.2, type="Reservation", reservationTerm="3 Years"))
    check("by the hours of the term", priced(box), [("on_demand", "0.096"), ("reserved_1y", "0.06"), ("reserved_3y", "0.04")])
    check("which is below on demand", [f for f in box.found() if f[0] == "commitment_above_on_demand"], [])


def trap_29_other_systems_and_products():
    others = [azure(SIZE, 0.01 * i, product=p) for i, p in enumerate((" Windows", " Win", " CloudServices", " Cloud Services"), 1)]
    for rows in ([azure(SIZE, 0.096), *others], [*others, azure(SIZE, 0.096)]):
        box, _ = taken(*rows)
        check("Linux alone", priced(box), [("on_demand", "0.096")])


def an_hour_of_a_block_of_hours():
    """F165: the price is for the block that the unit names, savings plans within the row too."""
    plan = [{"term": "1 Year", "retailPrice": 3.0, "unitPrice": 3.0}]
    for unit, price in (("100 Hours", 5.0), ("1 Hour", 0.05), ("10 Hours", 0.5), ("1 /Hour", 0.05)):
        box, _ = taken(azure(SIZE, price, unitOfMeasure=unit))
        check(unit, priced(box), [("on_demand", "0.05")])
    box, _ = taken(azure(SIZE, 5.0, unitOfMeasure="100 Hours", savingsPlan=plan))
    check("its savings plan", priced(box), [("on_demand", "0.05"), ("savings_plan_1y", "0.03")])
    for unit in ("1 Month", "1 Week", "0 Hours", "1 GB", ""):
        box, _ = taken(azure("D4s v5", 1.0), azure(SIZE, 5.0, unitOfMeasure=unit))
        check("not by the hour: %r" % unit, len(priced(box)), 1)
    box, _ = taken(azure(SIZE, 0.1), azure(SIZE, 525.6, type="Reservation", reservationTerm="1 Year", unitOfMeasure="100 Hours"))
    check("a term by a block of hours is nothing known", priced(box), [("on_demand", "0.1")])


def trap_30_classes_of_rows():
    rows = [azure(SIZE, 0.096), azure(SIZE, 0.02, " Spot"), azure(SIZE, 0.03, " Low Priority"), azure(SIZE, 0.05, " Expired"),
            azure(SIZE, 0.07, type="DevTestConsumption")]
    for order in (rows, rows[::-1], rows[2:] + rows[:2]):
        box, _ = taken(*order)
        found = dict(priced(box))
        check("on demand and spot", (found.pop("on_demand"), found.pop("spot")), ("0.096", "0.02"))
        check("the others for themselves or not at all", set(found.items()) <= {("low_priority", "0.03"), ("dev_test", "0.07")})


def trap_67_a_family_that_nobody_knows():
    """Sizes of a new N family are kept with GPUs whose number is open: listed, no CPU machine, not planned with."""
    new, cpu = azure("ND960isr X9 v9", 0.9), azure("D2s v5", 0.096)
    for rows in ([new, cpu], [cpu, new]):
        box, _ = taken(*rows)
        check("kept", box.rows("instance_type", "gpu", "gpu_count", "price_per_hour"),
              [("Standard_D2s_v5", None, None, "0.096"), ("Standard_ND960isr_X9_v9", "ND960isr_X9_v9", None, "0.9")])
        check("found by its GPU", [t for t, in box.rows("instance_type", args=("--gpu", "ND960isr_X9_v9"))], ["Standard_ND960isr_X9_v9"])
        check("no CPU machine", [t for t, in box.rows("instance_type", args=("--gpus", "0"))], ["Standard_D2s_v5"])
        check("nor one with GPUs that count", box.rows("instance_type", args=("--gpus", "1-")), [])
        told = box.json("prices", "check").get("findings", [])
        check("told", [f["kind"] for f in told if "ND960isr" in json.dumps(f) and f["kind"] != "stale_price"], ["unknown_gpu"])
    own = "vendor,region,instance_type,gpu,gpu_count,purchase,price_per_hour,currency\nazure,eastus,%s,H100 SXM,8,on_demand,80,USD\n"
    for first in (True, False):
        box = Box()
        for own_now in (first, not first):
            if own_now:
                box.take("prices-csv", own % "Standard_ND960isr_X9_v9", name="own.csv")
            else:
                box.take("azure-retail", [azure_page([new])], "--accept-large-change")
        check("a counted GPU stays", {(g, n) for g, n in box.rows("gpu", "gpu_count")}, {("H100 SXM", 8)})


def trap_31_one_meter_for_several_sizes():
    box, _ = taken(*[azure(s, 0.1, meterId="one") for s in ("D2s v5", "D2ds v5", "D2as v5")])
    check("each by its size", [t for t, _ in priced(box, "instance_type", "price_per_hour")],
          ["Standard_D2as_v5", "Standard_D2ds_v5", "Standard_D2s_v5"])


def trap_33_rows_at_zero():
    box, _ = taken(azure(SIZE, 0.096), azure("B1s", 0, " - Free"), azure("L96s v2", 0, " Low Priority"), azure("L96s v2", 0))
    check("none is a price", priced(box, "instance_type", "price_per_hour"), [(TYPE, "0.096")])


def trap_34_not_the_primary_region():
    box, _ = taken(azure(SIZE, 0.096, isPrimaryMeterRegion=False), azure("D4s v5", 0.2))
    check("a row that is not primary counts", priced(box, "instance_type", "price_per_hour"), [(TYPE, "0.096"), ("Standard_D4s_v5", "0.2")])
    for flags in ((True, False), (False, True)):
        box, _ = taken(*[azure(SIZE, 0.096 if f else 0.05, isPrimaryMeterRegion=f) for f in flags])
        check("of two the primary one", priced(box), [("on_demand", "0.096")])


def trap_35_no_rows_is_a_failure():
    box, _ = taken(azure(SIZE, 0.096))
    before = box.offers()
    box.take("azure-retail", azure_page([]), status=4)
    check("an empty answer keeps the prices", box.offers(), before)
    for text in ({"Error": {"Code": "BadRequest", "Message": "Invalid OData"}}, {"error": "down"}):
        r = box.run("import", "azure-retail", box.file("list", json.dumps(text)))
        check("an error is one: " + r.stderr, r.returncode, 1 if "Error" in text else 4)
        check("and keeps them too", box.offers(), before)


def trap_36_ends_of_pages():
    for link in (None, "", "absent"):
        page = azure_page([azure(SIZE, 0.096)])
        page["NextPageLink"] = link
        if link == "absent":
            del page["NextPageLink"]
        box = Box()
        box.take("azure-retail", page)
        check("link %r" % (link,), priced(box), [("on_demand", "0.096")])
    box = Box()
    lower = azure_page([azure(SIZE, 0.096)])
    lower["items"] = lower.pop("Items")
    r = box.run("import", "azure-retail", box.file("lower.json", json.dumps(lower)))
    check("'items' is read, and told: " + r.stderr, (priced(box), '"items"' in r.stderr), ([("on_demand", "0.096")], True))


def trap_36_a_page_is_not_the_list():
    """A page with a link to the next one, saved alone under the same name, closes nothing of what the others have."""
    a, b = azure(SIZE, 0.096), azure("D4s v5", 0.2)
    on = json.dumps({"Items": [a], "NextPageLink": "https://prices.azure.com/api/retail/prices?$skip=1000"})
    box = Box()
    r = box.take("azure-retail", on)
    check("alone it is taken, and told", (len(box.offers()), "goes on" in r.stderr), (1, True))
    box = Box()
    r = box.take("azure-retail", [on, azure_page([b])])
    check("both pages are one list", (len(box.offers()), "goes on" in r.stderr), (2, False))
    before = box.rows("instance_type", "price_per_hour")
    r = box.take("azure-retail", [azure_page([b]), on])
    check("in any order", (box.rows("instance_type", "price_per_hour"), "goes on" in r.stderr), (before, False))
    r = box.run("import", "azure-retail", box.file("list", on))
    check("the page alone is held back: " + r.stderr, (r.returncode != 0, "import all of its pages together" in r.stderr), (True, True))
    check("and nothing is closed", box.rows("instance_type", "price_per_hour"), before)
    box.take("azure-retail", on, "--accept-large-change")
    check("unless it is told to", len(box.offers()), 1)


def trap_37_rows_that_come_twice():
    rows = [azure("D%ds v5" % n, n / 10) for n in (2, 4, 8, 16)]
    box, r = taken(rows[0], rows[1], rows[1], rows[2], rows[2], rows[3], pages=2)
    check("each once", [t for t, _ in priced(box, "instance_type", "price_per_hour")],
          sorted("Standard_D%ds_v5" % n for n in (2, 4, 8, 16)))
    check("and counted: " + r.stdout, "told again 2" in r.stdout)


def rates(box, component="storage"):
    return sorted(((Decimal(x["from_qty"] or 0), x["to_qty"] and Decimal(x["to_qty"]), Decimal(x["rate"]), x["unit_qty"])
                   for x in box.json("prices", "storage").get("rates", []) if x["component"] == component), key=lambda x: x[0])


def trap_38_tiers_without_ends():
    tiers = [blob(0.0208, 0.0), blob(0.02, 51200.0), blob(0.0191, 512000.0)]
    for order in (tiers, tiers[::-1], tiers[1:] + tiers[:1]):
        box, _ = taken(azure(SIZE, 0.096), *order)
        check("in order, each up to the next", rates(box), [(0, 51200, Decimal("0.0208"), 1), (51200, 512000, Decimal("0.02"), 1),
                                                            (512000, None, Decimal("0.0191"), 1)])


def trap_39_units_of_many():
    box, _ = taken(azure(SIZE, 0.096), blob(0.05, meter="Hot LRS Write Operations", unit="10K"),
                   blob(0.0208))
    check("by the ten thousand", [(r, q) for _, _, r, q in rates(box, "put")], [(Decimal("0.05"), 10000)])


def trap_40_disks_by_the_step():
    disks = [azure("x", p, productName="Premium SSD Managed Disks", skuName=n + " LRS", meterName=n + " LRS Disk", armSkuName="",
                   serviceName="Storage", serviceFamily="Storage", unitOfMeasure="1/Month") for n, p in (("P10", 19.71), ("P20", 38.02))]
    box, _ = taken(azure(SIZE, 0.096), *disks)
    steps = [x for x in box.json("prices", "storage").get("rates", []) if x["tier"] == "azure_disk_premium"]
    found = sorted((x["unit"].replace("-", "_"), x["rate"], Decimal(x["from_qty"]),
                    Decimal(x["to_qty"])) for x in steps)
    check("a step is priced whole, for the sizes above the one below; never by the GiB",
          found, [("disk_month", "19.71", 64, 128), ("disk_month", "38.02", 256, 512)])


def trap_61_reference_currencies():
    box = Box()
    r = box.run("import", "azure-retail", box.file("list", json.dumps(azure_page([azure(SIZE, 0.096, currencyCode="EUR")]))))
    check("a conversion for reference is refused", (r.returncode, box.rows("currency", "price_per_hour")), (4, []))
    check("by its name", "EUR" in r.stderr)
    box, r = taken(azure(SIZE, 0.096), azure("D4s v5", 0.2, currencyCode="EUR"))
    check("among others it is left out, and told", (priced(box, "instance_type", "currency", "price_per_hour"), "1 rows in EUR" in r.stderr),
          ([(TYPE, "USD", "0.096")], True))


def trap_64_f165_units_with_blanks_and_words():
    for unit in ("1 Hour", "1 Hour ", " 1 Hour"):
        box, _ = taken(azure(SIZE, 0.05, unitOfMeasure=unit), azure("D4s v5", 0.2))
        check(repr(unit), priced(box, "instance_type", "price_per_hour"), [(TYPE, "0.05"), ("Standard_D4s_v5", "0.2")])
    for unit in ("1 Stunde", "1 GB/Month", "Hours", "0 Hours", "1 Fortnight"):
        box, r = taken(azure(SIZE, 0.05, unitOfMeasure=unit), azure("D4s v5", 0.2))
        check("%r is no hour" % unit, priced(box, "instance_type", "price_per_hour"), [("Standard_D4s_v5", "0.2")])
        check("… and is told: " + r.stdout, "left out" in r.stdout + r.stderr)


def trap_65_spellings_of_regions():
    box, r = taken(azure(SIZE, 0.096), azure(SIZE, 0.2, armRegionName="", location="Atlantis Central"))
    check("a region that nobody knows is not mapped", [x for x in box.rows("region", "price_per_hour") if x[0] == "eastus"], [("eastus", "0.096")])
    check("no price of it elsewhere", {x for x, in box.rows("region")} <= {"eastus", "Atlantis Central", "global", "any"}, True)


def trap_68_two_spellings_of_a_sku():
    box, _ = taken(azure(SIZE, 0.096), azure("D4s v5", 0.2, skuName="Standard_D4s_v5"), azure("D4s v5", 0.05, skuName="Standard_D4s_v5 Spot",
                                                                                           meterName="D4s v5 Spot"))
    check("by armSkuName", priced(box, "instance_type", "purchase", "price_per_hour"),
          [(TYPE, "on_demand", "0.096"), ("Standard_D4s_v5", "on_demand", "0.2"), ("Standard_D4s_v5", "spot", "0.05")])


def trap_69_prices_of_the_future():
    later = {"effectiveStartDate": "2027-01-01T00:00:00Z"}
    for rows in ([azure(SIZE, 0.096), azure(SIZE, 0, **later)], [azure(SIZE, 0.5, **later), azure(SIZE, 0.096)]):
        box, _ = taken(*rows)
        check("not before their day", priced(box), [("on_demand", "0.096")])


main([trap_28_the_total_of_a_term, trap_29_other_systems_and_products, trap_30_classes_of_rows, trap_31_one_meter_for_several_sizes,
      an_hour_of_a_block_of_hours, trap_33_rows_at_zero, trap_34_not_the_primary_region, trap_35_no_rows_is_a_failure, trap_36_ends_of_pages,
      trap_36_a_page_is_not_the_list,
      trap_37_rows_that_come_twice, trap_38_tiers_without_ends, trap_39_units_of_many, trap_40_disks_by_the_step,
      trap_61_reference_currencies, trap_64_f165_units_with_blanks_and_words, trap_65_spellings_of_regions, trap_67_a_family_that_nobody_knows,
      trap_68_two_spellings_of_a_sku, trap_69_prices_of_the_future])
