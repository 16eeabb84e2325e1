#!/usr/bin/env python3
"""Faults that other programs had when they read files (../shared/oracles/known-faults.md), each by its
number, at user level. Skips loudly without ../shared."""
import itertools
import json
import os
import re
import sqlite3

from vendor import SHARED, WORK, environment, main, need_tools, run, say

SAMPLES = os.path.join(SHARED, "samples")
HEAD = "vendor,region,instance_type,price_per_hour,currency,purchase\n"


def env():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    return environment(GPUTIER_DATA=os.path.join(WORK, "empty"), GPUTIER_NOW="2026-12-02T10:00:00Z")


def gputier(db, *args):
    return run(os.path.join(WORK, db), *args, env=env())


def file(name, text):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    return path


def sample(path):
    return os.path.join(SAMPLES, path)


def counts(db):
    """Rows of each price table."""
    with sqlite3.connect(os.path.join(WORK, db)) as s:
        return [s.execute("SELECT count(*) FROM " + t).fetchone()[0] for t in ("price", "storage_rate", "transfer_rate", "fx", "interruption")]


def inventory(rows_one, rows_two):
    file("inv/data/one.csv", rows_one)
    file("inv/data/two.csv", rows_two)
    return file("inv/manifest.json", json.dumps({
        "fileFormat": "CSV", "fileSchema": "Bucket, Key, Size, LastModifiedDate, StorageClass",
        "files": [{"key": "data/one.csv"}, {"key": "data/two.csv"}]}))


def row(key, size):
    return '"b","%s",%s,"2025-01-02T00:00:00.000Z","STANDARD"\n' % (key, size)


def f131_inventory_keys():
    manifest = inventory(row("trip+data/a%2Cb", 1), row("trip%20data/%2B/c", 2))
    out = os.path.join(WORK, "h.csv")
    rc, _, err = gputier("x.db", "inventory", "aggregate", manifest, "--depth", "2", "-o", out)
    with open(out, encoding="utf-8") as f:
        prefixes = sorted(line.split(",")[0] for line in f if line.startswith("trip"))
    say(rc == 0 and prefixes == ["trip data/", "trip data/+/"],
        "f131: + is a space, prefixes are grouped after decoding: %s %s" % (prefixes, err))


def f133_which_file():
    good = file("good.csv", HEAD + "aws,us-east-1,p4d.24xlarge,1.5,USD,on_demand\n")
    bad = file("bad.csv", HEAD + "aws,us-east-1,p4d.24xlarge,1.5,USD,on_demand\n"
               "aws,us-east-1,p5.48xlarge,1x5%s,USD,on_demand\n" % ("9" * 300))
    rc, _, err = gputier("x.db", "import", "prices-csv", good, bad)
    say(rc == 4 and bad + ":3" in err and "price_per_hour" in err and "1x5999" in err
        and "9" * 200 not in err, "f133: file, line, column and the value, shortened: %s" % err[-300:])
    manifest = inventory(row("a", 1), row("b", 2) + row("c", "12z4"))
    rc, _, err = gputier("x.db", "inventory", "aggregate", manifest, "--max-bad", "0")
    say(rc == 4 and "data/two.csv:2" in err and "column 3 (Size)" in err and "12z4" in err,
        "f133: in an inventory of many files too: %s" % err[-200:])


def f163_size_int32():
    sizes = [2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 + 1]
    manifest = inventory(row("p/a", sizes[0]) + row("p/b", sizes[1]),
                         row("p/c", sizes[2]) + row("p/d", sizes[3]))
    out = os.path.join(WORK, "h.csv")
    rc, _, _ = gputier("x.db", "inventory", "aggregate", manifest, "--depth", "1", "-o", out)
    with open(out, encoding="utf-8") as f:
        lines = f.read().strip().split("\n")
    names = lines[0].split(",")
    total = sum(int(x.split(",")[names.index("bytes")]) for x in lines[1:])
    say(rc == 0 and total == sum(sizes), "f163: 2^31, 2^32 and 2^53+1 bytes add up exactly: %d" % total)
    rc, text, _ = gputier("x.db", "inventory", "aggregate", out, "--format", "json")
    say(str(sum(sizes)) in text, "f163: and come back from the histogram: %s" % text[-200:])


def content(db):
    """All that is known, without the numbers that rows happen to have."""
    con = sqlite3.connect("file:%s?mode=ro" % os.path.join(WORK, db), uri=True)
    out = []
    for sql in (
            "SELECT vendor, name, gpu, gpu_num, gpu_den, gpu_memory_gib, vcpus, memory_gib,"
            " local_nvme_gb, network_gbps FROM instance_type",
            "SELECT s.name, f.scope, p.vendor, p.region, p.zone, t.name, o.purchase, o.payment, o.price,"
            " o.upfront, o.price_month, o.currency, o.sku, o.valid_from, o.valid_to, o.as_of, o.known_to"
            " FROM offer o JOIN feed f ON f.id = o.feed JOIN source s ON s.id = f.source JOIN place p"
            " ON p.id = o.place JOIN instance_type t ON t.id = o.instance_type",
            "SELECT s.name, f.scope, p.vendor, p.region, r.tier, r.component, r.from_qty, r.to_qty, r.rate,"
            " r.currency, r.known_to FROM storage_rate r JOIN feed f ON f.id = r.feed JOIN source s"
            " ON s.id = f.source JOIN place p ON p.id = r.place"):
        out.append(sorted(map(repr, con.execute(sql))))
    con.close()
    return out


def f171_load_order():
    lists = [("lambda", sample("lambda/instance-types.json")),
             ("skypilot", sample("skypilot-layout/lambda-vms.csv")),
             ("auto", sample("gpuhunt-layout/lambdalabs.v2-layout.csv"))]
    seen = []
    for n, order in enumerate(itertools.permutations(lists)):
        db = "order%d.db" % n
        for kind, path in order:
            rc, _, err = gputier(db, "import", kind, path, "--vendor", "lambda")
            if rc != 0:
                say(False, "f171: import %s: %s" % (path, err[-200:]))
        _, shown, _ = gputier(db, "prices", "--format", "json")
        seen.append((content(db), shown))
    differ = [i for i, s in enumerate(seen) if s != seen[0]]
    what = ""
    if differ:
        a, b = seen[0][0], seen[differ[0]][0]
        what = str([sorted(set(x) ^ set(y))[:4] for x, y in zip(a, b)])[:1500]
    say(not differ, "f171: the same content whatever is loaded first: %s %s" % (differ, what))
    say(len(seen[0][0][1]) > 20, "f171: and much of it: %d offers" % len(seen[0][0][1]))


def f181_region_column():
    with open(sample("aws/AmazonEC2.us-east-1.gpu.constructed.csv"), encoding="utf-8") as f:
        text = f.read()
    head = next(x for x in text.split("\n") if x.startswith('"SKU"'))
    say('"Region Code"' in head, "the sample names the region by its code")
    moved = file("named.csv", text)
    renamed = file("renamed.csv", text.replace('"Region Code"', '"product_region_code"'))
    for db, path in (("named.db", moved), ("renamed.db", renamed)):
        rc, _, err = gputier(db, "import", "aws-offer", path)
        say(rc == 0, "f181: %s: %s" % (os.path.basename(path), err[-200:]))
    found = []
    for db in ("named.db", "renamed.db"):
        _, out, _ = gputier(db, "prices", "--region", "us-east-1", "--format", "json")
        found.append(json.loads(out)["offers"])
    say(found[0] == found[1] and len(found[0]) > 3,
        "f181: a list without the column has the same regions, by their location's name: %d"
        % len(found[0]))
    rc, _, err = gputier("x.db", "import", "aws-offer",
                         sample("aws/AmazonS3.eu-west-1.2018-04-04.fixture.csv"))
    rc2, out, _ = gputier("x.db", "prices", "storage", "--vendor", "aws", "--format", "json")
    regions = set(re.findall(r'"region": "([^"]*)"', out))
    say(rc == 0 and rc2 == 0 and "eu-west-1" in regions, "f181: lists of 2018 too: %s %s"
        % (regions, err[-100:]))
    own = file("own.csv", (HEAD + "aws,us-east-1,p4d.24xlarge,1.5,USD,on_demand\n").replace(
        "region", "RegionId"))
    rc, _, err = gputier("x.db", "import", "prices-csv", own)
    say(rc == 4 and "'region'" in err, "f181: an own list's other name is asked for, not guessed: %s"
        % err[-150:])


def marks_before_text():
    """What Windows saves: UTF-8 behind a mark is the same list, UTF-16 and archives are named."""
    lists = {"azure": ["azure/retail-prices.page1.json", "azure/retail-prices.page2.json"], "aws": ["aws/ec2-offer-us-east-2.reserved-and-ebs.json"],
             "ecb": ["fx/eurofxref-daily.2026-07-09.excerpt.xml"], "lambda": ["lambda/instance-types.json"],
             "s3": ["aws/s3-offer.us-east-1.constructed.json"], "advisor": ["aws/spot-advisor-data.trimmed.json"],
             "csv": ["aws/AmazonEC2_eu-west-3.ebs.csv"]}
    for name, paths in lists.items():
        found = []
        for mark in (b"", b"\xef\xbb\xbf"):
            files = []
            for i, p in enumerate(paths):
                with open(sample(p), "rb") as f:
                    files.append(os.path.join(WORK, "mark%d" % i, os.path.basename(p)))
                    text = mark + f.read()
                os.makedirs(os.path.dirname(files[-1]), exist_ok=True)
                with open(files[-1], "wb") as f:
                    f.write(text)
            db = "m-%s-%d.db" % (name, len(mark))
            rc, _, err = gputier(db, "import", "auto", *files)
            found.append((rc, counts(db)))
        say(found[0] == found[1] and found[0][0] == 0 and sum(found[0][1]) > 0,
            "%s behind a mark: %s %s" % (name, found, err[-200:]))
    own = HEAD + "aws,us-east-1,p4d.24xlarge,1.5,USD,on_demand\n"
    for data, word in ((own.encode("utf-16"), "UTF-16"), (own.encode("utf-16-be"), None),
                       (b"\xfe\xff" + own.encode("utf-16-be"), "UTF-16"), (b"PK\x03\x04" + os.urandom(200), "zip"),
                       (b"\xef\xbb\xbf", None), (b"\xef\xbb", None)):
        path = os.path.join(WORK, "form.csv")
        with open(path, "wb") as f:
            f.write(data)
        for kind in ("auto", "prices-csv", "azure-retail"):
            rc, _, err = gputier("form.db", "import", kind, path)
            say(rc == 4 and path in err and (not word or word in err), "%r as %s: %s" % (data[:4], kind, err[-150:]))


need_tools("the faults of reading files")
main([f131_inventory_keys, f133_which_file, f163_size_int32, f171_load_order, f181_region_column,
      marks_before_text])
