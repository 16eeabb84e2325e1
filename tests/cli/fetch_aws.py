#!/usr/bin/env python3
"""AWS's lists over HTTP as the vendor lays them out: the three partitions give the prices of an
independent table of 2026, in their own currencies; files that come late or not at all; savings
plans of both kinds; FSx; the date of a list beside the time of its fetch. Needs ../shared."""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from decimal import Decimal

GPUTIER = os.environ.get("GPUTIER", "./gputier")
SHARED = os.environ.get("GPUTIER_SHARED", "../shared")
TABLE = os.path.join(SHARED, "samples/aws/on-demand-gpu.karpenter-table.2026-07-20.csv")
WORK = tempfile.mkdtemp(prefix="fetch_aws.")
ROOT = os.path.join(WORK, "root")
NOW = "2026-12-02T10:00:00Z"
failures = []
servers = []


def say(ok, text):
    print(("ok   " if ok else "FAIL ") + text, flush=True)
    if not ok:
        failures.append(text)


def put(path, text):
    path = os.path.join(ROOT, path.lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text if isinstance(text, str) else json.dumps(text))


HEAD = ['"FormatVersion","v1.0"', '"Disclaimer","This pricing list is for informational purposes only."',
        '"Publication Date","2026-07-20T13:44:30Z"', '"Version","20260720134430"']
COLUMNS = ["SKU", "OfferTermCode", "RateCode", "TermType", "EffectiveDate", "StartingRange", "EndingRange",
           "Unit", "PricePerUnit", "Currency", "Product Family", "Region Code", "Instance Type", "Tenancy",
           "Operating System", "License Model", "usageType", "operation", "CapacityStatus",
           "Pre Installed S/W", "MarketOption"]


def offer_csv(code, rows):
    lines = [*HEAD, '"OfferCode","%s"' % code, ",".join('"%s"' % c for c in COLUMNS)]
    lines += [",".join('"%s"' % r.get(c, "") for c in COLUMNS) for r in rows]
    return "\n".join(lines) + "\n"


def machine(sku, region, itype, price, currency="USD", term="JRTCKXETXF"):
    metal = itype.endswith(".metal")
    return {"SKU": sku, "OfferTermCode": term, "RateCode": "%s.%s.6YS6EN2CT7" % (sku, term),
            "TermType": "OnDemand", "EffectiveDate": "2026-07-01", "StartingRange": "0", "EndingRange": "Inf",
            "Unit": "Hrs", "PricePerUnit": price, "Currency": currency,
            "Product Family": "Compute Instance (bare metal)" if metal else "Compute Instance",
            "Region Code": region, "Instance Type": itype, "Tenancy": "Shared", "Operating System": "Linux",
            "License Model": "No License required", "usageType": "BoxUsage:" + itype,
            "operation": "RunInstances", "CapacityStatus": "Used", "Pre Installed S/W": "NA",
            "MarketOption": "OnDemand"}


def table():
    with open(TABLE, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def region_index(code, regions, partition="aws"):
    base = "/offers/v1.0/%s/%s/20260720134430/" % (partition, code)
    return {"regions": {r: {"regionCode": r, "currentVersionUrl": base + r + "/index.json"} for r in regions}}


def lay_out():
    offers = {c: {"offerCode": c, "currentRegionIndexUrl": "/offers/v1.0/aws/%s/current/region_index.json" % c}
              for c in ("AmazonEC2", "AmazonFSx")}
    put("/offers/v1.0/aws/index.json", {"offers": offers})
    rows = table()
    regions = sorted({r["region"] for r in rows})
    glob = [r for r in regions if not r.startswith("cn-")]
    put("/offers/v1.0/aws/AmazonEC2/current/region_index.json",
        region_index("AmazonEC2", glob + ["cn-north-1-pkx-1", "eu-north-1"]))
    put("/offers/v1.0/aws/AmazonFSx/current/region_index.json", region_index("AmazonFSx", ["us-east-1"]))
    put("/offers/v1.0/cn/index.json", {"offers": {"AmazonEC2": {
        "currentRegionIndexUrl": "/offers/v1.0/cn/AmazonEC2/current/region_index.json",
        "currentSavingsPlanIndexUrl": "/savingsPlan/v1.0/cn/AWSComputeSavingsPlan/current/region_index.json"}}})
    put("/offers/v1.0/cn/AmazonEC2/current/region_index.json",
        region_index("AmazonEC2", ["cn-north-1", "aws-cn-other"], "cn"))
    for region in regions:
        part = "cn" if region.startswith("cn-") else "aws"
        term = "99YE2YK9UR" if part == "cn" else "JRTCKXETXF"
        put("/offers/v1.0/%s/AmazonEC2/20260720134430/%s/index.csv" % (part, region), offer_csv("AmazonEC2", [
            machine("SKU%s%05d" % (region.replace("-", "").upper(), i), region, r["instance_type"],
                    r["price_per_hour"], r["currency"], term)
            for i, r in enumerate(rows) if r["region"] == region]))
    put("/offers/v1.0/aws/AmazonFSx/20260720134430/us-east-1/index.json", {
        "offerCode": "AmazonFSx", "publicationDate": "2026-07-19T00:00:00Z",
        "products": {"F": {"sku": "F", "productFamily": "Storage", "attributes": {
            "fileSystemType": "Lustre", "storageType": "SSD", "deploymentOption": "Scratch",
            "usagetype": "USE1-Storage.Lustre", "regionCode": "us-east-1"}}},
        "terms": {"OnDemand": {"F": {"F.T": {"priceDimensions": {"F.T.R": {
            "unit": "GB-Mo", "beginRange": "0", "endRange": "Inf", "pricePerUnit": {"USD": "0.14"}}}}}}}})
    plans()


def plans():
    index = "/savingsPlan/v1.0/%s/AWSComputeSavingsPlan/current/region_index.json"
    for part, region, usage, currency in (("aws", "us-east-1", "USE1-", "USD"), ("cn", "cn-north-1", "CNN1-", "CNY")):
        url = "/savingsPlan/v1.0/%s/AWSComputeSavingsPlan/1/%s/index.json" % (part, region)
        put(index % part, {"regions": [{"regionCode": region, "versionUrl": url}]})
        rows = [("P1", "13.5", "No Upfront", "1", "ComputeSavingsPlans"),
                ("P2", "12.25", "No Upfront", "1", "EC2InstanceSavingsPlans"),
                ("P3", "8", "All Upfront", "3", "EC2InstanceSavingsPlans")]
        text = ["FormatVersion,v1.0", "Disclaimer,Prices, taxes, terms", "Publication Date,2026-09-11T18:44:47Z",
                "Version,1", "OfferCode,AmazonComputeSavingsPlan",
                "SKU,RateCode,Unit,EffectiveDate,DiscountedRate,Currency,DiscountedSKU,DiscountedServiceCode,"
                "DiscountedUsageType,DiscountedOperation,PurchaseOption,LeaseContractLength,"
                "LeaseContractLengthUnit,Product Family,DiscountedRegionCode,DiscountedInstanceType"]
        text += ["%s,%s.A,Hrs,2026-06-01T00:00:00Z,%s,%s,AB12,AmazonEC2,%sBoxUsage:p4d.24xlarge,RunInstances,%s,%s,"
                 "year,%s,%s,p4d.24xlarge" % (p, p, price, currency, usage, option, years, family, region)
                 for p, price, option, years, family in rows]
        put(url.replace(".json", ".csv"), "\n".join(text) + "\n")


class Server:
    def __init__(self, *faults):
        self.port_file = os.path.join(WORK, "port%d" % len(servers))
        self.log = self.port_file + ".log"
        args = [sys.executable, os.path.join(SHARED, "tools/fake_vendor_server.py"), "--root", ROOT,
                "--port-file", self.port_file, "--max-seconds", "200", "--log", self.log]
        for f in faults:
            args += ["--fault", f]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        servers.append(self.process)
        for _ in range(600):
            if os.path.exists(self.port_file):
                break
            time.sleep(0.05)
        with open(self.port_file, encoding="ascii") as f:
            self.base = "http://127.0.0.1:" + f.read()

    def paths(self):
        with open(self.log, encoding="utf-8") as f:
            return [json.loads(line)["path"] for line in f]


def run(db, *args, server=None, now=NOW):
    env = dict(os.environ, HOME=WORK, GPUTIER_NOW=now)
    for k in ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        env.pop(k, None)
    if server:
        env["GPUTIER_URL_AWS_OFFER"] = env["GPUTIER_URL_AWS_SAVINGS_PLAN"] = server.base
    r = subprocess.run([GPUTIER, "--db", os.path.join(WORK, db), *args], env=env, timeout=100,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                       check=False)
    return r.returncode, r.stdout, r.stderr


def rows(db, source, purchase="on_demand"):
    con = sqlite3.connect("file:%s?mode=ro" % os.path.join(WORK, db), uri=True)
    found = con.execute("SELECT vendor, region, instance_type, price_per_hour, currency, offering_class, upfront, "
                        "as_of, valid_from FROM price WHERE source = ? AND bundled = 0 AND purchase = ?",
                        (source, purchase)).fetchall()
    con.close()
    return found


def states(db):
    rc, out, err = run(db, "sources", "--format", "json")
    assert rc == 0, err
    return {(s["source_id"], s["scope"]): s for s in json.loads(out)["sources"] if s["origin"] != "bundled"}


TWO = ["--region", "aws/us-east-1", "--region", "aws/us-gov-west-1"]
OTHERS = ["--region", "us-gov-east-1", "--region", "aws-cn/cn-north-1"]  # above 1 GB in all would be asked about


def trap_13_partitions():
    server = Server()
    for regions in (TWO, OTHERS):
        rc, _, err = run("a.db", "fetch", "aws-offer", *regions, server=server)
        say(rc == 0, "global, GovCloud and China: %s" % err.strip()[-200:])
    want = {("aws-cn" if r["region"].startswith("cn-") else "aws", r["region"], r["instance_type"],
             Decimal(r["price_per_hour"]), r["currency"]) for r in table()}
    got = {(v, r, t, Decimal(p), c) for v, r, t, p, c, *_ in rows("a.db", "aws-offer")}
    say(got == want and len(want) == 181, "all %d prices are the table's, yuan as yuan" % len(want))
    say(any("/v1.0/cn/index.json" in p for p in server.paths()), "China's index was asked")
    rc, out, _ = run("a.db", "prices", "--vendor", "aws-cn", "--region", "aws-cn/cn-north-1", "--purchase",
                     "on_demand", "--format", "json")
    say(rc == 0 and "aws-cn" in out and "aws-offer" in out, "prices shows China's under its own vendor")
    run("all.db", "fetch", "aws-offer", "--all-regions", "--tries", "1", server=server)
    say(not any("pkx" in p or "cn-other" in p for p in server.paths()), "regions that are none are not asked for")
    con = sqlite3.connect(os.path.join(WORK, "a.db"))
    lustre = con.execute("SELECT rate FROM storage_rate WHERE tier = 'fsx_lustre_scratch' AND sku = 'F'").fetchall()
    con.close()
    say(lustre == [("0.14",)], "FSx for Lustre came with the walk: %s" % lustre)


def trap_62_66_dates():
    """The list's own date, the fetch, and the price's own beginning are three things."""
    s = states("a.db")[("aws-offer", "us-east-1/AmazonEC2")]
    say(s["as_of"].startswith("2026-07-20") and s["fetched_at"].startswith("2026-12-02"),
        "sources shows publication %s and fetch %s" % (s["as_of"], s["fetched_at"]))
    found = {(r[7], r[8]) for r in rows("a.db", "aws-offer") if r[1] == "us-east-1"}
    say(found == {("2026-07-20 13:44:30", "2026-07-01 00:00:00")},
        "rows: true on the day of the publication, valid from the vendor's date: %s" % found)
    rc, out, _ = run("a.db", "prices", "--vendor", "aws", "--region", "aws/us-east-1", "--purchase", "on_demand",
                     "--format", "json")
    offers = [o for o in json.loads(out)["offers"] if o["source_id"] == "aws-offer"]
    say(rc == 0 and offers and all(o["as_of"].startswith("2026-07-20") and o["fetched_at"].startswith("2026-12-02")
                                   for o in offers), "prices carries both")
    rc, out, _ = run("a.db", "sources")
    line = [x for x in out.splitlines() if "us-east-1/AmazonEC2" in x]
    say(len(line) == 1 and "2026-07-20" in line[0] and "2026-12-02" in line[0], "and the table shows both: %s" % line)


def trap_14_file_comes_late():
    before = sorted(rows("a.db", "aws-offer"))
    csv_url = "*AmazonEC2/20260720134430/us-east-1/index.csv"
    server = Server(csv_url + " 404")
    rc, _, err = run("a.db", "fetch", "aws-offer", *TWO, "--tries", "2", server=server, now="2026-12-03T10:00:00Z")
    say(rc == 1 and "404" in err, "an index that names a file which is not there: %s" % err.strip()[-160:])
    say(sorted(rows("a.db", "aws-offer")) == before, "the old rows stay")
    asked = [p for p in server.paths() if "us-east-1/index" in p and "EC2" in p]
    say(len(asked) > 2, "it was asked for again: %d times" % len(asked))
    s = states("a.db")
    say(s[("aws-offer", "us-east-1/AmazonEC2")]["state"] == "failed" and
        s[("aws-offer", "us-gov-west-1/AmazonEC2")]["state"] == "fresh", "the other parts are fresh")
    server = Server(csv_url + " 404 1")
    rc, _, err = run("late.db", "fetch", "aws-offer", "--region", "us-east-1", server=server)
    say(rc == 0 and len(rows("late.db", "aws-offer")) == 93, "one that comes later is taken: %s" % err.strip()[-160:])


def f149_region_down():
    server = Server("*us-gov-west-1/index* 500")
    rc, _, err = run("down.db", "fetch", "aws-offer", *TWO, "--tries", "1", server=server)
    got = {r[1] for r in rows("down.db", "aws-offer")}
    say(rc == 1 and got == {"us-east-1"} and "us-gov-west-1" in err,
        "a region that is down stops no other: %s" % sorted(got))


def savings_plans():
    server = Server()
    rc, _, err = run("a.db", "fetch", "aws-savings-plan", "--region", "aws/us-east-1", "--region",
                     "aws-cn/cn-north-1", server=server)
    say(rc == 0, "savings plans of two partitions: %s" % err.strip()[-200:])
    got = {(r[0], r[1], r[3], r[4], r[5]) for r in rows("a.db", "aws-savings-plan", "savings_plan_1y")}
    say(got == {("aws", "us-east-1", "13.5", "USD", "convertible"), ("aws", "us-east-1", "12.25", "USD", "standard"),
                ("aws-cn", "cn-north-1", "13.5", "CNY", "convertible"),
                ("aws-cn", "cn-north-1", "12.25", "CNY", "standard")},
        "both kinds of plan stand beside each other: %s" % sorted(got))
    three = [r for r in rows("a.db", "aws-savings-plan", "savings_plan_3y") if r[1] == "us-east-1"]
    say([(r[3], r[6]) for r in three] == [("0", "210240")], "all upfront: 8 an hour for 26,280 h: %s" % three)
    _, out, _ = run("a.db", "prices", "--region", "aws/us-east-1", "--gpu", "A100", "--purchase", "savings_plan_3y",
                    "--format", "json")
    mine = [o for o in json.loads(out)["offers"] if o["source_id"] == "aws-savings-plan"]
    say([(o["price_per_hour"], o["offering_class"], o["gpu_count"]) for o in mine] == [("8", "standard", 8)],
        "an hour of the term: %s" % [o["price_per_hour"] for o in mine])


def f003_duplicate_sku():
    one = machine("DUPLICATE0000001", "us-east-1", "g5.xlarge", "1.006")
    two = machine("DUPLICATE0000002", "us-east-1", "g5.2xlarge", "1.212")
    path = os.path.join(WORK, "twice.csv")
    with open(path, "w", encoding="utf-8") as f:
        f.write(offer_csv("AmazonEC2", [one, two, one]))
    for i in range(2):
        rc, out, err = run("dup.db", "import", "auto", path, "--format", "json")
        doc = json.loads(out)["imports"][0] if rc == 0 else {}
        say(rc == 0 and doc["repeated"] == 1 and doc["rows"] == 2 and doc["added"] == 2 * (i == 0),
            "import %d of a list with one SKU twice: %s %s" % (i + 1, doc, err))
    say(len(rows("dup.db", "aws-offer")) == 2, "one current row for each")


def main():
    if not os.path.exists(TABLE):
        print("SKIPPED: %s is missing; the AWS lists were not fetched" % TABLE)
        sys.exit(77)
    try:
        lay_out()
        trap_13_partitions()
        trap_62_66_dates()
        trap_14_file_comes_late()
        f149_region_down()
        savings_plans()
        f003_duplicate_sku()
    finally:
        for s in servers:
            s.kill()
        subprocess.run(["rm", "-rf", WORK], check=False)
    if failures:
        print("%d failed:" % len(failures))
        print("\n".join(failures))
        sys.exit(1)


main()
