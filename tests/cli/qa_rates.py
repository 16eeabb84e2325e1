#!/usr/bin/env python3
"""Exchange rates that the user gives (--fx) and the currency asked for (--currency): every command
follows them exactly, refuses what is no rate, and says which rate it used."""
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

GPUTIER = os.environ.get("GPUTIER", "./gputier")
WORK = tempfile.mkdtemp(prefix="qa_rates.")
ENV = dict(os.environ, GPUTIER_DB=os.path.join(WORK, "g.db"), GPUTIER_NOW="2026-12-02T00:00:00Z",
           XDG_CONFIG_HOME=WORK)
JOB = ["plan", "--gpu", "A100-80GB", "--gpus", "4", "--gpu-hours", "340", "--top", "1"]
failures = []


def say(ok, text):
    print(("ok   " if ok else "FAIL ") + text)
    if not ok:
        failures.append(text)


def run(*args):
    r = subprocess.run([GPUTIER, *args], env=ENV, capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def doc(*args):
    rc, out, err = run(*args, "--format", "json")
    if rc != 0:
        say(False, "%s: status %d: %s" % (args, rc, err))
        return {}
    return json.loads(out)


def prices_follow():
    usd = doc("prices", "--vendor", "azure", "--gpu", "A100", "--limit", "20")["offers"]
    eur = doc("prices", "--vendor", "azure", "--gpu", "A100", "--limit", "20", "--currency", "EUR",
              "--fx", "EUR=0.5@2026-11-01")["offers"]
    say(len(usd) == 20 and all(a["sku"] == b["sku"] and b["currency"] == "EUR" and
                               Decimal(a["price_per_hour"]) == 2 * Decimal(b["price_per_hour"])
                               for a, b in zip(usd, eur)), "prices in EUR are half of those in USD")
    native = doc("prices", "--vendor", "alibaba", "--gpu", "T4", "--purchase", "on_demand",
                 "--limit", "1", "--fx", "CNY=3.5@2026-11-01")["offers"][0]
    as_usd = doc("prices", "--vendor", "alibaba", "--gpu", "T4", "--purchase", "on_demand",
                 "--limit", "1", "--currency", "USD", "--fx", "CNY=3.5@2026-11-01")["offers"][0]
    say(native["currency"] == "CNY" and as_usd["currency"] == "USD" and
        abs(Decimal(native["price_per_hour"]) - Decimal("3.5") * Decimal(as_usd["price_per_hour"]))
        < Decimal("1e-10"), "a CNY price in USD is divided by the rate given")
    limit = Decimal(as_usd["price_per_hour"]) + Decimal("0.000001")
    one = doc("prices", "--vendor", "alibaba", "--gpu", "T4", "--purchase", "on_demand",
              "--max-price", str(limit) + "USD", "--fx", "CNY=3.5@2026-11-01")["offers"]
    say(len(one) >= 1, "filters compare at the rate given")
    rc, _, err = run("prices", "--currency", "EUR", "--limit", "1", "--fx", "EUR=0.5@2026-11-01")
    say(rc == 0 and "exchange rate: 0.5 EUR for 1 USD, of 2026-11-01" in err, "prices name the rate")


def plans_follow():
    usd, eur = doc(*JOB), doc(*JOB, "--currency", "EUR", "--fx", "EUR=0.5@2026-11-01")
    a, b = Decimal(usd["plans"][0]["cost"]["total"]), Decimal(eur["plans"][0]["cost"]["total"])
    say(eur["plans"][0]["cost"]["currency"] == "EUR" and abs(a - 2 * b) < Decimal("1e-9"),
        "a plan in EUR is half of that in USD: %s, %s" % (a, b))
    say(any("0.5 EUR" in w and "2026-11-01" in w for w in eur["warnings"]), "a plan names the rate")
    say(sum(map(Decimal, eur["plans"][0]["cost"]["components"].values())) == b,
        "its components add up in EUR")
    # the budget is compared at that rate: 150 EUR are 300 USD here, 100 EUR are 200
    say(run(*JOB, "--budget", "%dEUR" % (b + 1), "--fx", "EUR=0.5@2026-11-01")[0] == 0 and
        run(*JOB, "--budget", "%dEUR" % (b - 5), "--fx", "EUR=0.5@2026-11-01")[0] == 3,
        "a budget is compared at the rate given")


def refused():
    for bad in ("EUR", "EUR=", "EUR=0.9", "EUR=0@2026-01-01", "EUR=-1@2026-01-01",
                "EUR=nan@2026-01-01", "EUR=1e999@2026-01-01", "EUR=0.9@", "EUR=0.9@tomorrow",
                "eur=0.9@2026-01-01", "EURO=0.9@2026-01-01", "USD=2@2026-01-01", "=1@2026-01-01",
                ""):
        for command in (["prices", "--limit", "1"], JOB, ["sources"]):
            rc, out, err = run(*command, "--fx", bad)
            say(rc == 2 and out == "" and "--fx" in err, "--fx '%s' is refused by %s" %
                (bad, command[0]))
    rc, out, _ = run("prices", "--fx", "EUR=1@2026-01-01", "--fx", "EUR=2@2026-01-01")
    say(rc == 2 and out == "", "two rates of one currency are refused")
    for command in (["prices", "--limit", "1"], ["prices", "check"], JOB, ["calibrate"]):
        rc, out, err = run(*command, "--currency", "XXX")
        say(rc == 2 and out == "" and "XXX" in err,
            "a currency without a rate is refused by " + command[0])
        rc, out, _ = run(*command, "--currency", "XXX", "--fx", "XXX=2@2026-01-01")
        say(rc == 0 and out != "", "… and taken with one by " + command[0])


prices_follow()
plans_follow()
refused()
print("%d failures" % len(failures))
sys.exit(1 if failures else 0)
