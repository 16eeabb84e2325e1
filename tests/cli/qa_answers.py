#!/usr/bin/env python3
"""Answers a sceptic would check by hand, over many questions: each rate in a bill is the price that `prices` lists,
lines add up to components and components to the total to the last digit, screen, CSV and JSON say the same, times are
work / rate plus set-up and never less, no plan breaks a constraint, and no purchase is used that was not allowed."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal, ROUND_HALF_EVEN

GPUTIER = os.environ.get("GPUTIER", "./gputier")
WORK = tempfile.mkdtemp(prefix="qa_answers.")
ENV = dict(os.environ, GPUTIER_DB=os.path.join(WORK, "g.db"), GPUTIER_NOW="2026-12-02T00:00:00Z", XDG_CONFIG_HOME=WORK)
failures = []


def say(ok, text):
    if not ok:
        print("FAIL " + text, flush=True)
        failures.append(text)


def run(*args):
    r = subprocess.run([GPUTIER, *args], env=ENV, capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def offers():
    """All list prices of the machine classes, by the key a plan cites."""
    rc, out, err = run("prices", "--format", "json")
    assert rc == 0, err
    table = {}
    for o in json.loads(out)["offers"]:
        if o["price_per_hour"] is not None:
            key = (o["vendor"], o["region"], o["instance_type"], o["purchase"])
            table.setdefault(key, set()).add((o["zone"], Decimal(o["price_per_hour"]), o["currency"], o["source_id"]))
    return table


RESNET = ["--model", "resnet50", "--epochs", "20", "--samples", "1281167"]
LLM = ["--model", "llama2-7b", "--epochs", "1", "--set", "workload.tokens=1B", "--set", "workload.sharding=zero3",
       "--set", "workload.activation_checkpointing=full", "--set", "workload.precision=bf16"]
LORA = ["--model", "llama3-8b", "--epochs", "1", "--set", "workload.tokens=50M", "--set", "workload.seq_len=2048",
        "--set", "workload.method=lora", "--set", "workload.lora_params=4.2M", "--set", "workload.precision=bf16"]
HOURS = ["--gpu", "A100-80GB", "--gpus", "4", "--gpu-hours", "340", "--checkpoint", "30min,12GB", "--setup", "25min"]
QUESTIONS = (
    HOURS + ["--deadline", "2026-12-11T18:00", "--budget", "700USD"],
    HOURS + ["--deadline", "9d", "--purchase", "on_demand"],
    HOURS + ["--purchase", "spot", "--currency", "EUR"],
    RESNET + ["--deadline", "48h", "--gpus", "1-8"],
    RESNET + ["--vendor", "alibaba", "--currency", "CNY"],
    RESNET + ["--region", "aws/us-east-1", "--data", "150GiB,1281167,aws/us-east-1,s3_standard", "--setup", "1h"],
    RESNET + ["--region", "azure/eastus", "--data", "150GiB,1281167,aws/us-east-1,s3_standard"],
    RESNET + ["--vendor", "azure", "--set", "discounts=[{vendor: azure, purchase: on_demand, factor: 0.5}]",
              "--purchase", "on_demand"],
    LLM + ["--gpu", "H100", "--gpus", "8-32", "--deadline", "7d", "--budget", "9000USD"],
    LORA + ["--deadline", "24h", "--gpus", "1-8"],
    LORA + ["--deadline", "24h", "--gpus", "1", "--confidence", "0.5"],
)


def bill_of(name, p, listed, factor):
    """Lines to components to total, and machine lines against the price list."""
    cost = p["cost"]
    sums = {}
    for l in p["bill"]:
        amount = Decimal(l["amount"])
        sums[l["component"]] = sums.get(l["component"], 0) + amount
        if l["currency"] == cost["currency"]:
            exact = Decimal(l["rate"]) * Decimal(l["quantity"])
            say(exact.quantize(Decimal("1e-12"), ROUND_HALF_EVEN) == amount, "%s: %s x %s is not %s" % (
                name, l["rate"], l["quantity"], l["amount"]))
        if l["component"] in ("compute_spot", "compute_on_demand") and l["unit"] == "hour":
            rows = listed.get((p["vendor"], p["region"], p["instance_type"], p["purchase"]["option"]), set())
            fits = [r for r in rows if r[3] == l["source_id"] and r[1] * factor == Decimal(l["rate"]) and
                    r[2] == l["currency"] and (not p["zones"] or r[0] is None or r[0] in p["zones"])]
            mixed = l["component"] != "compute_" + p["purchase"]["option"]
            say(mixed or fits, "%s: rate %s of %s is no listed price" % (name, l["rate"], l["text"]))
    for c, v in cost["components"].items():
        say(Decimal(v) == sums.get(c, 0), "%s: lines of %s make %s, not %s" % (name, c, sums.get(c, 0), v))
    say(sum(map(Decimal, cost["components"].values())) == Decimal(cost["total"]), name + ": components are not the total")
    say(Decimal(cost["p5"]) <= Decimal(cost["p50"]) <= Decimal(cost["p95"]), name + ": quantiles of the cost")


def time_of(name, p, asked, args):
    t, m = p["time"], p["time"]["makespan_s"]
    say(m["p5"] <= m["p50"] <= m["p95"], name + ": quantiles of the time")
    setup = {"25min": 1500, "1h": 3600}.get(args[args.index("--setup") + 1] if "--setup" in args else "", 600)
    if "--gpu-hours" in args:
        work = 340 * 3600 / 4
    else:
        samples = asked["samples"] or asked["tokens"] / (asked["seq_len"] or 4096)
        say(abs(t["epoch_s"] * t["samples_per_s"] / samples - 1) < 1e-6 or asked["tokens"] is not None,
            "%s: an epoch of %s s at %s/s is not %s samples" % (name, t["epoch_s"], t["samples_per_s"], samples))
        work = t["epoch_s"] * asked["epochs"]
    say(m["mean"] >= (work + setup) * (1 - 1e-9), "%s: %s s is less than work %s + set-up %s" % (
        name, m["mean"], work, setup))
    hours = sum(Decimal(l["quantity"]) for l in p["bill"] if l["unit"] == "hour" and l["component"] in (
        "compute_spot", "compute_on_demand", "interruption_waste"))
    say(hours >= Decimal(p["instances"]) * Decimal((work + setup) / 3600) * (1 - Decimal("1e-9")),
        "%s: %s machine-hours are billed for %s of work" % (name, hours, (work + setup) / 3600))


def texts_agree(name, d, args):
    """The screen shows the JSON's total rounded, its parts add up as shown; CSV has every digit."""
    p = d["plans"][0]
    _, out, _ = run("plan", *args, "--top", "3")
    part = out[out.index("Why plan 1"):]
    shown = dict(re.findall(r"^  ([a-z_]+) +([\d,]+\.\d\d) [A-Z]{3}", part, re.M))
    shown = {k: Decimal(v.replace(",", "")) for k, v in shown.items()}
    total = Decimal(p["cost"]["total"]).quantize(Decimal("0.01"), ROUND_HALF_EVEN)
    say(shown.get("total") == total, "%s: the screen shows %s of %s" % (name, shown.get("total"), p["cost"]["total"]))
    say(sum(v for k, v in shown.items() if k != "total") == total, name + ": the parts shown are not the total shown")
    lines = re.findall(r"= ([\d,]+\.\d\d) [A-Z]{3}  \(", part)
    say(len(lines) == len(p["bill"]) and sum(Decimal(v.replace(",", "")) for v in lines) == total,
        "%s: the bill's lines as shown make %s, the total is %s" % (
            name, sum(Decimal(v.replace(",", "")) for v in lines), total))
    _, out, _ = run("plan", *args, "--top", "3", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    for row, q in zip(rows, d["plans"]):
        say(row["total"] == q["cost"]["total"] and all(row[c] == v for c, v in q["cost"]["components"].items()) and
            row["instance_type"] == q["instance_type"] and row["currency"] == q["cost"]["currency"],
            "%s: CSV and JSON differ in plan %d" % (name, q["rank"]))
    say(len(rows) == len(d["plans"]), name + ": CSV has as many plans as JSON")


def ask(args, listed):
    name = " ".join(args)
    rc, out, err = run("plan", *args, "--top", "3", "--format", "json")
    if rc != 0:
        say(False, "%s: status %d %s" % (name, rc, err))
        return
    d = json.loads(out)
    value = lambda flag: args[args.index(flag) + 1] if flag in args else None
    asked = {"epochs": float(value("--epochs") or 0), "samples": float(value("--samples") or 0), "tokens": None,
             "seq_len": None}
    for a in args:
        if a.startswith("workload.tokens="):
            asked["tokens"] = float(a.split("=")[1].replace("B", "e9").replace("M", "e6"))
        if a.startswith("workload.seq_len="):
            asked["seq_len"] = float(a.split("=")[1])
    factor = Decimal("0.5") if "discounts" in name else 1
    last = None
    for p in d["plans"]:
        where = "%s: plan %d" % (name, p["rank"])
        bill_of(where, p, listed, factor)
        time_of(where, p, asked, args)
        total = Decimal(p["cost"]["total"])
        say(p["cost"]["at_least"] or last is None or total >= last, where + ": dearer plans stand before cheaper ones")
        last = None if p["cost"]["at_least"] else total
        if value("--budget"):
            say(total <= Decimal(value("--budget")[:-3]), where + ": over the budget")
        if value("--deadline"):
            say(p["time"]["deadline_probability"] >= float(value("--confidence") or 0.95) - 1e-9,
                where + ": not sure enough")
        if value("--purchase"):
            say(p["purchase"]["option"] == value("--purchase"), where + ": bought otherwise than allowed")
        if value("--gpus"):
            lo, _, hi = value("--gpus").partition("-")
            say(int(lo) <= float(p["gpu_count"]) <= int(hi or lo), where + ": %s GPUs" % p["gpu_count"])
        if value("--vendor"):
            say(p["vendor"] == value("--vendor"), where + ": another vendor")
    if not d["plans"][0]["cost"]["at_least"]:
        say(Decimal(d["lower_bound"]) <= Decimal(d["plans"][0]["cost"]["total"]), name + ": the bound is above a plan")
    texts_agree(name, d, args)


def kept(tier, size, files, months=1, region="aws/us-east-1"):
    """What a plan charges for keeping one data set, and what `tier` says of the same where it stays."""
    data = ["--set", "data.0.name=d", "--set", "data.0.role=other", "--set", "data.0.size=" + size, "--set",
            "data.0.files=%d" % files, "--set", "data.0.lives_in=" + region, "--set", "data.0.tier=" + tier,
            "--set", "data.0.keep=%dmo" % months]
    rc, out, err = run("plan", *RESNET, "--region", region, *data, "--top", "1", "--format", "json")
    if rc != 0:
        say(False, "keeping on %s: %s" % (tier, err))
        return Decimal(0)
    return sum(Decimal(l["amount"]) for l in json.loads(out)["plans"][0]["bill"] if l["text"].startswith("d: "))


def rates(tier, component):
    with open("data/snapshot/storage_rates.csv", encoding="utf-8") as f:
        return [Decimal(r["rate"]) / Decimal(r["unit_qty"]) for r in csv.DictReader(f) if r["vendor"] == "aws" and
                r["region"] == "us-east-1" and r["tier"] == tier and r["component"] == component][0]


def storage():
    """Small files: vendors bill steps, minimum sizes, metadata and monitoring of each (storage-tiers.md R-EFS-02,
    R-EFS-03, R-S3-04, R-S3-06, R-S3-09, R-S3-11, R-S3-12). Worked out here by hand."""
    n, mean, gib = 1000000, 100 * 1000, Decimal(2 ** 30)
    size = "%dB" % (n * mean)
    step = -(-mean // 4096) * 4096
    hot = rates("s3_standard", "storage")
    for tier, expect in (
            ("s3_standard", n * mean * hot / gib),
            ("efs_standard", n * (step + 2048) * rates("efs_standard", "storage") / gib),
            ("efs_ia", n * (131072 * rates("efs_ia", "storage") + 2048 * rates("efs_standard", "storage")) / gib),
            ("s3_standard_ia", n * 131072 * rates("s3_standard_ia", "storage") / gib),
            ("s3_glacier_ir", n * 131072 * rates("s3_glacier_ir", "storage") / gib),
            ("s3_deep_archive", n * ((mean + 32768) * rates("s3_deep_archive", "storage") + 8192 * hot) / gib),
            ("s3_intelligent_tiering", n * mean * rates("s3_intelligent_tiering", "storage_frequent") / gib)):
        got = kept(tier, size, n)
        say(abs(got / expect - 1) < Decimal("1e-6"), "keeping %d files on %s: %s, by hand %s" % (n, tier, got, expect))
    big, n = 10 ** 6, 100000
    expect = n * big * rates("s3_intelligent_tiering", "storage_frequent") / gib + n * rates(
        "s3_intelligent_tiering", "monitoring")
    got = kept("s3_intelligent_tiering", "%dB" % (n * big), n)
    say(abs(got / expect - 1) < Decimal("1e-6"), "monitoring: %s, by hand %s" % (got, expect))


def other_days():
    """Any day gives an answer or a plain no; a currency without a rate on that day makes a price unknown, never an
    error or a zero."""
    for day in ("1990-01-01", "2021-06-01", "2022-06-01", "2023-07-01", "2024-01-01", "2025-06-15", "2026-01-01", "2026-08-01",
                "2031-01-01"):
        for extra in ([], ["--vendor", "tencent"], ["--vendor", "alibaba"], ["--data", "10GiB,1000,alibaba/cn-beijing"]):
            rc, out, err = run("plan", *RESNET, *extra, "--as-of", day, "--top", "2", "--format", "json")
            say(rc in (0, 3), "%s as of %s: status %d %s" % (extra, day, rc, err))
            if rc != 0:
                continue
            for p in json.loads(out)["plans"]:
                say(sum(map(Decimal, p["cost"]["components"].values())) == Decimal(p["cost"]["total"]),
                    "%s as of %s: sums" % (extra, day))
                say(all(l["as_of"] <= day + "T23:59:59Z" for l in p["bill"]),
                    "%s as of %s: a later price is used: %s" % (extra, day, [l["as_of"] for l in p["bill"]]))
    rc, out, err = run("plan", *RESNET, "--vendor", "tencent", "--as-of", "2024-01-01", "--top", "1", "--format", "json")
    p = json.loads(out)["plans"][0]
    say(p["cost"]["at_least"] and any("CNY" in n and "exchange rate" in n for n in p["notes"]),
        "without a rate for CNY the total is at least")
    rc, out, err = run("plan", *RESNET, "--vendor", "tencent", "--as-of", "2024-01-01", "--top", "1", "--format", "json",
                       "--fx", "CNY=7.1@2024-01-01")
    say(not json.loads(out)["plans"][0]["cost"]["at_least"], "with --fx it is exact")


storage()
other_days()
listed = offers()
for q in QUESTIONS:
    ask(list(q), listed)
print("%d questions, %d failures" % (len(QUESTIONS), len(failures)))
sys.exit(1 if failures else 0)
