#!/usr/bin/env python3
"""One fetch in which a list is published, one held back and one fails: neither harms the others, the end names each, and
the exit status tells. A list that is held back stays so however often it is fetched (it is never "unchanged"), its
message's own command shows it beside the prices, it is taken only when asked, and refused by doing nothing: the next
list that is like the one before is published. Needs ../shared."""
import json
import os
import re
import shlex

from makers import aws, aws_offer
from vendor import SHARED, WORK, Server, environment, main, need_tools, put, run, say

need_tools("quarantine of what is fetched")
NOW = "2026-12-02T10:00:00Z"
DB = os.path.join(WORK, "x.db")
with open(os.path.join(SHARED, "samples/cudo/machine-types.response.json"), encoding="utf-8") as sample:
    CUDO = sample.read()
with open(os.path.join(SHARED, "samples/jarvislabs/server-meta.json"), encoding="utf-8") as sample:
    JARVIS = sample.read()
MANY = json.loads(CUDO)
ROWS = next(k for k, v in MANY.items() if isinstance(v, list))
ALL = ("cudo", "jarvislabs", "lambda")


def env(server, **more):
    e = environment(GPUTIER_DATA=os.path.join(WORK, "empty"), GPUTIER_NOW=NOW, XDG_CACHE_HOME=os.path.join(WORK, "cache"), **more)
    for s in ALL:
        e["GPUTIER_URL_" + s.upper()] = server.base + "/%s.json" % s
        e["GPUTIER_KEY_" + s.upper()] = "K-" + s
    return e


def fetch(server, *args, db=DB):
    rc, out, err = run(db, "fetch", *args, env=env(server))
    return rc, out, err


def offers(server, vendor, db=DB):
    rc, out, err = run(db, "prices", "--vendor", vendor, "--format", "json", env=env(server))
    assert rc == 0, err
    return sorted((o["region"], o["instance_type"], o["purchase"], o["price_per_hour"], o["currency"]) for o in json.loads(out)["offers"])


def dearer(text, factor):
    return re.sub(r'("value": *"?)([0-9.]+)', lambda m: "%s%.6f" % (m.group(1), float(m.group(2)) * factor), text)


def whole_story():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    put("/cudo.json", CUDO)
    put("/jarvislabs.json", JARVIS)
    server = Server("/lambda.json* 500")
    rc, _, err = fetch(server, *ALL[:2])
    before = offers(server, "cudo")
    say(rc == 0 and before and offers(server, "jarvislabs"), "two lists to begin with (%d prices)" % len(before))

    put("/cudo.json", dearer(CUDO, 10))
    put("/jarvislabs.json", JARVIS + "\n")
    rc, _, err = fetch(server, *ALL, "--tries", "1")
    say(rc == 1 and "1 fetched, 0 unchanged, 1 failed (lambda), 1 held back (cudo)" in err,
        "all three are told apart: exit %d: %s" % (rc, err[-300:]))
    say(offers(server, "cudo") == before, "what is held back changes no price")
    rc, out, err = run(DB, "fetch", *ALL, "--tries", "1", "--format", "json", env=env(server))
    states = {p["source_id"]: p["state"] for p in json.loads(out)["parts"]}
    say(states == {"cudo": "quarantined", "jarvislabs": "unchanged", "lambda": "failed"} and rc != 0,
        "again, with a status in JSON: held back is never unchanged: %s" % states)
    rc, _, err = fetch(server, "cudo")
    say(rc == 3 and "1 held back (cudo)" in err, "alone it is exit 3: %d" % rc)

    hint = re.search(r"To see the list: gputier (--db NEW\.db fetch [^;]*);", err)
    say(hint is not None and "--accept-large-change" in err, "the message says how to look at it and how to take it: %s" % err[-300:])
    new = os.path.join(WORK, "new.db")
    words = [new if w == "NEW.db" else w for w in shlex.split(hint.group(1))] if hint else ["help"]
    rc, _, err = run(words[1], *words[2:], env=env(server))
    seen = offers(server, "cudo", db=new)
    say(rc == 0 and len(seen) == len(before) and seen != before, "that command shows it")
    rc, _, err = fetch(server, "cudo")
    say(rc == 3 and offers(server, "cudo") == before, "looking takes nothing")

    rc, _, err = fetch(server, "cudo", "--accept-large-change")
    say(rc == 0 and offers(server, "cudo") == seen, "taken when asked")
    rc, _, err = fetch(server, "cudo")
    say(rc == 0 and "1 unchanged" in err, "and is the list of now")

    put("/cudo.json", CUDO)
    rc, _, err = fetch(server, "cudo")
    say(rc == 3, "the way back is as large")
    put("/cudo.json", dearer(CUDO, 10.5))
    rc, _, err = fetch(server, "cudo")
    say(rc == 0 and len(offers(server, "cudo")) == len(seen) and offers(server, "cudo") != seen,
        "refused by doing nothing: the next like the one before is published")
    server.stop()


def machines(n):
    return json.dumps({ROWS: [dict(MANY[ROWS][0], machineType="m%d" % i) for i in range(n)]})


def half_of_it():
    """Over the network as from files (quarantine.py has every kind): half may go, more is held back."""
    for left, rc in ((4, 0), (3, 3)):
        put("/cudo.json", machines(8))
        server = Server()
        db = os.path.join(WORK, "half%d.db" % left)
        first, _, _ = fetch(server, "cudo", db=db)
        before = offers(server, "cudo", db=db)
        put("/cudo.json", machines(left))
        second, _, err = fetch(server, "cudo", db=db)
        say((first, second) == (0, rc) and (rc == 0 or "shrinks from" in err), "%d of 8 stay: exit %d: %s" % (left, second, err[-200:]))
        say((offers(server, "cudo", db=db) == before) == (rc != 0), "and the prices")
        server.stop()


def by_region():
    """The command that shows a list by region asks for that region."""
    base = "/offers/v1.0/aws/AmazonEC2/"
    put("/offers/v1.0/aws/index.json", json.dumps({"offers": {"AmazonEC2": {"currentRegionIndexUrl": base + "regions.json"}}}))
    put(base + "regions.json", json.dumps({"regions": {r: {"currentVersionUrl": "%s%s/index.json" % (base, r)}
                                                       for r in ("us-east-1", "eu-west-1")}}))
    types = ["g5.%sxlarge" % n for n in ("", "2", "4", "8", "12", "16")]

    def lay(region, price):
        put("%s%s/index.csv" % (base, region), aws_offer([
            aws(t, str(price + i), sku="%s%d" % (region.replace("-", "").upper(), i), **{"Region Code": region})
            for i, t in enumerate(types)]))
    for region in ("us-east-1", "eu-west-1"):
        lay(region, 3)
    server = Server()
    args = ("aws-offer", "--region", "us-east-1", "--region", "aws/eu-west-1")
    e = dict(env(server), GPUTIER_URL_AWS_OFFER=server.base)
    db, new = os.path.join(WORK, "r.db"), os.path.join(WORK, "r-new.db")
    rc, _, err = run(db, "fetch", *args, env=e)
    say(rc == 0, "two regions: %s" % (err[-200:] if rc else ""))
    lay("us-east-1", 4)
    lay("eu-west-1", 50)
    rc, _, err = run(db, "fetch", *args, env=e)
    say(rc == 3 and "0 failed, 1 held back (aws-offer)" in err, "one is published, one held back: exit %d" % rc)
    hint = re.search(r"To see the list: gputier --db NEW\.db (fetch [^;]*);", err)
    say(hint is not None and hint.group(1) == "fetch aws-offer --region aws/eu-west-1", "it names the region: %s" % err[-250:])
    rc, _, err = run(new, *shlex.split(hint.group(1)), env=e)
    _, out, _ = run(new, "prices", "--vendor", "aws", "--format", "json", env=e)
    say(rc == 0 and {o["region"] for o in json.loads(out)["offers"]} == {"eu-west-1"}, "and shows that region alone")
    _, out, _ = run(db, "prices", "--vendor", "aws", "--instance", "g5.xlarge", "--format", "json", env=e)
    say({o["region"]: o["price_per_hour"] for o in json.loads(out)["offers"]} == {"us-east-1": "4", "eu-west-1": "3"},
        "the other region has its new prices")
    server.stop()


main([whole_story, half_of_it, by_region])
