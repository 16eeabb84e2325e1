#!/usr/bin/env python3
"""Faults that other programs had with GPUs (../shared/oracles/known-faults.md, "GPU name, count, memory"),
each by its number: whose memory, which model, how many, and that nothing is lost over one bad row."""
import itertools
import json
import os

from little import Box, check, csv_text, main
from makers import SKY, aws, aws_offer, gcp_sku, own, own_list, sky

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")


def f019_total_is_not_each():
    box = Box()
    box.take("aws-offer", aws_offer([aws("g6.48xlarge", "13.35", "8", "192 GB"), aws("g6.24xlarge", "6.6", "4", "96 GB"),
                                     aws("g6.xlarge", "0.8", "1", "24 GB"), aws("g5.48xlarge", "16.2", "8", "22 GB")]))
    check("each and the count", box.rows("instance_type", "gpu", "gpu_count", "gpu_memory_gib"),
          [("g5.48xlarge", "A10G", 8, 24), ("g6.24xlarge", "L4", 4, 24), ("g6.48xlarge", "L4", 8, 24), ("g6.xlarge", "L4", 1, 24)])
    # a family that nobody knows yet: kept with its count, listed, and not guessed
    new = Box()
    new.take("aws-offer", aws_offer([aws("g99.48xlarge", "13.35", "8", "192 GB"), aws("g98.xlarge", "1", "1"), aws("m5.large", "0.1", "0"),
                                     aws("m5.xlarge", "0.2")]))
    check("a new family", new.rows("instance_type", "gpu", "gpu_count", "gpu_memory_gib"),
          [("g98.xlarge", "GPU of g98", 1, None), ("g99.48xlarge", "GPU of g99", 8, None), ("m5.large", None, None, None),
           ("m5.xlarge", None, None, None)])
    check("is no CPU machine", [t for t, in new.rows("instance_type", args=("--gpus", "0"))], ["m5.large", "m5.xlarge"])
    told = " ".join(f["text"] for f in new.json("prices", "check")["findings"] if f["kind"] == "unknown_gpu")
    check("is listed", ("GPU of g98" in told, "GPU of g99" in told), (True, True))
    check("the total is never more than that", {o["gpu_count"] * o["gpu_memory_gib"] for o in box.offers("--gpus", "8")}, {192})


def f021_a_label_that_says_total():
    box = Box(data=DATA)
    box.take("prices-csv", own_list(own("m%s" % m, "27", gpu="A100-80GB SXM4", gpu_count=8, gpu_memory_gib=m, vcpus=96, memory_gib=900)
                                    for m in (10, 40, 79.6, 80, 81, 640)))
    found = {t for k, t in box.found("--region", "oci/r") if k == "impossible_memory"}
    check("the contradiction is noted", found, {"m10", "m40", "m640"})
    check("the figures are kept as given", sorted(x for x, in box.rows("gpu_memory_gib", args=("--region", "oci/r"))),
          [10, 40, 79.6, 80, 81, 640])


def f023_export_models_are_their_own():
    names = ("A800", "H800", "H20", "910B", "Ascend 910B", "A800-80GB", "H20-96GB", "MI308X", "L20")
    box = Box(data=DATA)
    box.take("prices-csv", own_list(own("t-" + n, "10", gpu=n, gpu_count=8, vendor="alibaba", region="cn-x", currency="CNY")
                                    for n in names))
    at = ("--region", "alibaba/cn-x")
    check("kept under their names", sorted(g for g, in box.rows("gpu", args=at)), sorted(names))
    for asked, kept in (("A800", {"t-A800", "t-A800-80GB"}), ("H20", {"t-H20", "t-H20-96GB"}), ("H800", {"t-H800"})):
        check("--gpu " + asked, {t for t, in box.rows("instance_type", args=(*at, "--gpu", asked))}, kept)
    for other in ("A100", "H100", "H200", "L40S"):
        check("never for " + other, box.rows("instance_type", args=(*at, "--gpu", other)), [])
    doc = box.json("prices", "check", "--vendor", "alibaba", *at)
    text = " ".join(f["text"] for f in doc["findings"] if f["kind"] == "unknown_gpu")
    check("told as models without a sheet", all('"%s"' % n in text for n in names), True)


def f025_a_range_from_none():
    box = Box()
    box.take("prices-csv", own_list([own("cpu", "0.1", gpu="", gpu_count=""), own("bare", "0.1", gpu="", gpu_count="", memory_gib=""),
                                     own("gpu", "1"), own("eight", "8", gpu_count=8), own("slice", "0.2", gpu_count="1/6")]))
    everything = {"cpu", "bare", "gpu", "eight", "slice"}
    for args, wanted in ((("--gpus", "0-"), everything), (("--gpus", "0.."), everything), (("--gpus", "0-8"), everything),
                         (("--gpus", "0..8"), everything), (("--gpus", "0-", "--vendor", "oci"), everything),
                         (("--gpus", "0-", "--mem", "0"), everything), (("--gpus", "0-", "--mem", "64"), everything - {"bare"}),
                         (("--gpus", "0-", "--gpu-mem", "0"), everything), (("--gpu-mem", "0-80"), everything - {"slice"}),
                         (("--gpus", "0-", "--vcpus", "0-"), everything), (("--gpus", "0"), {"cpu", "bare"}),
                         (("--gpus", "0-0.5"), {"cpu", "bare", "slice"}), (("--gpus", "1-"), {"gpu", "eight"}),
                         (("--gpus", "1.."), {"gpu", "eight"}), (("--gpu-mem", "20"), {"gpu", "eight"}), # the slice has no memory in the list
                         (("--gpus", "8"), {"eight"})):
        check(" ".join(args), {t for t, in box.rows("instance_type", args=args)}, wanted)
    for wrong in ("8-0", "-", "..", "a-", "-8", "1-2-3", "1..2..3", "-1-"):
        check("refused: " + wrong, box.run("prices", "--gpus", wrong).returncode, 2)


def f047_one_bad_row_of_a_thousand():
    bad = [("price", lambda r: r.update(Price="x")), ("GPUs", lambda r: r.update(AcceleratorCount="many")),
           ("negative", lambda r: r.update(Price="-1")), ("no type", lambda r: r.update(InstanceType="")),
           ("no region", lambda r: r.update(Region=""))]
    for name, spoil in bad:
        rows = [sky("t%03d" % i, "1.5") for i in range(1000)]
        spoil(rows[500])
        box = Box()
        r = box.take("skypilot", csv_text(SKY, rows), "--vendor", "fluidstack")
        check(name + ": 999 stay", len(box.offers()), 999)
        check(name + ": one is told, with its line: " + r.stderr, "list:502: left out" in r.stderr and r.stderr.count("left out") == 1, True)
    rows = [aws("m%03d.large" % i, "0.1", "1" if i == 7 else "") for i in range(200)]
    rows[100]["PricePerUnit"] = "many"
    box = Box()
    r = box.take("aws-offer", aws_offer(rows))
    check("AWS: 199 of 200", (len(box.offers()), "left out" in r.stderr + r.stdout), (199, True))


SAMPLES = os.path.join(os.environ.get("GPUTIER_SHARED", "../shared"), "samples")
# the first entry that has such a field, in the vendor's own layout
JSON_LISTS = {"lambda": ("lambda/instance-types.json", "price_cents_per_hour"), "runpod": ("runpod/gpuTypes.data.json", "securePrice"),
              "digitalocean": ("digitalocean/sizes.json", "price_hourly"), "vultr": ("vultr/plans.json", "hourly_cost"),
              "verda": ("verda/instance-types.json", "price_per_hour"), "jarvislabs": ("jarvislabs/server-meta.json", "price_per_hour"),
              "fluidstack": ("fluidstack/list-available-configurations.response.json", "price_per_gpu_hr"),
              "hyperstack": ("hyperstack/pricebook.response.json", "value")}


def first_with(node, field):
    """The first object in the document that has the field."""
    if isinstance(node, dict) and field in node:
        return node
    for x in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        found = first_with(x, field)
        if found is not None:
            return found
    return None


def f047_one_bad_entry_of_a_json_list():
    if not os.path.isdir(SAMPLES):
        print("SKIPPED f047 of JSON lists: %s is missing" % SAMPLES)
        return
    for source, (path, field) in JSON_LISTS.items():
        with open(os.path.join(SAMPLES, path), encoding="utf-8") as f:
            text = f.read()
        box = Box()
        box.take(source, text)
        whole = set(box.rows("instance_type", "purchase", "region", "price_per_hour"))
        for bad in ("many", -5, 1e30):
            spoilt = json.loads(text)
            first_with(spoilt, field)[field] = bad
            box = Box()
            r = box.take(source, json.dumps(spoilt))
            kept = set(box.rows("instance_type", "purchase", "region", "price_per_hour"))
            lost = {x[0] for x in whole - kept}
            check("%s, %r: the rest stays" % (source, bad), (kept <= whole, len(kept) > 0, len(lost) > 0), (True, True, True))
            check("%s, %r: told: %s" % (source, bad, r.stderr), r.stderr.count("left out") >= 1)


def f105_a100_of_two_sizes():
    parts = [gcp_sku("A2 Instance Core running in Americas", "0.03"), gcp_sku("A2 Instance Ram running in Americas", "0.004")]
    both = [gcp_sku("Nvidia Tesla A100 GPU running in Americas", "2.9"), gcp_sku("Nvidia Tesla A100 80GB GPU running in Americas", "3.9"),
            gcp_sku("SSD backed Local Storage", "0")]
    for order in itertools.permutations(parts + both[:2], 4):
        box = Box()
        box.take("gcp-skus", {"skus": list(order)})
        rows = {t: (g, p) for t, g, p in box.rows("instance_type", "gpu", "price_per_hour")}
        check("40 GB", rows["a2-highgpu-1g"], ("A100-40GB SXM4", "3.6"))
        # its local disks have no price here, so no machine of it is made up
        check("80 GB", [g for t, (g, p) in rows.items() if "80" in t or "ultra" in t], ["A100-80GB SXM4"])
        check("not crossed", [p for t, (g, p) in rows.items() if g == "A100-80GB SXM4" and p == "3.6"], [])
    box = Box()
    box.take("skypilot", csv_text(SKY, [sky("a2-highgpu-1g", "3.6", gpu="A100"), sky("a2-ultragpu-1g", "5", gpu="A100-80GB")]), "--vendor", "oci")
    check("in a catalogue", [t for t, in box.rows("instance_type", args=("--gpu", "A100-80GB"))], ["a2-ultragpu-1g"])


def f111_a_part_is_no_whole():
    sizes = {"NV6ads": ("1/6", 4), "NV12ads": ("1/3", 8), "NV18ads": ("1/2", 12), "NV36ads": (1, 24), "NV72ads": (2, 24)}
    box = Box()
    box.take("skypilot", csv_text(SKY, [sky("Standard_%s_A10_v5" % s, "1") for s in sizes]), "--vendor", "azure")
    check("parts and their memory", {t[9:].split("_")[0]: (n, m) for t, n, m in box.rows("instance_type", "gpu_count", "gpu_memory_gib")}, sizes)
    check("one whole A10", [t for t, in box.rows("instance_type", args=("--gpu", "A10", "--gpus", "1"))], ["Standard_NV36ads_A10_v5"])
    check("a sixth", [t for t, in box.rows("instance_type", args=("--gpus", "1/6"))], ["Standard_NV6ads_A10_v5"])


def f183_one_name_two_memories():
    rows = [aws("p4d.24xlarge", "21.9", "8", "320 GB HBM2"), aws("p4de.24xlarge", "27.4", "8", "640 GB HBM2e"),
            aws("p3.16xlarge", "24", "8", "128 GB"), aws("p3dn.24xlarge", "31", "8", "256 GB")]
    for order in (rows, rows[::-1]):
        box = Box()
        box.take("aws-offer", aws_offer(order))
        for gpu, wanted in (("A100-80GB", "p4de.24xlarge"), ("A100-40GB", "p4d.24xlarge"), ("V100-32GB", "p3dn.24xlarge"),
                            ("V100-16GB", "p3.16xlarge")):
            check(gpu, [t for t, in box.rows("instance_type", args=("--gpu", gpu))], [wanted])
        check("both", len(box.offers("--gpu", "A100")), 2)
    box = Box()
    box.take("prices-csv", own_list([own("a", "1", gpu="A100", gpu_memory_gib=40), own("b", "2", gpu="A100", gpu_memory_gib=80)]))
    check("of an own list, by memory", [t for t, in box.rows("instance_type", args=("--gpu", "A100-80GB"))], ["b"])


main([f019_total_is_not_each, f021_a_label_that_says_total, f023_export_models_are_their_own, f025_a_range_from_none,
      f047_one_bad_row_of_a_thousand, f047_one_bad_entry_of_a_json_list,
      f105_a100_of_two_sizes, f111_a_part_is_no_whole, f183_one_name_two_memories])
