#!/usr/bin/env python3
"""Which source is asked for which region, and at which host. The vendors' own addresses are left as they are: every
connection goes through a CONNECT proxy to one TLS server that stands for all hosts. AWS's global, GovCloud and China
partitions (yuan stay yuan), the hosts of EC2's spot history; a region without its vendor is asked only of those whose
it may be, the others are left out and said so; names that are none are refused before anything is asked."""
import json
import os
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from makers import aws, aws_offer
from vendor import WORK, Proxy, certificate, environment, main, run, say

TLS = os.path.join(WORK, "tls")
NOW = "2026-12-02T10:00:00Z"
GLOBAL, CHINA = "pricing.us-east-1.amazonaws.com", "pricing.cn-north-1.amazonaws.com.cn"
AZURE = "prices.azure.com"
EC2 = ["ec2.%s.amazonaws.com%s" % r for r in (
    ("us-east-1", ""), ("us-gov-west-1", ""), ("ap-east-1", ""), ("cn-north-1", ".cn"))]
REGIONS = {"aws": ("us-east-1", "us-gov-west-1", "ap-east-1"), "cn": ("cn-north-1", "cn-northwest-1")}
# region -> price of p4d.24xlarge there
PRICE = {"us-east-1": "32.77", "us-gov-west-1": "39.33", "ap-east-1": "41.1", "cn-north-1": "260.5", "cn-northwest-1": "173.66"}
SPOT = """<DescribeSpotPriceHistoryResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><spotPriceHistorySet><item>
<instanceType>p4d.24xlarge</instanceType><productDescription>Linux/UNIX</productDescription><spotPrice>9.5</spotPrice>
<timestamp>2026-12-02T06:00:00.000Z</timestamp><availabilityZone>%sa</availabilityZone></item></spotPriceHistorySet>
<nextToken></nextToken></DescribeSpotPriceHistoryResponse>"""


def document(host, path):
    part = {GLOBAL: "aws", CHINA: "cn"}.get(host)
    if host in EC2:
        return SPOT % host.split(".")[1]
    if not part:
        return None
    base = "/offers/v1.0/%s/AmazonEC2/" % part
    if path == "/offers/v1.0/%s/index.json" % part:
        return json.dumps({"offers": {"AmazonEC2": {"currentRegionIndexUrl": base + "current/region_index.json"}}})
    if path == base + "current/region_index.json":
        return json.dumps({"regions": {r: {"regionCode": r, "currentVersionUrl": "%s1/%s/index.json" % (base, r)}
                                       for r in REGIONS[part]}})
    for r in REGIONS[part]:
        if path == "%s1/%s/index.csv" % (base, r):
            return aws_offer([aws("p4d.24xlarge", PRICE[r], gpu="8", **{
                "Region Code": r, "Currency": "CNY" if part == "cn" else "USD"})])
    return None


class Vendor(BaseHTTPRequestHandler):
    """Stands for every host."""
    protocol_version = "HTTP/1.1"
    asked = []

    def log_message(self, *_):
        pass

    def serve(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host = self.headers["Host"].split(":")[0]
        Vendor.asked.append((host, self.path))
        body = document(host, self.path)
        self.send_response(404 if body is None else 200)
        body = (body or "no").encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = serve


def start():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    certificate(TLS, GLOBAL, CHINA, AZURE, *EC2)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS + "/cert.pem", TLS + "/key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return Proxy(to=server.server_port)


proxy = start()


def fetch(db, *args, **more):
    Vendor.asked.clear()
    proxy.asked.clear()
    env = environment(GPUTIER_DATA=os.path.join(WORK, "empty"), GPUTIER_NOW=NOW, XDG_CACHE_HOME=os.path.join(WORK, "cache"),
                      https_proxy="http://127.0.0.1:%d" % proxy.port, SSL_CERT_FILE=TLS + "/cert.pem", **more)
    rc, out, err = run(os.path.join(WORK, db), "fetch", "--tries", "1", "--format", "json", *args, env=env)
    try:
        doc = json.loads(out)
    except ValueError:
        doc = None
    hosts = {h.split(" ")[1].rsplit(":", 1)[0] for h in proxy.asked}
    return rc, doc, err, hosts


def offers(db, *args):
    env = environment(GPUTIER_DATA=os.path.join(WORK, "empty"), GPUTIER_NOW=NOW)
    rc, out, err = run(os.path.join(WORK, db), "prices", "--format", "json", *args, env=env)
    assert rc == 0, err
    return {(o["vendor"], o["region"], o["price_per_hour"], o["currency"]) for o in json.loads(out)["offers"]}


def partitions():
    """Each partition is asked at its own host, and keeps its currency."""
    for region, host in (("aws/us-east-1", GLOBAL), ("aws/us-gov-west-1", GLOBAL), ("us-gov-west-1", GLOBAL),
                         ("aws/ap-east-1", GLOBAL), ("aws-cn/cn-north-1", CHINA), ("aws/cn-north-1", CHINA),
                         ("cn-northwest-1", CHINA)):
        rc, doc, err, hosts = fetch("p.db", "aws-offer", "--region", region)
        say(rc == 0 and hosts == {host}, "%s is asked at %s: exit %d, %s, %s" % (region, host, rc, sorted(hosts), err[-200:].strip()))
        code = region.split("/")[-1]
        say([p["scope"] for p in doc["parts"]] == [code + "/AmazonEC2"], "%s alone is fetched: %s" % (code, doc["parts"]))
    rc, doc, err, hosts = fetch("both.db", "aws-offer", "--region", "us-east-1", "--region", "cn-north-1")
    say(rc == 0 and hosts == {GLOBAL, CHINA} and doc["sources"]["done"] == 1, "two partitions at once: %s %s" % (sorted(hosts), err.strip()))
    want = {("aws-cn" if r.startswith("cn-") else "aws", r, p, "CNY" if r.startswith("cn-") else "USD") for r, p in PRICE.items()}
    say(offers("p.db") == want, "yuan stay yuan, dollars dollars: %s" % sorted(offers("p.db")))


def spot_hosts():
    keys = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI"}
    for host in EC2:
        region = host.split(".")[1]
        rc, _, err, hosts = fetch("s.db", "aws-spot-history", "--region", region, **keys)
        say(rc == 0 and hosts == {host}, "spot history of %s is asked at %s: %s %s" % (region, sorted(hosts), rc, err[-200:].strip()))
        vendor, currency = ("aws-cn", "CNY") if region.startswith("cn-") else ("aws", "USD")
        _, out, _ = run(os.path.join(WORK, "s.db"), "history", "--instance", "p4d.24xlarge", "--region",
                        "%s/%s" % (vendor, region), "--purchase", "spot", "--format", "csv",
                        env=environment(GPUTIER_NOW=NOW, GPUTIER_DATA=os.path.join(WORK, "empty")))
        say(len(out.splitlines()) == 2 and ",9.5,%s," % currency in out, "and is in %s: %r" % (currency, out))


def left_out(err):
    return {x.split(": ")[2] for x in err.splitlines() if ": left out: no region that is asked for is of " in x}


def bare_codes():
    """Every source is fetched; a code alone is asked of those whose it may be."""
    for regions, by_aws, by_azure in ((["us-east-1"], True, False), (["us-gov-west-1"], True, False),
                                      (["us-west-2-lax-1"], True, False), (["cn-north-1"], True, False),
                                      (["westeurope"], False, True), (["chinanorth3"], False, True),
                                      (["us-east-1", "westeurope"], True, True), (["us-central1"], False, False),
                                      (["cn-hangzhou"], False, False), (["na-ashburn"], False, False),
                                      (["us-ashburn-1"], False, False), (["eu-frankfurt-1"], False, False),
                                      (["nowhere"], True, True), (["aws/nowhere"], True, False),
                                      (["azure/nowhere"], False, True), (["gcp/us-central1"], False, False)):
        args = [a for r in regions for a in ("--region", r)]
        rc, doc, err, hosts = fetch("%s.db" % "-".join(regions).replace("/", "-"), *args)
        parts = {(p["source_id"], p["scope"].split("/")[0]) for p in doc["parts"]
                 if p["source_id"] in ("aws-offer", "azure-retail")}
        of_aws = {r.split("/")[-1] for r in regions if by_aws and (r != "westeurope")}
        of_azure = {r.split("/")[-1] for r in regions if by_azure and r != "us-east-1"}
        want = {("aws-offer", r) for r in of_aws} | {("azure-retail", r) for r in of_azure}
        silent = {s for s, asked in (("aws-offer", by_aws), ("azure-retail", by_azure)) if not asked}
        say(parts == want and left_out(err) == silent, "%s is asked of %s, left out %s: %s" % (
            regions, sorted(parts), sorted(left_out(err)), err[-300:] if parts != want else ""))
        say((GLOBAL in hosts or CHINA in hosts) == by_aws and (AZURE in hosts) == (by_azure and "china" not in regions[0]),
            "%s: hosts that were asked: %s" % (regions, sorted(hosts & {GLOBAL, CHINA, AZURE})))
        say(rc != 0 and set(doc["sources"]) == {"done", "unchanged", "failed", "quarantined"},
            "%s: the answer tells of sources that failed (the others here do): %s" % (regions, doc["sources"]))
    rc, _, err, hosts = fetch("named.db", "azure-retail", "--region", "us-east-1")
    say(rc == 2 and not hosts and "no region of azure is asked for (us-east-1)" in err,
        "a source that is named fails where nothing is to be asked of it: %r" % err)
    rc, doc, err, hosts = fetch("typo.db", "aws-offer", "azure-retail", "--region", "us-esat-1")
    say(rc == 1 and "nearest: us-east-1" in err, "a slip of the pen is not left out: %r" % err[-300:])


def names_that_are_none():
    for region in ("", "/", "aws/", "/us-east-1", "a b", "a\x01b", "ü/é", "aws/../x", "aws/x?y=1", "aws/" + "x" * 101,
                   "x" * 100000, "foo/us-east-1", "aws/us-east-1/x"):
        rc, doc, err, hosts = fetch("none.db", "--region", region)
        say(rc == 2 and doc is None and not hosts and "--region" in err and
            ("expected VENDOR/CODE" in err or "no vendor is called foo; the nearest is" in err) and len(err) < 400,
            "%r is refused: exit %d, %s" % (region[:20], rc, err[-150:].strip()))
    many = [a for i in range(65) for a in ("--region", "aws/us-east-%d" % i)]
    rc, _, err, hosts = fetch("none.db", *many)
    say(rc == 2 and not hosts and "more than 64 regions" in err, "65 regions: %r" % err)
    rc, doc, err, hosts = fetch("alias.db", "aws-offer", "--region", "AWS/us-east-1")
    say(rc == 0 and hosts == {GLOBAL} and doc["sources"]["done"] == 1, "a vendor in capitals: %s" % err.strip())


def configured():
    """Regions of the configuration, as a YAML list and as a text; what is wrong in them is said."""
    folder = os.path.join(WORK, "config", "gputier")
    os.makedirs(folder)

    def put(text):
        with open(os.path.join(folder, "config.yaml"), "w", encoding="utf-8") as f:
            f.write(text)

    for text in ("regions: [aws/us-gov-west-1, cn-north-1]\n", "regions:\n  - us-gov-west-1\n  - aws-cn/cn-north-1\n",
                 "regions: us-gov-west-1, aws/cn-north-1\n"):
        put(text)
        rc, doc, err, hosts = fetch("config%d.db" % len(text), "aws-offer")
        say(rc == 0 and hosts == {GLOBAL, CHINA} and {p["scope"] for p in doc["parts"]} ==
            {"us-gov-west-1/AmazonEC2", "cn-north-1/AmazonEC2"}, "%r: %s" % (text, err.strip()))
    for text, words in (("regions: [aws/us-east-1, foo/x]\n", "found 'foo/x': no vendor"),
                        ("regions: [aws/us-east-1, b?]\n", "found 'b?', expected VENDOR/CODE"),
                        ("regions: [{vendor: aws}]\n", "expected words"), ("regions: [[a]]\n", "expected words")):
        put(text)
        rc, _, err, hosts = fetch("config.db", "aws-offer")
        say(rc in (2, 4) and not hosts and words in err, "%r is refused: exit %d, %s" % (text, rc, err.strip()))
    os.remove(os.path.join(folder, "config.yaml"))


main([partitions, spot_hosts, bare_codes, names_that_are_none, configured])
