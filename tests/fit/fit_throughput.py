#!/usr/bin/env python3
"""Fits the parameters of planner/model/params.c to the published throughputs of
shared/oracles/throughput.json and throughput-2.json (standard library only).

    tests/fit/fit_throughput.py            fit; errors; errors on models and GPUs left out
    tests/fit/fit_throughput.py residuals  the same, and every case
    tests/fit/fit_throughput.py quantiles  quantiles of published / predicted per class of
                                           interval.c, each model predicted without itself
    tests/fit/fit_throughput.py check      exit 1 if params.c does not state the fit

This is a second implementation of the step-time model, written from the formulas in the header
comments of planner/model; tests/cli/verify_model.py compares it with the program case by case.
Loss: soft L1 on log(predicted / published), every row of throughput-2 counts half, as it repeats
few set-ups many times.

What the errors do not show: the constants outside PARAMS, the stack classes and PRIOR were chosen
by hand with the same rows in view, so errors on what is left out are lower estimates.
"""
import csv
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("GPUTIER_SHARED", os.path.join(ROOT, "..", "shared"))
NAN = float("nan")


def num(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return NAN


def known(x, fallback):
    return x if x is not None and x == x and x > 0 else fallback


def table(path):
    with open(os.path.join(SHARED, path), encoding="utf-8") as f:
        return list(csv.DictReader(f))


def load_gpus():
    out = {}
    names = {"cc": "compute_capability", "f32": "fp32_tflops", "tf32": "tf32_tensor_dense",
             "f16": "fp16_tensor_dense", "b16": "bf16_tensor_dense", "f8": "fp8_dense",
             "bw": "bandwidth_gbs", "link": "nvlink_gbs_total", "tdp": "tdp_w", "mem": "mem_gb"}
    for r in table("docs/gpu-specs.csv"):
        g = {k: num(r[c]) for k, c in names.items()}
        g.update(name=r["model"], maker=r["vendor"], arch=r["arch"], pcie=r["pcie"])
        out[r["model"]] = g
    return out


def load_models():
    out = {}
    keys = ("parameters layers hidden heads kv_heads ffn vocab head_dim active_parameters "
            "flops_per_sample_fwd seq_len_default").split()
    for r in table("docs/models.csv"):
        m = {k: num(r[k]) for k in keys}
        if r["parameters_basis"] == "nominal" and num(r["params_from_dims"]) > 0:
            m["parameters"] = m["active_parameters"] = num(r["params_from_dims"])
        hit = re.match(r"([\d.]+) M forward activations", r["activation_bytes_note"] or "")
        m.update(name=r["name"], family=r["family"], task=r["task"],
                 elements=float(hit.group(1)) * 1e6 if hit else NAN,
                 tied=r["tied_embeddings"] == "y", px=num(r["image_px"].split("x")[0]))
        out[r["name"]] = m
    return out


def load_stacks():
    text = open(os.path.join(ROOT, "planner/model/stack.c"), encoding="utf-8").read()
    rows = re.findall(r'\{"([^"]+)", STACK_(\w+), (true|false)\}', text)
    return {n: (("FUSED", "TUNED", "STOCK").index(c), u == "true") for n, c, u in rows}


def load_cases():
    out = []
    for name, weight in (("throughput.json", 1.0), ("throughput-2.json", 0.5)):
        with open(os.path.join(SHARED, "oracles", name), encoding="utf-8") as f:
            for c in json.load(f)["cases"]:
                if c["scored"]:
                    c["list"], c["weight"] = name, weight
                    out.append(c)
    return out


# ---- what a GPU sustains: device.c ----
RATES = [  # arch, lowest capability, matrix, bandwidth, W/TFLOPS half, W/TFLOPS FP32
    ("Kepler", 0, .51, .75, 0, 0), ("Maxwell", 0, .85, .85, 0, 0), ("Pascal", 0, .90, .85, 0, 0),
    ("Volta", 0, .78, .85, 0, 0), ("Turing", 0, .80, .88, 1.64, 16),
    ("Ampere", 8.6, 1.0, .88, 2.3, 4.6), ("Ampere", 0, .85, .85, 0, 0),
    ("Ada", 0, 1.0, .88, 1.6, 3.2), ("Hopper", 0, .81, .85, 0, 0),
    ("Blackwell", 12.0, 1.0, .88, 1.6, 3.2), ("Blackwell", 0, .78, .85, 0, 0),
    ("CDNA3", 0, .55, .77, 0, 0), ("CDNA4", 0, .68, .77, 0, 0), ("CDNA", 0, .60, .77, 0, 0),
    ("TPU", 0, .90, .85, 0, 0), ("Gaudi2", 0, .97, .85, 0, 0), ("Gaudi3", 0, .74, .85, 0, 0)]


def device(g, precision):
    arch, cc = g["arch"], known(g["cc"], 0)
    _, _, share, bandwidth, watt_half, watt_f32 = next(
        (r for r in RATES if arch.startswith(r[0]) and cc >= r[1]), ("", 0, .80, .85, 0, 0))
    if g["name"].startswith("A100") and g["name"].endswith("PCIe"):
        share = .81
    matrix = share
    f32, tf32, b16 = known(g["f32"], 0), known(g["tf32"], 0), known(g["b16"], 0)
    f16 = known(g["f16"], b16)
    operand, tensor = "half", False
    if precision in ("fp32", "tf32"):
        operand, tensor = "f32", tf32 > 1.5 * f32
        peak = tf32 if tf32 > f32 else f32 if f32 > 0 else known(b16, f16) / 4
    elif precision == "fp8":
        operand = "fp8" if known(g["f8"], 0) > 0 else "half"
        peak = b16 or f16
    elif precision == "bf16":
        peak = b16 or (.68 * f32 if g["maker"] == "NVIDIA" else f16)
    else:
        peak = f16 or f32
    if operand == "f32" and not tensor and watt_f32 <= 0:
        share = matrix if matrix < .7 else .92
    peak *= share
    watt = watt_f32 if operand == "f32" else watt_half
    if watt > 0 and g["tdp"] > 0:
        peak = min(peak, g["tdp"] / watt)
    if operand == "fp8":
        peak *= 1.4
    part = .5 if g["name"].startswith("MI250") else 1  # a process drives one of the two dies
    return peak * 1e12 * part, g["bw"] * 1e9 * bandwidth * part, operand, tensor


def bus(g, nodes, untuned):
    link = known(g["link"], 0) / 2 * 1e9
    recent = g["arch"].startswith(("Hopper", "Blackwell"))
    fabric = link >= 75e9 and not g["name"].endswith(("PCIe", "NVL"))
    if g["arch"].startswith("Volta") and untuned:
        fabric = False
    if fabric:
        rate = link * (.95 if recent else .78)
    elif g["name"].startswith(("RTX 2", "RTX 3", "RTX 40", "RTX 50")):
        rate = 6.5e9
    else:
        rate = {"3": 8e9, "5": 28e9, "6": 50e9}.get(g["pcie"][:1], 12e9)
    if g["maker"] == "Google":
        return max(link * .8, 50e9), True
    if nodes > 1:
        rate = min(rate, 12.5e9 if not fabric else 50e9 if recent else 25e9)
    return rate, fabric


# ---- what a sample costs: work.c ----
SEQUENCE = ("causal-lm", "masked-lm", "seq2seq", "speech-recognition", "speech-ssl")


def work(m, seq_len):
    w = dict(tokens=False, conv=False, encoder=False, decoder=False, depthwise=False,
             square=0, logits=0, attention=0, px=NAN, dense=known(m["parameters"], 0))
    fwd = m["flops_per_sample_fwd"]
    if m["task"] in SEQUENCE and not fwd > 0:
        n = known(m["active_parameters"], m["parameters"])
        h = known(m["hidden"], (128 * n / 12) ** (1 / 3))
        layers = known(m["layers"], math.ceil(h / 128))
        a = known(m["heads"], math.ceil(h / 128))
        s = known(seq_len, known(m["seq_len_default"], 512))
        w.update(tokens=True, encoder=m["task"] == "masked-lm", decoder=m["task"] == "causal-lm")
        wide = a * m["head_dim"] if m["head_dim"] > 0 else h
        kv = wide * known(m["kv_heads"], a) / a
        f = known(m["ffn"], 4 * h)
        mlp = (n - known(m["vocab"], 0) * h * (1 if m["tied"] else 2)) / layers - 2 * h * (wide + kv)
        expert = n < .9 * m["parameters"]
        gated = expert or mlp > 2.5 * h * f
        if expert and mlp > 0:
            f = mlp / (3 * h)
        w["linear"] = (2 * layers * (4 * h * h + 2 * h * f) if w["encoder"] else 2 * n) * s
        w["attention"] = 4 * layers * wide * s * s
        parallel = m["family"] in ("phi", "gptj", "gpt-neox", "falcon", "stablelm-alpha")
        w["elements"] = layers * ((4 if parallel else 8) * h + 4 * wide + 4 * kv + (8 if gated else 4) * f) / 2 * s
        w["square"] = 2.5 * a * s * s * layers
        w["logits"] = 5 * known(m["vocab"], 0) * s * (.15 if w["encoder"] else 1)
        w.update(layers=layers, width=h, len=s)
        return w
    px = known(m["px"], 224)
    if m["task"] in ("image-classification", "detection"):
        w["px"] = px
    w["conv"] = m["family"] not in ("vit", "beit", "swin", "mixer") and \
        m["task"] not in ("diffusion-transformer", "recommendation")
    w["linear"] = fwd if fwd > 0 else 2 * 3.3 * m["parameters"] * (px / 32) ** 2
    w["elements"] = known(m["elements"],
                          w["linear"] * (1e-3 if m["task"] == "diffusion-unet" else 1.25e-3))
    if not w["conv"]:
        w["elements"] *= 2.0 if m["family"] == "swin" else 1.3
    if "se-resne" in m["name"] or "seresne" in m["name"]:
        w["elements"] *= 1.5  # squeeze and excitation
    w["depthwise"] = w["conv"] and w["linear"] < 300 * w["elements"]
    w.update(layers=known(m["layers"], 60), width=m["hidden"], len=1)
    if m["task"] == "recommendation":
        w.update(layers=10, elements=3 * 26 * known(m["hidden"], 128) * 2,
                 dense=min(w["dense"], w["linear"] / 2))
    w["host"] = .04 if m["family"] in ("mask-rcnn", "faster-rcnn") else 0
    return w


# ---- the step: throughput.c ----
NAMES = ("gemm width conv recent conv_passes token_passes layout depthwise launch tf32_conv "
         "host_copy recompute").split()


def read_params():
    text = open(os.path.join(ROOT, "planner/model/params.c"), encoding="utf-8").read()
    found = dict(re.findall(r'\{"(\w+)",\s*([\d.e-]+),', text))
    return [float(found[n]) for n in NAMES]


GPUS, MODELS, STACKS = {}, {}, {}


def predict(c, values, parts=None):
    p = dict(zip(NAMES, values))
    m, g = MODELS[c["model"]], GPUS[c["gpu"]]
    token_unit = c["unit"].startswith("tokens")
    seq = known(c.get("seq_len"), known(m["seq_len_default"], 512) if token_unit else 0)
    w = work(m, seq)
    flops, bandwidth, operand, tensor = device(g, c["precision"])
    n = c["n_gpus"]
    b = known(c.get("batch_per_gpu"), 0)
    if not b:
        b = max(1, 8192 // w["len"]) if w["tokens"] else 64 if w["linear"] > 1e11 else 256
    ga = max(1, known(c.get("grad_accum"), 1))
    stack, unfused = STACKS.get(c["stack"], (2, False))
    task = c["task"]
    qlora, full = task.startswith("qlora"), not task.startswith(("qlora", "lora", "dora"))
    rc = {True: "full", "full": "full", "selective": "selective"}.get(
        c.get("activation_checkpointing"), "none")
    sharding = str(c.get("sharding") or "")
    zero3 = sharding.startswith("fsdp")

    recent_nv = g["arch"].startswith(("Hopper", "Blackwell"))
    passes = (3 if full else 2) + (p["recompute"] if rc == "full" else 0)
    attention = w["attention"] / (.6 if recent_nv else .85)
    work_flops = passes * (w["linear"] + attention) + (attention if rc == "selective" else 0)
    e = p["conv"] if w["conv"] else p["gemm"]
    if not w["conv"]:
        h = known(w["width"], 400)
        e *= h / (h + p["width"])
    if recent_nv or g["arch"].startswith(("CDNA3", "CDNA4")):
        e *= p["recent"]
    if operand == "f32":
        if not tensor:
            e = max(e, .95)
        elif w["conv"]:
            e *= p["tf32_conv"]
    compute = b * work_flops / (min(e, 1) * flops)

    layout = p["layout"] if w["conv"] and operand != "f32" else 1
    cross = p["conv_passes"] if w["conv"] else p["token_passes"]
    cross *= p["depthwise"] if w["depthwise"] else 1
    cross *= (1, layout ** .3, layout)[stack]
    elements = w["elements"] + (w["square"] if w["encoder"] or unfused else 0)
    if w["decoder"] and stack == 2:
        elements *= 2
    cross *= {"none": 1, "selective": 1.1, "full": 4 / 3}[rc]
    size = 4 if operand == "f32" else 2
    memory = b * (elements * cross + 2 * w["logits"]) * size / bandwidth
    if qlora:
        memory += (3 if rc == "full" else 2) * 10 * w["dense"] / bandwidth

    launch = p["launch"] * w["layers"] * passes * (1 if full else 2) * (.3, .6, 1)[stack]
    launch *= 1 if w["tokens"] else .5
    gpu = compute + memory
    micro = (gpu ** 3 + launch ** 3) ** (1 / 3)
    copy = b * w.get("host", 0)
    copy += b * w["px"] ** 2 * 12 / (p["host_copy"] * 1e9) if stack == 2 and w["px"] > 0 else 0
    # what does not fit one GPU is split over several; each holds and reduces its part
    held = w["dense"]
    if not zero3:
        held /= max(1, math.ceil(16 * held / (.8 * g["mem"] * 2 ** 30)))
    optimizer = (held if full else 0) * 30 / (n if zero3 else 1) / bandwidth
    exposed = 0
    if n > 1:
        nodes, ring = math.ceil(n / 8), (n - 1) / n
        if zero3:
            moved = (3 if full else 2) * ring * w["dense"] * (.6 if qlora else 2) * ga
        else:
            moved = 2 * ring * held * (1 if full else .002) * \
                (4 if operand == "f32" else 2)
        rate, hidden = bus(g, nodes, stack == 2)
        exposed = moved / rate
        if hidden:
            beside = (micro + copy) * ga * (1 if zero3 else .6)
            exposed = max(0, exposed - beside) + .05 * exposed
            if nodes > 1:
                exposed += .01 * math.log2(nodes) * (micro + copy) * ga
    step = ga * (micro + copy) + optimizer + exposed
    if parts is not None:
        parts.update(compute=ga * compute / step, memory=(ga * memory + optimizer) / step,
                     latency=ga * (micro - gpu + copy) / step, communication=exposed / step)
    return b * ga * n / step * (w["len"] if token_unit else 1)


# ---- fitting ----
# Engineering values, chosen after looking at the residuals, that the parameters are pulled to, with the weight of a few cases: what the
# data do not determine (a model left out may be most of the images) stays physical.
PRIOR = dict(gemm=.9, width=100, conv=.8, recent=.8, conv_passes=14, token_passes=9, layout=1.8,
             depthwise=2, launch=8e-4, tf32_conv=.5, host_copy=6, recompute=1)
PRIOR_SPREAD, PRIOR_WEIGHT = .2, 4.0
DELTA = .08  # residuals beyond this count linearly


def solve(a, b):
    n = len(b)
    m = [a[i][:] + [b[i]] for i in range(n)]
    for i in range(n):
        k = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[k] = m[k], m[i]
        for r in range(n):
            if r != i:
                f = m[r][i] / m[i][i]
                for c in range(i, n + 1):
                    m[r][c] -= f * m[i][c]
    return [m[i][n] / m[i][i] for i in range(n)]


def fit(cases, x, rounds=60):
    """Levenberg-Marquardt on the logarithms of the parameters, reweighted for soft L1."""
    weights = [c["weight"] for c in cases]

    def residuals(x):
        return [math.log(predict(c, x) / c["throughput"]) for c in cases]

    prior = [math.log(PRIOR[n]) for n in NAMES]

    def pull(x):
        return [(math.log(v) - q) / PRIOR_SPREAD for v, q in zip(x, prior)]

    def loss(r, x):
        return sum(w * (math.sqrt(1 + (v / DELTA) ** 2) - 1) for w, v in zip(weights, r)) + \
            PRIOR_WEIGHT / 2 * sum(v * v for v in pull(x))

    x, damping, k = list(x), 1e-2, len(x)
    r = residuals(x)
    best = loss(r, x)
    for _ in range(rounds):
        jac = []
        for j in range(k):
            y = x[:]
            y[j] *= 1.001
            jac.append([(a - b) / math.log(1.001) for a, b in zip(residuals(y), r)])
        scale = PRIOR_WEIGHT * (DELTA / PRIOR_SPREAD) ** 2
        soft = [w / math.sqrt(1 + (v / DELTA) ** 2) for w, v in zip(weights, r)]
        a = [[sum(s * p * q for s, p, q in zip(soft, jac[i], jac[j])) for j in range(k)]
             for i in range(k)]
        grad = [sum(s * p * q for s, p, q in zip(soft, jac[i], r)) for i in range(k)]
        for i, v in enumerate(pull(x)):
            a[i][i] += scale
            grad[i] += scale * v * PRIOR_SPREAD
        gain = 0
        for _ in range(8):
            damped = [[v + (damping * (v + 1e-6) if i == j else 0) for j, v in enumerate(row)]
                      for i, row in enumerate(a)]
            d = solve(damped, [-v for v in grad])
            y = [v * math.exp(max(-.5, min(.5, dv))) for v, dv in zip(x, d)]
            ry = residuals(y)
            now = loss(ry, y)
            if now < best:
                gain = (best - now) / best
                x, r, best, damping = y, ry, now, max(damping / 3, 1e-6)
                break
            damping *= 4
        if gain < 1e-6:
            break
    return x


def summary(errors):
    e = sorted(errors)
    n = len(e)
    return "n %3d  median %5.1f %%  p90 %5.1f %%  max %5.0f %%" % (
        n, 100 * e[n // 2], 100 * e[math.ceil(.9 * n) - 1], 100 * e[-1])


def error(c, x):
    return abs(predict(c, x) / c["throughput"] - 1)


def left_out(cases, key, x):
    """Predicts every group of cases with parameters fitted without it."""
    out = {}
    for value in sorted({c[key] for c in cases}):
        y = fit([c for c in cases if c[key] != value], x, 12)
        for c in cases:
            if c[key] == value:
                out[c["id"]] = predict(c, y)
    return out


def interval_class(c):
    w = work(MODELS[c["model"]], c.get("seq_len"))
    if c["stack"] not in STACKS:
        return "unknown stack"
    if w["tokens"]:
        return "adapters" if c["task"].startswith(("lora", "qlora", "dora")) else "tokens"
    if w["depthwise"]:
        return "depthwise"
    m = MODELS[c["model"]]
    return "images" if m["elements"] > 0 and m["flops_per_sample_fwd"] > 0 else "estimated"


def report(cases, x, residuals):
    for name in ("throughput.json", "throughput-2.json"):
        chosen = [c for c in cases if c["list"] == name]
        print("%-34s %s" % (name, summary([error(c, x) for c in chosen])))
    for kind in sorted({interval_class(c) for c in cases}):
        print("  %-32s %s" % (kind, summary([error(c, x) for c in cases
                                             if interval_class(c) == kind])))
    if residuals:
        for c in sorted(cases, key=lambda c: (c["model"], c["stack"], c["precision"], c["gpu"])):
            parts = {}
            r = predict(c, x, parts)
            print("%s %+6.1f %%  %s %s s=%s %s %s x%d b=%s %s  %s" % (
                c["id"], 100 * (r / c["throughput"] - 1), c["model"], c["task"], c.get("seq_len"),
                c["precision"], c["gpu"], c["n_gpus"], c.get("batch_per_gpu"), c["stack"],
                " ".join("%s %.0f%%" % (k, 100 * v) for k, v in parts.items())))


def setup():
    GPUS.update(load_gpus())
    MODELS.update(load_models())
    STACKS.update(load_stacks())


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if not os.path.exists(os.path.join(SHARED, "oracles", "throughput.json")):
        print("skipped: no oracles under %s" % SHARED)
        return 77
    setup()
    cases, stated = load_cases(), read_params()
    x = fit(cases, stated)
    if mode == "check":
        off = [(n, a, b) for n, a, b in zip(NAMES, stated, x) if abs(a / b - 1) > .02]
        for n, a, b in off:
            print("params.c states %s = %g, the fit gives %g" % (n, a, b))
        return 1 if off else 0
    for n, v in zip(NAMES, x):
        print("%-14s %.6g" % (n, v))
    report(cases, x, mode == "residuals")
    by_model = left_out(cases, "model", x)
    by_gpu = left_out(cases, "gpu", x)
    for label, out in (("each model left out", by_model), ("each GPU left out", by_gpu)):
        for name in ("throughput.json", "throughput-2.json"):
            print("%-20s %-17s %s" % (label, name, summary(
                [abs(out[c["id"]] / c["throughput"] - 1) for c in cases if c["list"] == name])))
    if mode == "quantiles":
        for kind in sorted({interval_class(c) for c in cases}):
            q = sorted(c["throughput"] / by_model[c["id"]] for c in cases
                       if interval_class(c) == kind)
            print("%-14s n %3d  5 %% %.3f  95 %% %.3f" % (
                kind, len(q), q[int(.05 * len(q))], q[min(len(q) - 1, int(.95 * len(q)))]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
