#!/usr/bin/env python3
"""verify on the model lists: accuracy, agreement with a second implementation of the throughput
model (tests/fit/fit_throughput.py), no look at expected values, unknown names, calibration,
input-pipeline rules, and cases made to break it."""
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fit"))
import fit_throughput as model  # noqa: E402

GPUTIER = os.environ.get("GPUTIER", "./gputier")
ORACLES = os.path.join(model.SHARED, "oracles")
failures = []


def check(ok, text):
    if not ok:
        failures.append(text)
        print("FAIL: " + text)


def verify(document, *options, status=None):
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "cases.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(document, f)
        env = dict(os.environ, GPUTIER_DB=os.path.join(home, "db"), HOME=home)
        r = subprocess.run([GPUTIER, "verify", path, "--format", "json", *options], env=env,
                           capture_output=True, text=True, timeout=120, check=False)
    if status is not None:
        check(r.returncode == status, "exit %d, wanted %d: %s" % (r.returncode, status, r.stderr))
    try:
        out = json.loads(r.stdout)
    except ValueError:
        check(False, "no JSON: %r %r" % (r.stdout[:200], r.stderr[:200]))
        return {"cases": [], "summary": {}}
    return out


def oracle(name):
    with open(os.path.join(ORACLES, name), encoding="utf-8") as f:
        return json.load(f)


def strip(document, keys):
    out = copy.deepcopy(document)
    for c in out["cases"]:
        for k in keys:
            c.pop(k, None)
    return out


def by_id(out):
    return {c["id"]: c for c in out["cases"]}


def throughput():
    values = model.read_params()
    for name, status in (("throughput.json", 0), ("throughput-2.json", None)):
        document = oracle(name)
        limits = () if status == 0 else ("--max-median", "0.15", "--max-p90", "0.45")
        out = verify(document, *limits, status=0)
        rows = by_id(out)
        check(len(rows) == len(document["cases"]), name + ": a case was left out")
        for c in document["cases"]:
            row = rows[c["id"]]
            check(row["computed"] and row["computed"]["throughput"] > 0, c["id"] + " not computed")
            lo, hi = row["computed"]["interval"]
            check(lo < row["computed"]["throughput"] < hi, c["id"] + ": interval")
            if c["scored"]:
                second = model.predict(c, values)
                check(abs(second / row["computed"]["throughput"] - 1) < 1e-6,
                      "%s: program %g, second implementation %g" %
                      (c["id"], row["computed"]["throughput"], second))
                check(row["ok"] == (lo <= c["throughput"] <= hi), c["id"] + ": verdict")
        bare = by_id(verify(strip(document, ("throughput", "implied_model_flops_utilisation")),
                            status=0))
        for i, row in rows.items():
            check(bare[i]["computed"] == row["computed"], i + ": depends on the expected value")
            check(bare[i]["ok"] is None, i + ": a verdict without an expected value")
    for how, most in (("same-gpu", .05), ("other-gpu", .10)):
        out = verify(oracle("throughput.json"), "--calibrate", how, status=0)
        median = out["summary"]["median_error"]
        check(median < most, "%s: median %g" % (how, median))
        errors = sorted(abs(r["computed"]["throughput"] / r["expected"]["throughput"] - 1)
                        for r in out["cases"] if r["scored"] and "calibrated_from" in r["computed"])
        s, last = out["summary"], len(errors) - 1
        rank = [(errors[int(q * last)], errors[min(last, int(q * last) + 1)], q * last % 1)
                for q in (.5, .9)]
        check(s["n_calibrated"] == len(errors) > 50 and
              all(abs(a + (b - a) * f - s["calibrated_%s_error" % k]) < 1e-9
                  for (a, b, f), k in zip(rank, ("median", "p90"))),
              "%s: errors of those with a measured case: %s" % (how, s))


def unknown_names():
    base = dict(id="x", model="bert-large", task="pretrain", seq_len=128, precision="amp",
                gpu="A100-80GB SXM4", n_gpus=8, batch_per_gpu=64, unit="samples/s", stack="stock")
    document = {"format": "throughput/1", "cases": [
        base, dict(base, id="stack", stack="a stack of next year"),
        dict(base, id="task", task="distil"), dict(base, id="sharding", sharding="tp8-pp4"),
        dict(base, id="alias", model="google-bert/BERT_Large_uncased"),
        dict(base, id="own", model="a model of mine", params=335e6),
        dict(base, id="flops", model="vision of mine", seq_len=None, train_flops_per_unit=2.4e10),
        dict(base, id="none", model="nothing known"), dict(base, id="gpu", gpu="RTX 9999"),
        dict(base, id="text", n_gpus="8", batch_per_gpu="64"),
        dict(base, id="wild", n_gpus=-3, batch_per_gpu=1e308, seq_len="12x", grad_accum=None)]}
    rows = by_id(verify(document))
    plain = rows["x"]["computed"]

    def width(row):
        lo, hi = row["computed"]["interval"]
        return hi / lo

    for i in ("stack", "task", "sharding"):
        check(rows[i]["computed"]["throughput"] == plain["throughput"], i + ": not the usual kind")
        check(width(rows[i]) > width(rows["x"]) * 1.2, i + ": interval is not wider")
        check(i in (rows[i]["reason"] or ""), i + ": no remark")
    check(rows["alias"]["computed"] == plain, "alias")
    check(rows["text"]["computed"] == plain, "numbers as strings")
    check(.5 < rows["own"]["computed"]["throughput"] / plain["throughput"] < 2, "own model")
    check(rows["flops"]["computed"]["throughput"] > 0, "model by FLOPs")
    for i in ("none", "gpu"):
        check(rows[i]["ok"] is False and rows[i]["reason"], i + ": must say why not computed")
    check(rows["wild"]["ok"] is False and "range" in rows["wild"]["reason"], "wild numbers")


def memory():
    document = oracle("memory-fit.json")
    out = verify(document, status=0)
    rows = by_id(out)
    wrong = sorted(i for i, r in rows.items() if r["ok"] is not True)
    check(len(wrong) <= 1, "memory fit wrong: %s" % wrong)
    check(out["summary"]["median_error"] <= .10, "median peak error")
    for c in document["cases"]:
        got = rows[c["id"]]["computed"]
        gib = got["peak_gb_per_gpu"] * 1e9 / 2 ** 30
        check(got["fits"] == (gib <= c["usable_gib"]), c["id"] + ": fits")
        check(got["tight"] == (.9 <= gib / c["usable_gib"] <= 1.05), c["id"] + ": tight")
        if not c["fits"] and c["id"] != "M18":  # M18 dies while loading, not while training
            check(not got["fits"] or got["tight"], c["id"] + ": a false fit")
    bare = by_id(verify(strip(document, ("fits", "reported_peak_gb_per_gpu")), status=0))
    for i, row in rows.items():
        check(bare[i]["computed"] == row["computed"], i + ": depends on the expected value")


def input_pipeline():
    document = oracle("input-pipeline.json")
    out = verify(document, status=0)
    for c in document["cases"]:
        got = by_id(out)[c["id"]]["computed"]
        check(got["binding"] == c["binding"], c["id"] + ": binding")
        check(set(got["limits"]) == set(c["limits"]), c["id"] + ": limits")
        for k, v in c["limits"].items():
            check(abs(got["limits"][k] / v - 1) < 1e-3, "%s: %s" % (c["id"], k))
    base = dict(id="warm", gpu_rate_per_gpu=1000, n_gpus=8, decode_rate_per_worker=100,
                loader_workers=96, storage_mb_s=2000, storage_cold_mb_s=100,
                bytes_per_sample=100000, dataset_gb=100, host_ram_gb=512, consumer_mb_s=3500,
                decoded_bytes=600000)
    cases = [base, dict(base, id="cold", dataset_gb=500), dict(base, id="edge", dataset_gb=409.6),
             dict(base, id="unknown", host_ram_gb=None), dict(base, id="half", n_gpus=None)]
    rows = by_id(verify({"format": "input-pipeline/1", "cases": cases}, status=0))
    want = {"warm": ("transfer", 3500e6 / 6e5), "edge": ("transfer", 3500e6 / 6e5),
            "cold": ("storage", 1000), "unknown": ("storage", 1000),
            "half": ("transfer", 3500e6 / 6e5)}
    for i, (binding, rate) in want.items():
        got = rows[i]["computed"]
        check(got["binding"] == binding, "%s is bound by %s" % (i, got["binding"]))
        check(abs(got["predicted_throughput"] / rate - 1) < 1e-9, i + ": rate")
    check("gpu" not in rows["half"]["computed"]["limits"], "a limit with a null part")
    bad = dict(base, id="bad", published_throughput=1e6, binding="transfer")
    check(by_id(verify({"format": "input-pipeline/1", "cases": [bad]}, status=3))["bad"]["ok"]
          is False, "far from published must fail")


def main():
    if not os.path.exists(os.path.join(ORACLES, "throughput.json")):
        print("SKIPPED: no oracles under %s; set GPUTIER_SHARED" % model.SHARED)
        return 77
    model.setup()
    for test in (throughput, unknown_names, memory, input_pipeline):
        test()
    r = subprocess.run([sys.executable, model.__file__, "check"], check=False,
                       capture_output=True, text=True)
    check(r.returncode == 0, "params.c is not what the fit gives: " + r.stdout)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
