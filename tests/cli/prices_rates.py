#!/usr/bin/env python3
"""`prices` and its lists of rates (storage, transfer, interruption) as a buyer reads them: table, CSV and JSON have the
same rows, --limit cuts them and 0 counts them, --currency converts every amount at the rate that is named, an option
that says nothing to a list or a name that no row has is refused instead of being passed over."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

import json_schema

GPUTIER = os.environ.get("GPUTIER", "./gputier")
WORK = tempfile.mkdtemp(prefix="prices_rates.")
ENV = dict(os.environ, GPUTIER_DB=os.path.join(WORK, "g.db"), GPUTIER_NOW="2026-12-02T00:00:00Z", XDG_CONFIG_HOME=WORK)
KINDS = {"storage": "storage-rates", "transfer": "transfer-rates", "interruption": "interruption"}
FX = ["--currency", "EUR", "--fx", "EUR=0.5@2026-11-01"]
failures = []


def say(ok, text):
    print(("ok   " if ok else "FAIL ") + text)
    if not ok:
        failures.append(text)


def run(*args):
    r = subprocess.run([GPUTIER, "prices", *args], env=ENV, capture_output=True, text=True, timeout=60, check=False)
    return r.returncode, r.stdout, r.stderr


def doc(kind, *args):
    rc, out, err = run(kind, *args, "--format", "json")
    d = json.loads(out) if rc == 0 else {"rates": [], "costs": None, "error": err}
    wrong = json_schema.validate(d, json_schema.load(KINDS[kind]))
    say(not wrong, "%s %s: %s" % (kind, args, wrong[:2] or "as its schema says"))
    return d


def same_rows():
    for kind in KINDS:
        rows = doc(kind)["rates"]
        rc, out, _ = run(kind, "--format", "csv")
        got = list(csv.DictReader(io.StringIO(out)))
        want = [{k: "" if v is None else ("%.10g" % v if isinstance(v, float) else str(v)) for k, v in r.items()}
                for r in rows]
        say(rc == 0 and len(rows) > 100 and got == want, "%s: CSV has the %d rows of JSON, column by column" % (kind, len(rows)))
        lines = run(kind)[1].splitlines()
        say(len(lines) == len(rows) + 1, "%s: so has the table" % kind)
        say(doc(kind, "--limit", "3")["rates"] == rows[:3], "%s: --limit 3 gives the first three" % kind)
        rc, out, err = run(kind, "--limit", "0")
        say(rc == 0 and len(out.splitlines()) == 1 and "%d rates pass these filters" % len(rows) in err,
            "%s: --limit 0 says how many there are: %s" % (kind, err.strip()))
    rc, out, err = run("--limit", "0", "--gpu", "H100")
    n = len(json.loads(run("--gpu", "H100", "--format", "json")[1])["offers"])
    say(rc == 0 and "%d offers pass these filters" % n in err and "no offer" not in err, "offers: --limit 0 counts: " + err.strip())
    rc, out, err = run("--gpu", "H100", "--max-price", "0.0001")
    say(rc == 0 and "no offer passes" in err, "offers: none that passes is told apart from none that is shown")
    rc, out, err = run("storage", "--vendor", "lambda")
    say(rc == 0 and "no rate passes" in err, "rates: a vendor without any")
    say(len(doc("storage", "--vendor", "wasabi")["rates"]) > 0, "rates: a vendor that only stores is known")
    say({r["instance_type"].split(".")[0] for r in doc("interruption", "-i", "p5")["rates"]} == {"p5"},
        "interruption: --instance takes a family as offers do")


def other_currency():
    for kind, place in (("storage", ["--vendor", "aws", "--region", "aws/us-east-1"]),
                        ("transfer", ["--vendor", "aws", "--to", "internet"])):
        usd, eur = doc(kind, *place, "--amount", "60TiB"), doc(kind, *place, "--amount", "60TiB", *FX)
        say(len(usd["rates"]) > 5 and all(a["currency"] == "USD" and b["currency"] == "EUR" and Decimal(b["rate"]) * 2 - Decimal(a["rate"])
            in (0, Decimal("1e-12"), Decimal("-1e-12")) for a, b in zip(usd["rates"], eur["rates"])), kind + ": every rate is converted")
        say(usd["costs"] and all(b["currency"] == "EUR" and abs(Decimal(b["cost"]) * 2 - Decimal(a["cost"])) <= Decimal("1e-12")
            for a, b in zip(usd["costs"], eur["costs"])), kind + ": and what an amount costs, once, after the sum")
        rc, _, err = run(kind, *place, *FX)
        say(rc == 0 and "exchange rate: 0.5 EUR for 1 USD, of 2026-11-01" in err, kind + ": the rate is named")
    rc, _, err = run("storage", "--currency", "XXX")
    say(rc == 2 and "no exchange rate" in err, "a currency without a rate is refused")


def refused():
    fit = {"storage": "vendor region limit tier amount reads", "transfer": "vendor region limit to amount",
           "interruption": "vendor region limit instance",
           "": "vendor region gpu gpus gpu-mem vcpus mem instance purchase max-price sort limit per"}
    fit["check"] = fit[""]
    value = {"gpus": "1", "gpu-mem": "1", "vcpus": "1", "mem": "1", "max-price": "1", "sort": "price", "limit": "1", "per": "hour",
             "amount": "1GB", "reads": "1", "vendor": "aws", "region": "aws/us-east-1", "gpu": "H100", "instance": "p5",
             "purchase": "spot", "tier": "s3_standard", "to": "internet"}
    for kind, own in fit.items():
        wrong = []
        for option, v in value.items():
            rc, out, err = run(*([kind] if kind else []), "--" + option, v)
            good = rc in (0, 3) if option in own.split() else rc == 2 and not out and "--%s says nothing to" % option in err
            wrong += [] if good else [(option, rc, err[:80])]
        say(not wrong, "%s: takes its %d options, refuses the others: %s" % (kind or "offers", len(own.split()), wrong[:3]))
    for kind, option, v, near in (("storage", "tier", "s3_standart", "s3_standard"), ("storage", "region", "us-esat-1", "us-east-1"),
                                  ("storage", "vendor", "wasaby", "wasabi"), ("transfer", "to", "intrenet", "internet"),
                                  ("interruption", "instance", "p5.48xlargee", "p5.48xlarge"),
                                  ("storage", "limit", "-1", "a number of rows")):
        rc, out, err = run(kind, "--" + option, v)
        say(rc == 2 and not out and v in err and near in err, "%s --%s %s: %s" % (kind, option, v, err.strip()))


same_rows()
other_currency()
refused()
print("%d failed" % len(failures))
sys.exit(1 if failures else 0)
