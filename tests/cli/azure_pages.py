#!/usr/bin/env python3
"""Generated pages of Azure's retail prices: machine prices and storage rates are the generator's answer to
the last digit, in any order of the pages; fetched page by page past a broken page, a busy server and one that
asks to wait they are the same rows; an answer that stays broken changes none. Needs ../shared (skips loudly)."""
import csv
import json
import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from decimal import Decimal

import vendor
from vendor import GPUTIER, TOOLS, WORK, Server, say

vendor.need_tools("Azure's generated pages")
OUT = os.path.join(WORK, "az")
subprocess.run([sys.executable, os.path.join(TOOLS, "gen_azure_retail.py"), "--items", "5000", "--page", "1000", "--out", OUT],
               check=True, stdout=subprocess.DEVNULL)
PAGES = sorted(os.path.join(OUT, f) for f in os.listdir(OUT) if f.startswith("page-"))
os.mkdir(os.path.join(WORK, "none"))

# the meter's name, as the pages write it: tier and component of the product's table
METERS = {"Archive LRS Data Retrieval": ("archive", "retrieval", 1), "Archive LRS Data Stored": ("archive", "storage", 1),
          "Archive LRS Read Operations": ("archive", "get", 10000), "Cold LRS Data Stored": ("cold", "storage", 1),
          "Cool LRS Data Retrieval": ("cool", "retrieval", 1), "Cool LRS Data Stored": ("cool", "storage", 1),
          "Cool LRS Early Delete": ("cool", "early_delete", 1), "Cool LRS Write Operations": ("cool", "put", 10000),
          "Hot LRS Data Stored": ("hot", "storage", 1), "Hot LRS Write Operations": ("hot", "put", 10000)}


def gputier(db, *args, **more):
    env = dict(os.environ, GPUTIER_DB=os.path.join(WORK, db), GPUTIER_DATA=os.path.join(WORK, "none"),
               GPUTIER_NOW="2026-12-02T10:00:00Z", **more)
    return subprocess.run([GPUTIER, *args], env=env, capture_output=True, text=True, timeout=200, check=False)


def rows(db, region=None):
    where = "p.region = '%s' AND " % region if region else ""
    with sqlite3.connect(os.path.join(WORK, db)) as c:
        return (sorted(c.execute("SELECT p.region, t.name, q.name, o.price FROM offer o JOIN place p ON p.id = o.place JOIN instance_type t "
                                 "ON t.id = o.instance_type JOIN purchase_option q ON q.id = o.purchase WHERE " + where +
                                 "o.known_to IS NULL AND o.price_state = 0")),
                sorted(c.execute("SELECT p.region, s.tier, s.component, s.unit_qty, s.from_qty, s.to_qty, s.rate FROM storage_rate s "
                                 "JOIN place p ON p.id = s.place WHERE " + where + "s.known_to IS NULL"),
                       key=lambda r: (r[:3], Decimal(r[4]))))


def answer(name):
    with open(os.path.join(OUT, name), newline="", encoding="ascii") as f:
        return list(csv.DictReader(f))


def the_generators_answer():
    shuffled = PAGES[:]
    random.Random(3).shuffle(shuffled)
    for db, pages in (("a.db", PAGES), ("b.db", shuffled)):
        r = gputier(db, "import", "azure-retail", *pages)
        say(r.returncode == 0, "%s: imported: %s" % (db, r.stderr))
    offers, rates = rows("a.db")
    say((offers, rates) == rows("b.db"), "the same rows in any order of the pages")
    found = {k[:3]: Decimal(k[3]) for k in offers if k[1].startswith("Standard_N") and k[2] in ("on_demand", "spot")}
    wanted = {(r["region"], r["arm_sku"], kind): Decimal(r[kind]) for r in answer("expected-vm.csv") for kind in ("on_demand", "spot") if r[kind]}
    say(len(wanted) > 150 and found == wanted, "%d prices of machines with GPUs, %d expected" % (len(found), len(wanted)))
    # every row of the answer is there with its steps; nothing is there that the answer has not, but disks
    # and what a move to a tier costs, which is its write (R-AZ-04)
    steps = {}
    for region, tier, component, per, lower, upper, rate in rates:
        steps.setdefault((region, tier, component, per), []).append((lower, upper, Decimal(rate)))
    seen = set()
    for r in answer("expected-storage.csv"):
        tier, component, per = METERS[r["meter"]]
        key = (r["region"], "azure_blob_%s_lrs" % tier, component, per)
        seen.add(key)
        got = steps.get(key, [(None, None, None)])
        ends = [x[1] for x in got[:-1]] == [x[0] for x in got[1:]] and got[0][0] == "0" and got[-1][1] is None
        if not ends or got[0][2] != Decimal(r["price"]):
            say(False, "%s: %s, expected %s" % (key, got, r))
        if component == "put" and steps.get((*key[:2], "transition", per)) != got:
            say(False, "%s: a move costs a write" % (key,))
    more = Counter(k[1:3] for k in set(steps) - seen)
    say(len(seen) >= 250 and {(t, c) for t, c in more if t.startswith("azure_blob")} ==
        {("azure_blob_hot_lrs", "transition"), ("azure_blob_cool_lrs", "transition")}, "%d storage rates, beside them %s" % (len(seen), dict(more)))
    # disks by the pages themselves
    sizes = {"E30": ("standard_ssd", "512", "1024"), "P10": ("premium", "64", "128"), "P30": ("premium", "512", "1024"),
             "P50": ("premium", "2048", "4096"), "S30": ("standard_hdd", "512", "1024")}
    wanted = set()
    for page in PAGES:
        with open(page, encoding="utf-8") as f:
            for i in json.load(f)["Items"]:
                if i["productName"].endswith("Managed Disks"):
                    tier, lower, upper = sizes[i["skuName"].split()[0]]
                    wanted.add((i["armRegionName"], "azure_disk_" + tier, "storage", 1, lower, upper, Decimal(str(i["retailPrice"]))))
    found = {(*r[:6], Decimal(r[6])) for r in rates if r[1].startswith("azure_disk")}
    say(len(wanted) == 150 and found == wanted, "%d prices of disks, each for its step" % len(found))


def fetched(server, db, region="eastus", *more):
    return gputier(db, "fetch", "azure-retail", "--region", "azure/" + region, *more,
                   GPUTIER_URL_AZURE_RETAIL="http://127.0.0.1:%d/api/retail/prices" % server.port)


def page_by_page_past_faults():
    wanted = rows("a.db", "eastus")
    for name, faults in (("none", ()), ("a page broken off once", ("*skip=2000* trunc:50% 1",)), ("reset in a page", ("*skip=1000* resetbody:20000 1",)),
                         ("busy", ("*skip=3000* 429:1 1",)), ("down for a while", ("*retail* 503:0 1-2",)),
                         ("chunked and cut", ("*skip=2000* truncchunk:9000 1",)), ("no length", ("*skip=* nolen",)), ("no ranges", ("*retail* norange",
                                                                                                                                "*skip=1000* trunc:50% 1"))):
        server = Server(*faults, extra=("--azure", OUT))
        db = "f-%s.db" % name.replace(" ", "-")
        r = fetched(server, db)
        found = rows(db, "eastus")
        say(r.returncode == 0 and found[0] and found == wanted, "fault: %s: %d and %d rows: %s" % (name, *map(len, found), r.stderr[-300:]))
        say(rows(db) == found, "of the region alone")
        server.process.kill()


def what_stays_broken_changes_nothing():
    server = Server(extra=("--azure", OUT))
    fetched(server, "k.db")
    before = rows("k.db")
    server.process.kill()
    for fault, status in {"trunc:50%": 1, "404": 1, "html": 4, "badgzip": 4, "emptybody": 4, "garbage": 1}.items():
        server = Server("*skip=2000* " + fault, extra=("--azure", OUT))
        r = fetched(server, "k.db", "eastus", "--max-time", "6s")
        say(r.returncode == status and "azure-retail" in r.stderr and rows("k.db") == before, "%s: exit %d: %s" % (fault, r.returncode, r.stderr.strip()[-200:]))
        server.process.kill()


vendor.main([the_generators_answer, page_by_page_past_faults, what_stays_broken_changes_nothing])
