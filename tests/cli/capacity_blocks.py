#!/usr/bin/env python3
"""Capacity blocks of AWS: the command line's JSON and the API's XML give the same rows, by the machine and
hour, of each zone and type the cheapest; what has begun, is sold by the rack or makes no sense is left out
and told; a fetch asks each type that is sold so, a type that a region has not is no fault; a plan
has them as they are sold."""
import json
import os
import threading
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from little import Box, check, main

KEYS = {"CapacityBlockOfferingId": "cb-1", "InstanceType": "p5.48xlarge", "AvailabilityZone": "us-east-1a", "InstanceCount": 2,
        "StartDate": "2026-12-05T11:30:00Z", "EndDate": "2026-12-06T11:30:00Z", "CapacityBlockDurationHours": 24,
        "UpfrontFee": "1509.888", "CurrencyCode": "USD", "Tenancy": "default"}


def block(**more):
    return {**KEYS, **more}


def as_json(*blocks):
    return json.dumps({"CapacityBlockOfferings": blocks})


def as_xml(*blocks, token=""):
    def name(k):
        return k[0].lower() + k[1:]
    items = "".join("<item>" + "".join("<%s>%s</%s>" % (name(k), v, name(k)) for k, v in b.items()) + "</item>" for b in blocks)
    return ('<?xml version="1.0" encoding="UTF-8"?><DescribeCapacityBlockOfferingsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
            "<requestId>r</requestId><capacityBlockOfferingSet>%s</capacityBlockOfferingSet><nextToken>%s</nextToken>"
            "</DescribeCapacityBlockOfferingsResponse>" % (items, token))


FIELDS = ("zone", "instance_type", "gpu", "gpu_count", "purchase", "price_per_hour", "currency")


def json_and_xml_are_the_same():
    blocks = (block(), block(CapacityBlockOfferingId="cb-2", AvailabilityZone="us-east-1b", InstanceCount=1, UpfrontFee="100",
                             CapacityBlockDurationHours=47, CapacityBlockDurationMinutes=30),
              block(CapacityBlockOfferingId="cb-3", InstanceType="p4d.24xlarge", InstanceCount=1, UpfrontFee="354"))
    # 1509.888 / (2 x 24), 100 / 47.5, 354 / 24
    wanted = [("us-east-1a", "p4d.24xlarge", "A100-40GB SXM4", 8, "capacity_block", "14.75", "USD"),
              ("us-east-1a", "p5.48xlarge", "H100 SXM", 8, "capacity_block", "31.456", "USD"),
              ("us-east-1b", "p5.48xlarge", "H100 SXM", 8, "capacity_block", "2.105263157895", "USD")]
    for kind in ("auto", "aws-capacity-block"):
        for text in (as_json(*blocks), as_xml(*blocks), as_xml(*blocks[::-1])):
            box = Box()
            box.take(kind, text)
            check("%s: rows" % kind, sorted(box.rows(*FIELDS)), wanted)
    notes = {o["sku"]: o["note"] for o in box.json("prices")["offers"]}
    check("what is bought is told", notes["cb-1"], "a block of 24 h 00 min from 2026-12-05T11:30:00Z, 2 machines, paid at once: 1509.888 USD")


def the_cheapest_hour_and_then_the_first_start():
    cheap = block(CapacityBlockOfferingId="cheap", UpfrontFee="1400")
    later = block(CapacityBlockOfferingId="later", UpfrontFee="2800", CapacityBlockDurationHours=48, StartDate="2026-12-09T11:30:00Z",
                  EndDate="2026-12-11T11:30:00Z")
    for blocks in ([block(), cheap, later], [later, cheap, block()], [cheap, later, block()]):
        box = Box()
        r = box.take("aws-capacity-block", as_json(*blocks))
        check("the cheap one", box.rows("sku"), [("cheap",)])
        check("the others are told: " + r.stdout, "dearer or later blocks of the same machine 2" in r.stdout)


def what_is_left_out():
    bad = [dict(UpfrontFee="0"), dict(UpfrontFee="-3"), dict(UpfrontFee="cheap"), dict(UpfrontFee=""), dict(InstanceCount=0),
           dict(InstanceCount="1.5"), dict(CapacityBlockDurationHours=0), dict(CapacityBlockDurationHours=-24),
           dict(CapacityBlockDurationHours=10**8), dict(CapacityBlockDurationMinutes=60), dict(CurrencyCode="$"), dict(AvailabilityZone="moon"),
           dict(StartDate="soon"), dict(EndDate="2026-12-05T11:30:00Z"), dict(InstanceType="")]
    for change in bad:
        for form in (as_json, as_xml):
            box = Box()
            r = box.take("aws-capacity-block", form(block(**change), block(AvailabilityZone="us-east-1c", CapacityBlockOfferingId="good")))
            check("%s: left out" % change, box.rows("sku"), [("good",)])
            check("%s: told: %s" % (change, r.stderr), "left out" in r.stdout or "warning" in r.stderr)
    box = Box()
    r = box.take("aws-capacity-block", as_json(block(), block(AvailabilityZone="us-east-1b", StartDate="2026-12-02T09:00:00Z"),
                                               block(AvailabilityZone="us-east-1c", UltraserverType="u-p6e-gb200x36")))
    check("begun, or a rack: " + r.stdout, (len(box.rows("sku")), "begun 1" in r.stdout, "UltraServers" in r.stdout), (1, True, True))
    check("gone when it starts", Box.json(box, "prices", GPUTIER_NOW="2026-12-05T12:00:00Z").get("offers", []), [])
    before = box.rows("sku")
    r = box.run("import", "aws-capacity-block", box.file("list", as_json()))
    check("none is offered: " + r.stderr, (r.returncode, "no capacity block is offered" in r.stderr, box.rows("sku")), (1, True, before))


asked, answers = [], {}


class Ec2(BaseHTTPRequestHandler):
    def log_message(self, *a):  # pylint: disable=arguments-differ
        pass

    def do_POST(self):  # pylint: disable=invalid-name
        q = {k: v[0] for k, v in parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()).items()}
        asked.append((self.path, q, self.headers["Authorization"] or ""))
        status, body = answers.get((q["InstanceType"], q.get("NextToken", "")), (200, as_xml()))
        body = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def refusal(code):
    return "<Response><Errors><Error><Code>%s</Code><Message>said so</Message></Error></Errors></Response>" % code


def fetched():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Ec2)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def fetch(box):
        asked.clear()
        return box.run("fetch", "aws-capacity-block", "--region", "aws/us-east-1", "--tries", "2", AWS_ACCESS_KEY_ID="AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY="s3cr3t",
                       GPUTIER_URL_AWS_CAPACITY_BLOCK="http://127.0.0.1:%d/REGION" % server.server_port)
    answers.update({("p5.48xlarge", ""): (200, as_xml(block(UpfrontFee="1600"), token="t+1/=")), ("p5.48xlarge", "t+1/="): (200, as_xml(block())),
                    ("p4d.24xlarge", ""): (400, refusal("InvalidParameterValue")), ("p5e.48xlarge", ""): (400, refusal("Unsupported"))})
    box = Box()
    r = fetch(box)
    check("taken: " + r.stderr, (r.returncode, box.rows("instance_type", "price_per_hour")), (0, [("p5.48xlarge", "31.456")]))
    types = {q["InstanceType"] for _, q, _ in asked}
    check("each type that is sold so", types >= {"p4d.24xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "trn2.48xlarge"})
    check("one machine for a day, signed", {(p, q["Action"], q["InstanceCount"], q["CapacityDurationHours"], "/us-east-1/ec2/aws4_request" in a)
                                            for p, q, a in asked}, {("/us-east-1/", "DescribeCapacityBlockOfferings", "1", "24", True)})
    check("each once", len(asked), len(types) + 1)
    before = box.rows("sku", "price_per_hour")
    for status, code in ((403, "UnauthorizedOperation"), (401, "AuthFailure"), (500, "InternalError")):
        answers["p4de.24xlarge", ""] = (status, refusal(code))
        r = fetch(box)
        check("%s: fails, told, prices stay: %s" % (code, r.stderr), (r.returncode, code in r.stderr, box.rows("sku", "price_per_hour")), (1, True, before))
    sold_out(box, fetch)
    server.shutdown()


def sold_out(box, fetch):
    """What nobody can book any more is gone at the next fetch, whatever share of the list it is; it comes back."""
    free = {(name, ""): (200, as_xml(*(block(InstanceType=name, AvailabilityZone="us-east-1" + z, CapacityBlockOfferingId="%s-%s" % (name, z)) for z in "abc")))
            for name in ("p4d.24xlarge", "p5.48xlarge", "p5e.48xlarge", "trn2.48xlarge")}
    answers.clear()
    answers.update(free)
    fetch(box)
    kept = box.rows("sku", "price_per_hour")
    check("twelve blocks", len(kept), 12)
    for name in ("p4d.24xlarge", "p5.48xlarge", "p5e.48xlarge"):
        answers[name, ""] = (200, as_xml())
    r = fetch(box)
    check("three of four types are sold out: " + r.stderr, (r.returncode, len(box.rows("sku"))), (0, 3))
    # an answer that cannot be read, or types that a region knows nothing of, do not say that all is sold out
    before = box.rows("sku", "price_per_hour")
    for key, answer in ((("trn2.48xlarge", ""), (200, as_xml(block(UpfrontFee="cheap")))), (("p5.48xlarge", ""), (200, "<html></html>"))):
        answers["trn2.48xlarge", ""] = (200, as_xml())
        answers[key] = answer
        r = fetch(box)
        check("%s says nothing: %s" % (answer, r.stderr), (r.returncode != 0, box.rows("sku", "price_per_hour")), (True, before))
    answers.update({(q["InstanceType"], ""): (400, refusal("InvalidParameterValue")) for _, q, _ in list(asked)})
    r = fetch(box)
    check("no type is known: " + r.stderr, (r.returncode, "is known there" in r.stderr, box.rows("sku", "price_per_hour")), (1, True, before))
    answers.clear()
    r = fetch(box)
    check("all is sold out: %s%s" % (r.stdout, r.stderr), (r.returncode, box.json("prices").get("offers", [])), (0, []))
    r = fetch(box)
    check("still: " + r.stderr, (r.returncode, box.json("prices").get("offers", [])), (0, []))
    answers.update(free)
    r = fetch(box)
    check("free again: " + r.stderr, (r.returncode, box.rows("sku", "price_per_hour")), (0, kept))


def planned_with_as_sold():
    """Whole days, whole weeks above 14 days, the wait for its start, 30 minutes lost at its end."""
    box = Box(data=os.environ.get("GPUTIER_DATA", "data"))
    box.take("aws-capacity-block", as_json(block()))
    check("found by its purchase option", box.rows("sku", args=("--purchase", "capacity_block")), [("cb-1",)])

    def plan(hours, deadline, purchase="capacity_block", status=0):
        scenario = ("schema: gputier/scenario/1\nname: x\npurchase: [%s]\nworkload: { kind: training, gpu_hours: { gpu: H100-SXM, hours: %s }, setup: 0s, "
                    "checkpoint: { every: off } }\nconstraints: { deadline: %sh, gpus: { count: 8-8 } }\n" % (purchase, hours * 8, deadline))
        r = box.run("plan", box.file("s.yaml", scenario), "--format", "json")
        check("plan of %s h: %s" % (hours, r.stderr), r.returncode, status)
        return json.loads(r.stdout)["plans"][0] if status == 0 else r
    wait = 73.5  # 2 December 10:00 to 5 December 11:30
    for hours, sold in ((1, 24), (23.5, 24), (23.6, 48), (100, 120), (14 * 24 - 0.5, 14 * 24), (14 * 24, 21 * 24), (500, 21 * 24), (26 * 7 * 24 - 0.5, 26 * 7 * 24)):
        p = plan(hours, 8000)
        line = p["bill"][0]
        check("%s h of work" % hours, (p["purchase"]["option"], line["component"], Decimal(line["quantity"]), Decimal(line["amount"])),
              ("capacity_block", "commitment", sold, Decimal("31.456") * sold))
        check("%s h: after the wait" % hours, p["time"]["makespan_s"]["p95"], round((wait + hours) * 3600))
        note = p["notes"][0]
        check("%s h: %s" % (hours, note), ("it begins 2026-12-05T11:30:00Z, 73.5 h from now" in note, "on demand (list" in note), (True, True))
    r = box.run("explain", os.path.join(box.dir, "s.yaml"))
    check("explained: " + r.stderr, [x.split(":")[1].split()[0] for x in r.stdout.splitlines() if "until the block begins" in x], ["264600"])
    plan(1, wait + 2)
    r = box.run("export", "aws-run-instances", os.path.join(box.dir, "s.yaml"))
    check("a launch names the reservation that was bought: " + r.stderr,
          (r.returncode, r.stdout, "bought first" in r.stderr and "reservation id" in r.stderr), (3, "", True))
    plan(1, wait - 1, status=3)
    plan(26 * 7 * 24, 8000, status=3)


main([json_and_xml_are_the_same, the_cheapest_hour_and_then_the_first_start, what_is_left_out, fetched, planned_with_as_sold])
