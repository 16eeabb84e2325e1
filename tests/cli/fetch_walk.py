#!/usr/bin/env python3
"""fetch, sources and db as people run them, against loopback servers with faults: the whole AWS
walk over a generated offer gives the generator's own answer; every fault leaves the database as it
was; Ctrl-C and kill -9 half way too. Needs ../shared (skips loudly without it)."""
import csv
import json
import os
import signal
import sqlite3
import subprocess
import time
from decimal import Decimal

import json_schema
from vendor import (GPUTIER, WORK, Server, environment, generate, lay_out_aws, main, need_tools,
                    prices, run, say, sound)


def lay_out():
    """Index, region index and files as AWS has them, around one generated EC2 offer."""
    out = generate()
    text = {}
    for end in ("csv", "json"):
        with open(out + "." + end, encoding="utf-8") as f:
            text[end] = f.read()
    lay_out_aws(text)
    return out


def source_states(db):
    rc, out, _ = run(db, "sources", "--format", "json")
    doc = json.loads(out)
    assert rc == 0
    faults = json_schema.validate(doc, json_schema.load("sources"))
    say(not faults, "sources keeps its schema: %s" % faults[:3])
    return {(s["source_id"], s["scope"], s["origin"]): s for s in doc["sources"]}


def fetched_prices(db, region):
    con = sqlite3.connect("file:%s?mode=ro" % db, uri=True)
    rows = con.execute(
        "SELECT t.name, p.region, o.price FROM offer o JOIN feed f ON f.id = o.feed "
        "JOIN instance_type t ON t.id = o.instance_type JOIN place p ON p.id = o.place "
        "JOIN purchase_option u ON u.id = o.purchase JOIN source s ON s.id = f.source "
        "WHERE s.name = 'aws-offer' AND f.bundled = 0 AND u.name = 'on_demand' "
        "AND o.known_to IS NULL AND p.region = ?", (region,)).fetchall()
    con.close()
    return {(n, r, Decimal(x)) for n, r, x in rows}


def whole_walk(out, db):
    server = Server()
    rc, stdout, stderr = run(db, "fetch", "aws-offer", "--region", "us-east-1", "--format", "json",
                             server=server)
    say(rc == 0, "whole walk ends with 0 (%s)" % stderr.strip()[-300:])
    doc = json.loads(stdout) if rc == 0 else {"parts": []}
    errors = json_schema.validate(doc, json_schema.load("fetch"))
    say(not errors, "fetch keeps its schema: %s" % errors[:3])
    say(any(p["scope"] == "us-east-1/AmazonEC2" and p["state"] == "done" for p in doc["parts"]),
        "the part is named in the JSON")
    with open(out + ".expected-all.csv", encoding="utf-8") as f:
        want = {(r["instance_type"], r["region"], Decimal(r["price_per_hour"]))
                for r in csv.DictReader(f) if r["region"] == "us-east-1"}
    got = fetched_prices(db, "us-east-1")
    say(got == want and len(want) > 0, "prices are the generator's (%d of %d, %d too many)"
        % (len(got & want), len(want), len(got - want)))
    asked = [r for r in server.requests() if "us-east-1/index" in r["path"]]
    say([r["path"].endswith(".csv") for r in asked] == [True], "one file is taken, as CSV")
    s = source_states(db).get(("aws-offer", "us-east-1/AmazonEC2", "fetched"))
    say(s is not None and s["state"] in ("fresh", "stale") and s["rows"] > 0 and s["bytes"] > 0,
        "sources shows it: %s" % s)
    before = prices(db)
    rc, _, stderr = run(db, "fetch", "aws-offer", "--region", "us-east-1", server=server)
    say(rc == 0 and "unchanged" in stderr, "a second fetch is a 304: %s" % stderr.strip()[-200:])
    say(server.requests()[-1]["status"] == 304 and prices(db) == before, "and changes nothing")


FILE = "*us-east-1/index.*"


def faults_leave_it_alone(db):
    before = prices(db)
    cases = [
        ("500 every time", [FILE + " 500"], 1, "HTTP 500"),
        ("404", [FILE + " 404"], 1, "HTTP 404"),
        ("cut body", [FILE + " trunc:50%"], 1, ""),
        ("damaged gzip", [FILE + " badgzip"], 4, "index.csv"),
        ("empty list", [FILE + " emptybody"], 4, "empty"),
        ("sign-in page", [FILE + " html"], 4, "HTML"),
        ("redirect loop", [FILE + " redirectloop"], 1, "redirects"),
        ("redirect to a file", [FILE + " redirect:file:///etc/passwd"], 1, "refused"),
        ("broken index", ["*aws/index.json html"], 4, ""),
    ]
    for name, faults, want, text in cases:
        server = Server(*faults)
        rc, _, stderr = run(db, "fetch", "aws-offer", "--region", "us-east-1", "--tries", "2",
                            "--accept-large-change", server=server)
        say(rc == want and text in stderr, "%s: exit %d, said: %s"
            % (name, rc, stderr.strip().splitlines()[-1:]))
        say(prices(db) == before, "%s: prices as before" % name)
        server.stop()
    s = source_states(db).get(("aws-offer", "us-east-1/AmazonEC2", "fetched"), {})
    say(s.get("state") == "failed" and s.get("why"), "sources shows the failure: %s" % s)


def passing_faults(out, db):
    server = Server(FILE + " 429:1 1", FILE + " 503 1", "*region_index* 500 1")
    rc, _, stderr = run(db, "fetch", "aws-offer", "--region", "us-east-1", server=server)
    say(rc == 0, "429, 503 and 500 pass: %s" % stderr.strip()[-200:])
    tried = [r["t"] for r in server.requests() if "us-east-1/index" in r["path"]]
    say(len(tried) == 3 and tried[1] - tried[0] >= 1.0, "Retry-After was kept")
    with open(out + ".expected-all.csv", encoding="utf-8") as f:
        want = sum(1 for r in csv.DictReader(f) if r["region"] == "us-east-1")
    say(len(fetched_prices(db, "us-east-1")) == want, "and all rows came")
    server.stop()


def stopped_half_way(db, sig):
    before = prices(db)
    server = Server(FILE + " slow:100000", extra=("--gzip", "off"))
    # pylint: disable-next=consider-using-with
    p = subprocess.Popen([GPUTIER, "--db", db, "fetch", "aws-offer", "--region", "us-east-1",
                          "--accept-large-change"], env=environment(server),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(200):  # until the body flows
        if any("region_index" in r["path"] for r in server.requests()):
            break
        time.sleep(0.05)
    time.sleep(1.0)
    say(p.poll() is None, "%s: still running when stopped" % sig.name)
    t = time.monotonic()
    p.send_signal(sig)
    _, stderr = p.communicate(timeout=30)
    took = time.monotonic() - t
    if sig == signal.SIGINT:
        say(p.returncode == 130 and "interrupted" in stderr, "Ctrl-C: exit 130: %s" % stderr[-200:])
        say(took < 2.0, "Ctrl-C: ended after %.2f s" % took)
    say(prices(db) == before and sound(db), "%s: database as before and sound" % sig.name)
    rc, _, stderr = run(db, "db", "check")
    say(rc == 0, "%s: db check is content: %s" % (sig.name, stderr[-200:]))
    server.stop()
    left = [f for f in os.listdir(os.path.dirname(db)) if "staging" in f]
    say(sig == signal.SIGKILL or not left, "%s: no staging file is left: %s" % (sig.name, left))


def one_of_two_fails(db):
    server = Server("*v8/* 500")
    rc, _, stderr = run(db, "fetch", "aws-offer", "skypilot", "--region", "us-east-1", "--tries",
                        "1", "--accept-large-change", server=server)
    say(rc == 1 and "skypilot" in stderr and "HTTP 500" in stderr, "the failing one is named")
    say(len(fetched_prices(db, "us-east-1")) > 0, "the other one is there")
    server.stop()


def refusals(db):
    rc, _, err = run(db, "fetch", "aws-ofer")
    say(rc == 2 and "aws-offer" in err, "unknown source names the nearest: %s" % err.strip())
    rc, _, err = run(db, "fetch", "aws-offer", "--offline")
    say(rc == 2 and "offline" in err, "--offline refuses")
    many = sum((["--region", "aws/r%d" % i] for i in range(20)), [])
    rc, _, err = run(db, "fetch", "aws-offer", *many)
    say(rc == 2 and "--all-regions" in err, "above 1 GB wants --all-regions: %s" % err.strip())
    rc, _, err = run(db, "fetch", "prices-csv")
    say(rc != 0 and "import prices-csv" in err, "a source of files says so: %s" % err.strip())
    server = Server(extra=("--tls", WORK))
    before = prices(db)
    rc, _, err = run(db, "fetch", "aws-offer", "--region", "us-east-1", server=server)
    say(rc == 1 and "not trusted" in err and prices(db) == before, "self-signed TLS is refused")
    server.stop()


def care(db):
    copy = os.path.join(WORK, "copy.db")
    rc, _, err = run(db, "db", "backup", copy)
    say(rc == 0 and sound(copy) and prices(copy) == prices(db), "backup is the same: %s" % err)
    rc, out, _ = run(db, "db", "migrate", "--format", "json")
    doc = json.loads(out)
    say(rc == 0 and doc["version"] > 0, "migrate says the version")
    say(not json_schema.validate(doc, json_schema.load("db")), "db keeps its schema")
    before = prices(db)
    rc, out, err = run(db, "db", "prune")
    say(rc == 0 and prices(db) == before, "prune keeps what is current: %s" % err)
    rc, _, _ = run(db, "db", "polish")
    say(rc == 2, "an unknown action is a usage error")


def everything():
    db = os.path.join(WORK, "db", "x.db")
    os.mkdir(os.path.dirname(db))
    out = lay_out()
    whole_walk(out, db)
    faults_leave_it_alone(db)
    passing_faults(out, os.path.join(WORK, "db", "y.db"))
    stopped_half_way(db, signal.SIGINT)
    stopped_half_way(db, signal.SIGKILL)
    one_of_two_fails(db)
    refusals(db)
    care(db)


need_tools("fetch end to end")
main([everything])
