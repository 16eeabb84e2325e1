#!/usr/bin/env python3
"""Faults that other programs had with views, units, currencies and the database
(../shared/oracles/known-faults.md), each by its number."""
import csv
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from decimal import Decimal

from little import GPUTIER, Box, check, csv_text, main
from makers import own, own_list, sky, SKY

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")


class Screen:
    """The interface on a terminal of its own."""

    def __init__(self, box, cols=200, rows=40):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.clear()
            os.environ.update(box.env, TERM="xterm-256color", LINES=str(rows), COLUMNS=str(cols), LC_ALL="C.UTF-8")
            os.execv(GPUTIER, [GPUTIER])
        self.seen = b""

    def read(self, seconds, until=None):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until and re.search(until, self.text())):
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:
                    break
        return self.text()

    def text(self):
        return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>])", " ", self.seen.decode(errors="replace"))

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def close(self):
        self.send("q")
        self.read(3, until="$^")
        try:
            os.close(self.fd)
        except OSError:
            pass
        return os.waitpid(self.pid, 0)[1]


def f007_the_same_figures_in_all_views():
    box = Box(data=DATA)
    for args in (("--purchase", "reserved_1y,reserved_3y,savings_plan_1y,committed_use_3y"),
                 ("--purchase", "reserved_1y", "--currency", "EUR"), ("--vendor", "aws-cn")):
        rows = box.offers(*args)
        table = list(csv.DictReader(io.StringIO(box.run("prices", "--format", "csv", *args).stdout)))
        check("as many rows %s" % (args,), (len(rows) > 50, len(table)), (True, len(rows)))
        fields = ("vendor", "region", "instance_type", "purchase", "price_state", "price_per_hour", "price_per_gpu_hour", "currency", "sku")
        check("JSON and CSV %s" % (args,), [tuple(r[f] or "" for f in fields) for r in rows], [tuple(r[f] for f in fields) for r in table])
    # an all-upfront term of three years, in the list, in its history, in a plan, its report and on the screen
    box = Box(data=DATA)
    box.take("prices-csv", own_list([own("t", "0", gpu="A100-80GB", region="r", purchase="reserved_3y", upfront="1937.77", payment="all"),
                                     own("t", "0.123", gpu="A100-80GB")]).replace(",upfront,", ",upfront,"))
    hour = str((Decimal("1937.77") / 26280).quantize(Decimal("1e-12")))
    at = ("--region", "oci/r", "--purchase", "reserved_3y")
    o = box.offers(*at)[0]
    check("JSON", (o["price_per_hour"], o["upfront"]), (hour, "1937.77"))
    check("CSV", hour in box.run("prices", *at, "--format", "csv").stdout)
    check("the table, to its six decimals", "%.6f" % Decimal(hour) in box.run("prices", *at).stdout)
    screen = Screen(box)
    screen.read(8, until=r"0\.0737|Prices")
    screen.send("1")
    screen.read(2)
    screen.send("f")
    screen.send("vendor=oci gpu=A100 gpus=1\r")
    text = screen.read(6, until=r"0\.07374")
    check("the screen: " + repr(text[-600:] if "0.0737" not in text else ""), "0.0737" in text)
    check("… ends well", screen.close(), 0)
    need = ("--gpu", "A100-80GB", "--gpus", "1", "--gpu-hours", "26280", "--region", "oci/r")
    made = json.loads(box.run("plan", *need, "--purchase", "reserved_3y", "--save", "x", "--format", "json").stdout)["plans"]
    page = os.path.join(box.dir, "x.html")
    r = box.run("report", "x", "-o", page)
    check("a report of it: " + r.stderr, r.returncode, 0)
    total = made[0]["cost"]["total"]
    with open(page, encoding="utf-8") as f:
        check("its total in HTML", "{:,.2f}".format(Decimal(total).quantize(Decimal("0.01"))) in f.read())


def f069_months_of_720_730_744_hours():
    box = Box()
    box.take("prices-csv", own_list([own("t", "1"), own("m", "", purchase="monthly", price_month="730")]))
    for per, head, figure in (("month", "per month (730 h)", "730.00"), ("730h", "per month (730 h)", "730.00"), ("720h", "per 720 h", "720.00"),
                              ("744h", "per 744 h", "744.00")):
        r = box.run("prices", "--per", per)
        check(per, (head in r.stdout, r.stdout.count(" " + figure + " ")), (True, 2))
    check("a limit is meant in the same months", [box.rows("instance_type", args=("--per", p, "--max-price", "725")) != [] for p in
                                                  ("720h", "month", "744h")], [True, False, False])
    for wrong in ("0h", "8785h", "h", "730", "-720h", "720.5h", "1e3h", "720 h"):
        check("refused: " + wrong, box.run("prices", "--per", wrong).returncode, 2)
    box = Box(data=DATA)
    r = box.run("plan", "--gpu", "A10", "--gpus", "1", "--gpu-hours", "10", "--vendor", "oci")
    check("plans say how long a month is", "a month is 730 h" in r.stdout + r.stderr)


def f071_what_rounds_up_and_what_does_not():
    def bill(operations, **more):
        case = {"id": "x", "kind": "r2", "title": "x", "rules": ["R-R2-01"], "sources": [], "inputs": {
            "gb_days": [[1, 30]], "class_a_ops": operations, "class_b_ops": 0, "per_gb_month": "0.015", "class_a_per_million": "4.50",
            "class_b_per_million": "0.36", "free": {"gb_month": 0, "class_a_ops": 0, "class_b_ops": 0}, **more}}
        text = {"format": "gputier-cases/storage/1", "documentation": "", "currency": "USD", "tolerance": "0.000001",
                "cases": [dict(case, expected={"components": {"storage": "0.015", "class_a": str(Decimal("4.50") * -(-operations // 10 ** 6))},
                                               "total": str(Decimal("0.015") + Decimal("4.50") * -(-operations // 10 ** 6))})]}
        return text
    with open(os.path.join(os.environ.get("GPUTIER_SHARED", "../shared"), "oracles", "storage-examples.json"), encoding="utf-8") as f:
        head = json.load(f)
    box = Box()
    for operations in (0, 1, 1000, 999999, 1000000, 1000001, 2500000):
        text = bill(operations)
        text.update({k: head[k] for k in ("format", "documentation", "currency", "tolerance")})
        r = box.run("verify", box.file("case.json", json.dumps(text)))
        check("%d operations by the million: %s" % (operations, r.stdout[-200:]), (r.returncode, "1 ok, 0 failed" in r.stdout), (0, True))
    # what is priced by the thousand elsewhere is billed by the piece
    box.take("prices-csv", csv_text("vendor,region,product,tier,component,unit,from_qty,to_qty,usd,source,date",
                                    [("aws", "us-east-1", "S3", "Standard", "put", "1k requests", "0", "", "0.005", "x", "2026-11-01")]))
    rate = box.json("prices", "storage")["rates"][0]
    check("the unit is told", (rate["unit"], rate["unit_qty"], rate["rate"]), ("request", 1000, "0.005"))


def f091_never_relabelled():
    box = Box()
    box.take("prices-csv", own_list([own("y", "60", currency="CNY"), own("d", "1")]))
    check("yuan stay yuan", box.rows("instance_type", "price_per_hour", "currency"), [("d", "1", "USD"), ("y", "60", "CNY")])
    r = box.run("prices", "--currency", "CNY")
    check("no rate, no yuan: " + r.stderr, (r.returncode, r.stdout), (2, ""))
    check("in dollars it stays what it is", box.rows("instance_type", "price_per_hour", "currency", args=("--currency", "USD")),
          [("d", "1", "USD"), ("y", "60", "CNY")])
    r = box.run("prices", "--currency", "CNY", "--fx", "CNY=7.5@2026-11-30")
    check("with a rate, and its date", (r.returncode, "7.5 CNY for 1 USD, of 2026-11-30" in r.stderr, "7.500000" in r.stdout), (0, True, True))


def f097_readers_never_fail_because_of_a_writer():
    box = Box()
    rows = own_list([own("t%05d" % i, "1.%d" % i, region="r%d" % (i % 40)) for i in range(10000)])
    box.take("prices-csv", rows, name="big.csv")
    changed = box.file("big2/big.csv", rows.replace(",1.", ",2."))
    back = box.file("big3/big.csv", rows)
    screen = Screen(box)
    screen.read(5, until="Prices")
    writers = [subprocess.Popen(["sh", "-c", "for i in 1; do \"$0\" import prices-csv \"$1\" --quiet && \"$0\" import prices-csv \"$2\" --quiet"
                                 " || exit 1; done", GPUTIER, changed, back], env=box.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True) for _ in range(2)]
    answers, states = 0, set()
    while any(w.poll() is None for w in writers) and answers < 400:
        for args in (("prices", "--limit", "3"), ("sources",), ("changes",)):
            r = box.run(*args, "--format", "json")
            answers += 1
            states.add((r.returncode, "locked" in r.stderr or "busy" in r.stderr, bool(r.stdout)))
        first = box.offers("--instance", "t0000?", "--limit", "9")
        check("one list or the other, never a mixture", len({o["price_per_hour"].split(".")[0] for o in first}), 1)
    errors = [w.communicate()[1] for w in writers]
    check("both writers: %s" % errors, [w.returncode for w in writers], [0, 0])
    check("every reader, %d times" % answers, (states, answers > 6), ({(0, False, True)}, True))
    screen.send("1")
    screen.read(3, until="t00000")
    text = screen.text()
    check("the interface went on", ("locked" in text, screen.close()), (False, 0))


def unit_of_line(name, old, new):
    box = Box()
    r = box.take("skypilot", csv_text(SKY.replace("," + old + ",", "," + new + ","), [sky("t", "1")]), "--vendor", "fluidstack", status=4)
    check(name, ("no column '%s'" % old in r.stderr, box.offers()), (True, []))


def f165_labels_of_units():
    # a unit that nobody knows is told with its line, not guessed
    head = "vendor,region,product,tier,component,unit,from_qty,to_qty,usd,source,date"
    for unit, held in (("GiB-month", ("gib_month", 1)), ("1k requests", ("request", 1000)), ("10k operations", ("request", 10000)),
                       ("1M requests", ("request", 1000000))):
        box = Box()
        component = "storage" if "month" in unit else "put"
        box.take("prices-csv", csv_text(head, [("gcp", "us-east1", "GCS", "Nearline", component, unit, "0", "", "0.01", "x", "2026-11-01")]))
        rate = box.json("prices", "storage")["rates"][0]
        check(unit, (rate["unit"].replace("-", "_"), rate["unit_qty"]), held)
    for unit in ("furlong", "GiB-fortnight", "", "1 GB/Montth", "100"):
        box = Box()
        r = box.run("import", "prices-csv", box.file("u.csv", csv_text(head, [
            ("gcp", "us-east1", "GCS", "Nearline", "storage", "GiB-month", "0", "", "0.01", "x", "2026-11-01"),
            ("gcp", "us-east1", "GCS", "Nearline", "retrieval", unit, "0", "", "0.01", "x", "2026-11-01")])))
        check("unknown %r: %s" % (unit, r.stderr), "u.csv:3" in r.stderr and "unit" in r.stderr)
        check("… and no rate of it", [x["component"] for x in box.json("prices", "storage").get("rates", []) if x["component"] == "retrieval"], [])
    unit_of_line("a column by another name", "Price", "PriceUSD")


if not os.path.exists(os.path.join(os.environ.get("GPUTIER_SHARED", "../shared"), "oracles")):
    print("SKIPPED: ../shared/oracles is missing")
    sys.exit(77)
main([f007_the_same_figures_in_all_views, f069_months_of_720_730_744_hours, f071_what_rounds_up_and_what_does_not, f091_never_relabelled,
      f097_readers_never_fail_because_of_a_writer, f165_labels_of_units])
