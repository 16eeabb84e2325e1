#!/usr/bin/env python3
"""A refresh with nothing new costs one conditional request a file or page, whatever the source: each
is fetched from the vendors' own samples (../shared/samples) over loopback, then again (304 to the
validator exactly as it was sent, quotes and all), then after an upgrade of the program, after a change. Keys: wherever a key goes, it
is in no message, no log, no address, not in the database and not in the cache folder. Skips loudly
without ../shared."""
import email.utils
import hashlib
import json
import os
import re
import sqlite3
import stat
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlsplit

from vendor import SHARED, WORK, dump, environment, main, need_tools, run, say

need_tools("conditional requests")
SAMPLES = os.path.join(SHARED, "samples")
NOW = "2026-12-02T10:00:00Z"


def sample(path):
    with open(os.path.join(SAMPLES, path), "rb") as f:
        return f.read()


def gcp_page(number, token):
    def sku(n, text, unit, nanos, group="X"):
        return {"skuId": "S%d" % n, "description": text, "serviceRegions": ["us-central1"],
                "category": {"usageType": "OnDemand", "resourceGroup": group},
                "pricingInfo": [{"pricingExpression": {"usageUnit": unit, "tieredRates": [
                    {"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD",
                                                          "nanos": nanos}}]}}]}
    pages = [[sku(1, "G2 Instance Core running in Iowa", "h", 10 ** 7)],
             [sku(2, "G2 Instance Ram running in Iowa", "GiBy.h", 10 ** 6),
              sku(3, "Nvidia L4 GPU running in Iowa", "h", 5 * 10 ** 8)],
             [sku(4, "Archive Storage Iowa", "GiBy.mo", 1200000, "ArchiveStorage")],
             [sku(5, "Filestore Capacity Basic HDD (Standard) Iowa", "GiBy.mo", 160000000)]]
    return json.dumps({"skus": pages[number], "nextPageToken": token}).encode()


def aws_index(url):
    return json.dumps({"offers": {"AmazonEC2": {"currentRegionIndexUrl": url}}}).encode()


SKYPILOT = {cloud: "skypilot-layout/" + name for cloud, name in (
    ("azure", "azure-vms.gpu.trimmed.csv"), ("gcp", "gcp-vms.gpu.trimmed.csv"),
    ("lambda", "lambda-vms.csv"), ("vast", "vast-vms.csv"))}
# source -> path and query -> body. Whatever is not here is a 404.
BODIES = {
    "aws-offer": {
        "/offers/v1.0/aws/index.json": aws_index("/offers/v1.0/aws/AmazonEC2/region_index.json"),
        "/offers/v1.0/aws/AmazonEC2/region_index.json": json.dumps({"regions": {"us-east-1": {
            "currentVersionUrl": "/offers/v1.0/aws/AmazonEC2/1/us-east-1/index.json"}}}).encode(),
        "/offers/v1.0/aws/AmazonEC2/1/us-east-1/index.csv":
            sample("aws/AmazonEC2.us-east-1.gpu.constructed.csv")},
    "aws-spot-advisor": {"": sample("aws/spot-advisor-data.trimmed.json")},
    "ecb-fx": {"": sample("fx/eurofxref-daily.2026-07-09.excerpt.xml")},
    "skypilot": {"/v8/%s/vms.csv" % c: sample(p) for c, p in SKYPILOT.items()},
    "cudo": {"": sample("cudo/machine-types.response.json")},
    "digitalocean": {"?per_page=200&page=1": sample("digitalocean/sizes.json")},
    "fluidstack": {"": sample("fluidstack/list-available-configurations.response.json")},
    "gcp-skus": {
        "/services/6F81-5844-456A/skus?pageSize=5000&currencyCode=USD": gcp_page(0, "t1"),
        "/services/6F81-5844-456A/skus?pageSize=5000&currencyCode=USD&pageToken=t1":
            gcp_page(1, ""),
        "/services/95FF-2EF5-5EA1/skus?pageSize=5000&currencyCode=USD": gcp_page(2, ""),
        "/services/D97E-AB26-5D95/skus?pageSize=5000&currencyCode=USD": gcp_page(3, "")},
    "hyperstack": {"": sample("hyperstack/pricebook.response.json")},
    "jarvislabs": {"": sample("jarvislabs/server-meta.json")},
    "lambda": {"": sample("lambda/instance-types.json")},
    "oci": {"/shapes.json": sample("oci/cloudestimator-shapes.excerpt.json"),
            "/products/?currencyCode=USD": sample("oci/cetools-products.usd.trimmed.json")},
    "runpod": {"": sample("runpod/gpuTypes.data.json")},
    "vast": {"": sample("vast/search-offers.raw.2024-08.json")},
    "verda": {"/oauth2/token": b'{"access_token":"TOKEN-3f9a"}',
              "/instance-availability": sample("verda/instance-availability.json"),
              "/instance-types": sample("verda/instance-types.json")},
    "vultr": {"/plans?type=all&per_page=500": sample("vultr/plans.json"),
              "/plans-metal?per_page=500": sample("vultr/plans-metal.json")},
}
AWS_FILE = "/offers/v1.0/aws/AmazonEC2/1/us-east-1/index.csv"
GCP = list(BODIES["gcp-skus"])
POSTS = {"runpod": 1, "vast": 1, "verda": 1}  # requests that are POSTs: never conditional
KEYS = {s: "KEY-%s-8d1c" % s for s in (
    "cudo", "digitalocean", "fluidstack", "gcp-skus", "hyperstack", "jarvislabs", "lambda",
    "runpod", "vast")}
KEYS["verda"] = "ME-77ab:KEY-verda-8d1c"
SECRETS = [part for k in KEYS.values() for part in k.split(":")] + ["TOKEN-3f9a"]
# No address to ask, or a test of its own: files only; signed requests; pages with links.
ELSEWHERE = {"alibaba", "aws-savings-plan", "aws-spot-history", "aws-spot-price", "coreweave",
             "gpuhunt", "huawei", "nebius", "prices-csv", "tencent"}


class Vendor(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log = []
    kind = "etag"
    status = {}  # source -> status of every answer (the body then repeats the key); -1 cuts the
    #              connection, -2 does not answer
    broken = None  # a word of addresses that get HTTP 500
    delay = 0

    def log_message(self, *_):
        pass

    def serve(self):
        try:
            self.answer()
        except OSError:
            self.close_connection = True  # a client that gave up

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        source, _, rest = self.path[1:].partition("/")
        source, mark, query = source.partition("?")
        rest = ("/" + rest if rest else "") + mark + query
        headers = dict(self.headers.items())
        time.sleep(self.delay)
        if self.status.get(source, 0) < 0:
            time.sleep(3 if self.status[source] == -2 else 0)
            self.close_connection = True
            return
        if self.broken and self.broken in self.path:
            self.send_error(500)
            return
        body = BODIES.get(source, {}).get(rest)
        lines = []
        status = self.status.get(source) or (200 if body is not None else 404)
        if self.status.get(source):
            body = ("{\"error\": %s}" % json.dumps(str(headers))).encode()
        elif body is None:
            body = b"no"
        elif self.kind == "etag":
            tag = '"%s"' % hashlib.md5(body).hexdigest()
            lines = [("ETag", tag)]
            status = 304 if headers.get("If-None-Match") == tag else 200
        else:
            when = email.utils.formatdate(1.7e9 + len(body), usegmt=True)
            lines = [("Last-Modified", when)]
            status = 304 if headers.get("If-Modified-Since") == when else 200
        body = b"" if status == 304 else body
        Vendor.log.append((self.command, source, rest, status, headers))
        self.send_response(status)
        for k, v in lines:
            self.send_header(k, v)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = serve


server = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()


def azure_filter(service, more):
    text = "serviceName eq '%s' and armRegionName eq 'francecentral' and %s" % (service, more)
    return ("/api/retail/prices?api-version=2023-01-01-preview&currencyCode=%27USD%27&$filter="
            + quote(text, safe="-_.~"))


def azure_pages():
    """Two pages of machines, the link as the vendor writes it but for the server; then one each of
    storage and of transfer."""
    here = "http://127.0.0.1:%d/azure-retail" % server.server_port
    first = json.loads(sample("azure/retail-prices.page1.json"))
    first["NextPageLink"] = first["NextPageLink"].replace("https://prices.azure.com:443", here)
    out = dict(json.loads(sample("azure/retail-prices.page2.json"))["Items"][0])
    out.update(serviceName="Bandwidth", productName="Rtn Preference: MGN", unitOfMeasure="1 GB",
               meterName="Standard Data Transfer Out", type="Consumption", retailPrice=0.08)
    return {
        azure_filter("Virtual Machines", "contains(armSkuName,'Standard_N')"):
            json.dumps(first).encode(),
        first["NextPageLink"][len(here):]: sample("azure/retail-prices.page2.json"),
        azure_filter("Storage", "priceType eq 'Consumption'"):
            sample("azure/retail-prices.block-blob-v2.eastus.excerpt.json").replace(
                b"eastus", b"francecentral"),
        azure_filter("Bandwidth", "priceType eq 'Consumption'"):
            json.dumps({"Items": [out], "NextPageLink": ""}).encode()}


BODIES["azure-retail"] = azure_pages()


def variable(kind, source):
    return "GPUTIER_%s_%s" % (kind, source.upper().replace("-", "_"))


def env():
    e = environment(GPUTIER_DATA=os.path.join(WORK, "empty"), GPUTIER_NOW=NOW,
                    XDG_CACHE_HOME=os.path.join(WORK, "cache"))
    for s in BODIES:
        e[variable("URL", s)] = "http://127.0.0.1:%d/%s" % (server.server_port, s)
    for s, k in KEYS.items():
        e[variable("KEY", s)] = k
    return e


def fetch(db, *sources, more=()):
    Vendor.log.clear()
    rc, out, err = run(db, "fetch", *sources, "--region", "aws/us-east-1", "--region",
                       "azure/francecentral", *more, env=env())
    for secret in SECRETS:
        if secret in out + err or any(secret in r[2] for r in Vendor.log):
            say(False, "%s: a key shows: %s" % (sources, (out + err)[-400:]))
    return rc, out + err


def rows_of(db):
    _, out, _ = run(db, "sources", "--format", "json", env=env())
    return {(s["source_id"], s["scope"]): (s["state"], s["rows"]) for s in
            json.loads(out)["sources"] if s["origin"]}


def every_source_is_here():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    _, out, _ = run(os.path.join(WORK, "s.db"), "sources", "--format", "json", env=env())
    found = {s["source_id"] for s in json.loads(out)["sources"]}
    lacking = sorted(found - set(BODIES) - ELSEWHERE)
    say(len(lacking) < 4 and set(BODIES) <= found, "every source is here or has a test of its own, "
        "but the newest: %s" % lacking)


def asked(source):
    return [r for r in Vendor.log if r[1] == source]


def nothing_new(source):
    """Strong ETags are echoed with their quotes."""
    db = os.path.join(WORK, source + ".db")
    rc, text = fetch(db, source)
    pages = [r for r in asked(source) if r[3] == 200]
    say(rc == 0 and len(pages) == len(BODIES[source]), "%s: fetched (%d requests): %s"
        % (source, len(pages), text[-300:] if rc else ""))
    before, rows = dump(db, env()), rows_of(db)
    rc, text = fetch(db, source)
    again = [r for r in asked(source) if r[3] != 404]
    same = [r for r in again if r[3] == 304 and re.fullmatch(r'"[0-9a-f]{32}"',
                                                             r[4].get("If-None-Match", ""))]
    posts = POSTS.get(source, 0)
    if posts == len(BODIES[source]):
        say(rc == 0 and len(again) == posts and not same, "%s: a POST has no conditions" % source)
        return
    say(rc == 0 and len(again) == len(BODIES[source]) and len(same) == len(again) - posts,
        "%s: nothing new costs %d conditional request(s): %s"
        % (source, len(same), [r[:4] for r in again] if len(same) != len(again) - posts else ""))
    say("unchanged" in text and "1 unchanged" in text and dump(db, env()) == before
        and rows_of(db) == rows, "%s: and changes nothing: %s" % (source, text[-200:]))
    rc, text = fetch(db, source, more=["--accept-large-change"])
    say(rc == 0 and all("If-None-Match" not in r[4] for r in asked(source)),
        "%s: --accept-large-change asks without conditions" % source)
    after_an_upgrade(db, source, before, posts)


def after_an_upgrade(db, source, before, posts):
    """Rows that another program's readers made: "not modified" would keep their mistakes for ever."""
    indexes = source == "aws-offer"  # kept whole in the cache folder, read anew from there
    for reader in ["'0123456789abcdef'"] + ["NULL"] * (source in ("lambda", "gcp-skus")):  # said by none before
        with sqlite3.connect(db) as d:
            d.execute("UPDATE fetch_run SET parser = " + reader)
        rc, text = fetch(db, source)
        say(rc == 0 and "1 fetched" in text and dump(db, env()) == before
            and all(r[3] != 304 and "If-None-Match" not in r[4] for r in asked(source)
                    if not indexes or r[2] == AWS_FILE),
            "%s: rows of other readers (%s) are asked for without conditions: %s" % (source, reader, text[-200:]))
    rc, text = fetch(db, source)
    say(rc == 0 and "1 unchanged" in text and sum(r[3] == 304 for r in asked(source)) ==
        len(BODIES[source]) - posts, "%s: and with them again afterwards: %s" % (source, text[-200:]))


def every_source():
    for source in BODIES:
        nothing_new(source)


def last_modified_alone():
    Vendor.kind = "modified"
    for source in ("aws-spot-advisor", "oci", "gcp-skus", "skypilot"):
        db = os.path.join(WORK, source + ".lm.db")
        rc, text = fetch(db, source)
        assert rc == 0, text
        rc, text = fetch(db, source)
        say(rc == 0 and "1 unchanged" in text
            and all(r[3] == 304 and "If-Modified-Since" in r[4]
                    for r in asked(source) if r[3] != 404),
            "%s: Last-Modified alone is enough" % source)
    Vendor.kind = "etag"


def a_change_on_any_page_is_seen():
    db = os.path.join(WORK, "gcp-skus.db")
    for i, path in enumerate(GCP[:2]):
        old = BODIES["gcp-skus"][path]
        BODIES["gcp-skus"][path] = old + b" " * (i + 1)
        rc, text = fetch(db, "gcp-skus")
        say(rc == 0 and "1 fetched" in text, "gcp-skus: page %d is new: %s" % (i + 1, text[-200:]))
        first = [r for r in asked("gcp-skus") if "6F81" in r[2]]
        say([r[3] for r in first] == ([200, 200] if i == 0 else [304, 200, 200, 200]),
            "gcp-skus: then the whole list is read: %s" % [r[2:4] for r in first])
        rc, text = fetch(db, "gcp-skus")
        say(rc == 0 and "1 unchanged" in text, "gcp-skus: and known from then on")
    path = GCP[1]
    old = BODIES["gcp-skus"].pop(path)
    before = dump(db, env())
    rc, text = fetch(db, "gcp-skus", more=["--tries", "1"])
    say(rc == 1 and "HTTP 404" in text and dump(db, env()) == before,
        "gcp-skus: a page that is gone fails the refresh, prices stay")
    BODIES["gcp-skus"][path] = old


def f061_self_link():
    """f061_self_link: the next link points to the page itself, or two pages to each other."""
    paths = GCP
    old = dict(BODIES["gcp-skus"])
    db = os.path.join(WORK, "circle.db")
    for name, token in (("itself", "t1"), ("a cycle of two", "t2")):
        BODIES["gcp-skus"] = dict(old)
        BODIES["gcp-skus"][paths[0]] = gcp_page(0, "t1")
        BODIES["gcp-skus"][paths[1]] = gcp_page(1, token)
        BODIES["gcp-skus"][paths[1][:-2] + "t2"] = gcp_page(1, "t1")
        rc, text = fetch(db, "gcp-skus")
        say(rc == 4 and "circle" in text and len(asked("gcp-skus")) < 7,
            "f061: %s ends with an error: %s" % (name, text[-200:]))
    BODIES["gcp-skus"] = old
    size = json.loads(sample("digitalocean/sizes.json"))
    size["links"] = {"pages": {"next": "https://api.digitalocean.com/v2/sizes?page=1"}}
    kept = BODIES["digitalocean"]
    BODIES["digitalocean"] = {"?per_page=200&page=%d" % n: json.dumps(size).encode()
                              for n in range(1, 9)}
    rc, text = fetch(os.path.join(WORK, "circle.db"), "digitalocean")
    say(rc == 4 and "the same page" in text and len(asked("digitalocean")) == 2,
        "f061: numbered pages that never end are seen: %s" % text[-200:])
    BODIES["digitalocean"] = kept


def f063_empty_page_mid():
    """f063_empty_page_mid: a page without rows but with a token goes on."""
    paths, old = GCP, dict(BODIES["gcp-skus"])
    BODIES["gcp-skus"][paths[0]] = json.dumps({"skus": [], "nextPageToken": "t0"}).encode()
    BODIES["gcp-skus"][paths[1][:-2] + "t0"] = gcp_page(0, "t5")
    BODIES["gcp-skus"][paths[1][:-2] + "t5"] = json.dumps({"nextPageToken": "t1"}).encode()
    db = os.path.join(WORK, "mid.db")
    rc, text = fetch(db, "gcp-skus")
    say(rc == 0 and len(asked("gcp-skus")) == 6 and "\"g2-standard-4\"" in dump(db, env()),
        "f063: empty pages in the middle: %s" % text[-200:])
    BODIES["gcp-skus"] = old


def one_failing_vendor_harms_no_other():
    """All sources in one go, a few of which fail each in its way: the others are complete."""
    bad = {"lambda": 500, "oci": 403, "gcp-skus": 404, "aws-spot-advisor": -1, "vultr": -2}
    for failing in ({}, {"lambda": 500}, bad):
        db = os.path.join(WORK, "all%d.db" % len(failing))
        Vendor.status = failing
        rc, text = fetch(db, *BODIES, more=["--tries", "1", "--stall", "1s"])
        Vendor.status = {}
        there = {s for (s, _), (state, n) in rows_of(db).items() if state == "fresh" and n}
        named = {s for s in failing if re.search("^" + s + r"\b.*failed: ", text, re.M)}
        say(rc == bool(failing) and there == set(BODIES) - set(failing) and named == set(failing),
            "%d of %d vendors fail: exit %d, lacking %s, failures told %s" % (
                len(failing), len(BODIES), rc, sorted(set(BODIES) - set(failing) - there),
                sorted(named)))
        say("%d fetched, 0 unchanged, %d failed" % (len(there), len(failing)) in text,
            "and the sum says so")


def f057_one_region_fails():
    """f057_price_per_region_retry: HTTP 500 for one region."""
    index = "/offers/v1.0/aws/AmazonEC2/region_index.json"
    old = dict(BODIES["aws-offer"])
    one, two = old[AWS_FILE], old[AWS_FILE].replace(b"us-east-1", b"us-west-2").replace(
        b"US East (N. Virginia)", b"US West (Oregon)")
    BODIES["aws-offer"][index] = json.dumps({"regions": {r: {
        "currentVersionUrl": AWS_FILE.replace("us-east-1", r).replace(".csv", ".json")}
        for r in ("us-east-1", "us-west-2")}}).encode()
    BODIES["aws-offer"][AWS_FILE.replace("us-east-1", "us-west-2")] = two
    db = os.path.join(WORK, "f057.db")
    rc, text = fetch(db, "aws-offer", more=["--region", "aws/us-west-2"])
    say(rc == 0, "f057: both regions: %s" % text[-200:])
    before = dump(db, env())
    BODIES["aws-offer"][AWS_FILE] = one + b"\n"
    Vendor.broken = "us-west-2"
    rc, text = fetch(db, "aws-offer", more=["--region", "aws/us-west-2", "--tries", "2"])
    Vendor.broken = None
    states = {scope: state for (_, scope), (state, _) in rows_of(db).items()}
    say(rc == 1 and "us-west-2" in text and "HTTP 500" in text
        and states == {"us-east-1/AmazonEC2": "fresh", "us-west-2/AmazonEC2": "failed"}
        and dump(db, env()) == before,
        "f057: one region fails, is named and marked; its prices stay: %d %s %s"
        % (rc, states, text[-200:]))
    BODIES["aws-offer"] = old


def f059_one_page_of_50_mb():
    """f059_skus_20mb: the whole catalogue in a single answer."""
    old = dict(BODIES["gcp-skus"])
    page = json.loads(gcp_page(0, ""))
    page["skus"] += json.loads(gcp_page(1, ""))["skus"]
    filler = json.loads(gcp_page(0, ""))["skus"][0]
    filler["description"] = "Other Core running in Nowhere " + "x" * 700
    page["skus"] += [dict(filler, skuId="F%d" % i) for i in range(48000)]
    BODIES["gcp-skus"][GCP[0]] = json.dumps(page).encode()
    size = len(BODIES["gcp-skus"][GCP[0]])
    db = os.path.join(WORK, "f059.db")
    rc, text = fetch(db, "gcp-skus")
    say(rc == 0 and size > 45e6 and "g2-standard-4" in dump(db, env()),
        "f059: one page of %d MB: %s" % (size / 1e6, text[-200:]))
    BODIES["gcp-skus"] = old


def f067_timeout_broad_filter():
    """f067_timeout_broad_filter: the time runs out between pages; nothing partial is published and
    the time is named, not the region."""
    for db, prices in (("f067.db", False), ("gcp-skus.db", True)):
        db = os.path.join(WORK, db)
        if prices:
            BODIES["gcp-skus"][GCP[0]] += b" "
            BODIES["gcp-skus"][GCP[1]] += b" "
        else:
            run(db, "sources", env=env())
        before = dump(db, env())
        Vendor.delay = 1.2
        rc, text = fetch(db, "gcp-skus", more=["--max-time", "2s"])
        Vendor.delay = 0
        say(rc == 1 and "time allowed" in text and "region" not in text,
            "f067: the time is what is named: %s" % text[-200:])
        states = {scope: state for (_, scope), (state, _) in rows_of(db).items()}
        say(dump(db, env()) == before if prices else "g2-standard" not in dump(db, env()),
            "f067: no partial list is published")
        say(states.get("6F81-5844-456A") == "failed", "f067: sources says it failed: %s" % states)


def states_of_sources():
    """fresh, stale after a week, fresh again by a 304; failed and quarantined, each with its reason."""
    db = os.path.join(WORK, "states.db")

    def at(day, *args):
        rc, out, err = run(db, *args, env={**env(), "GPUTIER_NOW": "2026-12-%02dT10:00:00Z" % day})
        return rc, out + err

    def state(day):
        s = [x for x in json.loads(at(day, "sources", "--format", "json")[1])["sources"]
             if x["source_id"] == "cudo"][0]
        return s["state"], s["why"], (s["fetched_at"] or "")[:10], s["rows"]
    say(state(2)[0] == "not fetched", "sources: not fetched")
    at(2, "fetch", "cudo")
    fresh = state(2)
    rows = fresh[3]
    say(fresh[:3] == ("fresh", None, "2026-12-02") and rows > 3, "sources: fresh: %s" % (fresh,))
    say(state(9)[0] == "fresh" and state(10)[0] == "stale", "sources: stale after a week")
    rc, text = at(10, "fetch", "cudo")
    say(rc == 0 and "unchanged" in text and state(10)[:3] == ("fresh", None, "2026-12-10"),
        "sources: a 304 makes it fresh again: %s" % (state(10),))
    Vendor.status = {"cudo": 403}
    at(11, "fetch", "cudo")
    Vendor.status = {}
    say(state(11)[0] == "failed" and "HTTP 403" in state(11)[1] and state(11)[2:] == ("2026-12-10", rows),
        "sources: failed, why, and what is still there: %s" % (state(11),))
    old = BODIES["cudo"][""]
    before = dump(db, env())
    BODIES["cudo"][""] = re.sub(rb'("value": *"?)([0-9])', rb"\g<1>9\2", old)
    rc, text = at(12, "fetch", "cudo")
    say(rc == 3 and state(12)[0] == "quarantined" and "move by a factor" in state(12)[1]
        and dump(db, env()) == before, "sources: quarantined and why: %s" % (state(12),))
    say("gputier --db NEW.db fetch cudo" in text and "--accept-large-change" in text
        and "--accept-large-change" in state(12)[1], "quarantined: how to see and to take it: %s" % text[-300:])
    _, table = at(12, "sources")
    line = [x for x in table.split("\n") if x.startswith("cudo")][0]
    say("quarantined" in line and "move by" in line, "sources: the table says so too: %s" % line)
    BODIES["cudo"][""] = old
    rc, text = at(13, "fetch", "cudo")
    say(rc == 0 and state(13)[:2] == ("fresh", None), "sources: then fresh: %s" % (state(13),))


def keys_are_nowhere():
    """Not in messages (fetch looks each time), nor in what is kept; not when the vendor sends the
    key back in an error either."""
    db = os.path.join(WORK, "keys.db")
    rc, text = fetch(db, *KEYS, more=["-v", "-v", "-v"])
    say(rc == 0 and len(text) > 100, "keyed sources with -vvv: %s" % text[-200:])
    sent = {s: [r for r in asked(s) if any(k in str(r[4]) for k in KEYS[s].split(":"))]
            for s in KEYS}
    say(all(sent[s] or s == "verda" for s in KEYS), "each key was sent: %s"
        % [s for s in KEYS if not sent[s]])
    for status in (401, 403, 500, 200):
        Vendor.status = {s: status for s in KEYS}
        rc, text = fetch(db, *KEYS, more=["-v", "-v", "-v", "--tries", "1"])
        say(rc in (1, 4) and all(re.search(k + ".*: failed:", text)
                                  for k in KEYS), "a refused key, HTTP %d: %s"
            % (status, text[-100:]))
    Vendor.status = {}
    kept = BODIES["lambda"][""]
    BODIES["lambda"][""] = re.sub(rb'"price_cents_per_hour": *[0-9]+', b'"price_cents_per_hour": "%s"'
                                  % KEYS["lambda"].encode(), kept)
    rc, text = fetch(db, "lambda")
    BODIES["lambda"][""] = kept
    say(rc == 4 and "***" in text, "a key that a message would quote is blotted out: %s" % text)
    for key in KEYS:
        rc, _, err = run(db, "fetch", key, "-v", "-v", "-v",
                         env={**env(), variable("KEY", key): "KEY-x:\r\nX-Evil: 1"})
        say(rc == 2 and "control character" in err and "KEY-x" not in err and "X-Evil" not in err.replace("-v", ""),
            "%s: a key with a line break is refused: %s" % (key, err.strip()[-120:]))
    found = []
    for folder, _, names in os.walk(WORK):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                data = f.read()
            found += [(name, s) for s in SECRETS if s.encode() in data]
    say(not found, "no file holds a key: %s" % found[:5])


def the_cache_folder():
    folder = os.path.join(WORK, "cache", "gputier")
    names = os.listdir(folder)
    say(len(names) == 2 and stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        and all(stat.S_IMODE(os.stat(os.path.join(folder, n)).st_mode) == 0o600 for n in names),
        "two index documents are kept, for the user alone: %s" % names)
    db = os.path.join(WORK, "aws-offer.db")
    for what in ("damaged", "cut", "a folder", "a link", "unwritable"):
        for n in names:
            path = os.path.join(folder, n)
            if what == "damaged":
                with open(path, "r+b") as f:
                    f.seek(-9, 2)
                    f.write(b"!")
            elif what == "cut":
                os.truncate(path, 40)
            elif what == "a folder":
                os.remove(path)
                os.mkdir(path)
            elif what == "a link":
                os.rmdir(path)
                os.symlink("/etc/passwd", path)
        if what == "unwritable":
            for n in os.listdir(folder):
                os.remove(os.path.join(folder, n))
            os.rmdir(folder)
            with open(folder, "w", encoding="ascii"):
                pass
        rc, text = fetch(db, "aws-offer")
        statuses = [r[3] for r in asked("aws-offer")]
        say(rc == 0 and statuses == [200, 200, 304], "cache %s: asked anew: %s %s"
            % (what, statuses, text[-200:] if rc else ""))
    os.remove(folder)
    os.mkdir(folder, 0o700)
    old = os.path.join(folder, "0" * 64 + ".http")
    other = os.path.join(folder, "kept.txt")
    for p in (old, other):
        with open(p, "w", encoding="ascii"):
            pass
        os.utime(p, (0, 0))
    fetch(db, "aws-offer")
    say(not os.path.exists(old) and os.path.exists(other), "old entries go, other files stay")


main([every_source_is_here, every_source, last_modified_alone, a_change_on_any_page_is_seen,
      f061_self_link, f063_empty_page_mid, f057_one_region_fails, f059_one_page_of_50_mb,
      f067_timeout_broad_filter, one_failing_vendor_harms_no_other, states_of_sources, the_cache_folder, keys_are_nowhere])
