#!/usr/bin/env python3
"""Memory of whole imports and fetches: at most 32 MiB at the peak, whatever the form of the list, and no
more for a long list than for a short one (files of GBs have their own run: make bench). Peaks of the
sanitizers' builds are theirs: there the imports run, the figures are not judged."""
import gzip
import os
import shutil
import subprocess
import sys

import vendor
from vendor import GPUTIER, TOOLS, WORK, Server, environment, generate, lay_out_aws, need_tools, say

need_tools("memory of imports")
MOST = 32 << 10      # KiB
GROWTH = 4 << 10     # of a list four times as long
PEAK = os.path.join(WORK, "peak")
JUDGED = "asan" not in GPUTIER and "tsan" not in GPUTIER


def peak(*args, server=None, **env):
    """KiB at the peak of a run that must succeed."""
    db = os.path.join(WORK, "memory.db")
    for end in ("", "-wal", "-shm"):
        if os.path.exists(db + end):
            os.remove(db + end)
    r = subprocess.run([PEAK, PEAK + ".kib", GPUTIER, "--db", db, "-q", *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, env=environment(server, GPUTIER_DATA=os.path.join(WORK, "none"), **env), check=False)
    say(r.returncode == 0, "%s: exit %d %s" % (" ".join(args)[-60:], r.returncode, r.stderr[-300:]))
    with open(PEAK + ".kib", encoding="ascii") as f:
        return int(f.read())


def judge(name, *peaks):
    told = ", ".join("%.1f MiB" % (p / 1024) for p in peaks)
    say(not JUDGED or max(peaks) <= MOST, "%s: at most 32 MiB: %s" % (name, told))
    say(not JUDGED or len(peaks) < 2 or peaks[1] - peaks[0] <= GROWTH, "%s: as much for the longer list: %s" % (name, told))


def tool(name, *args):
    subprocess.run([sys.executable, os.path.join(TOOLS, name), *args], check=True, stdout=subprocess.DEVNULL)


def pages(folder):
    return sorted(os.path.join(folder, f) for f in os.listdir(folder) if "page-" in f)


def offers():
    """EC2's list in its two layouts, compressed, and with its halves the other way round."""
    short, long = os.path.join(WORK, "6M"), os.path.join(WORK, "24M")
    for path in (short, long):
        size = os.path.basename(path)
        tool("gen_aws_offer.py", "--size", size, "--format", "both", "--no-expected", "--out", path)
        tool("gen_aws_offer.py", "--size", size, "--terms-first", "--no-expected", "--out", path + "-terms")
        for end in (".json", ".csv"):
            with open(path + end, "rb") as f, gzip.open(path + end + ".gz", "wb", 1) as out:
                shutil.copyfileobj(f, out)
    for end in (".json", ".csv", ".json.gz", ".csv.gz", "-terms.json"):
        judge("aws-offer *" + end, *(peak("import", "aws-offer", p + end) for p in (short, long)))


def catalogs():
    """Lists of other vendors: what has to be kept of them (parts of machines, meters) is bounded too."""
    for items in ("4000", "16000"):
        tool("gen_azure_retail.py", "--items", items, "--out", os.path.join(WORK, "az" + items))
    judge("azure-retail", *(peak("import", "azure-retail", *pages(os.path.join(WORK, "az" + items))) for items in ("4000", "16000")))
    tool("gen_gcp_skus.py", "--skus", "20000", "--out", os.path.join(WORK, "gcp"))
    judge("gcp-skus", peak("import", "gcp-skus", *pages(os.path.join(WORK, "gcp"))))
    tool("gen_spot_history.py", "--months", "0.5", "--out", os.path.join(WORK, "spot"))
    judge("aws-spot-history", peak("import", "aws-spot-history", *pages(os.path.join(WORK, "spot"))))
    judge("skypilot", peak("import", "skypilot", os.path.join(vendor.SHARED, "catalog/skypilot-format-azure-vms-2026-05-20.csv.gz")))


def fetched():
    """What arrives over the network is parsed as it arrives: it need not fit, nor lie, anywhere."""
    peaks = []
    for size in ("5M", "20M"):
        path = generate(size)
        text = {}
        for end in ("csv", "json"):
            with open(path + "." + end, encoding="utf-8") as f:
                text[end] = f.read()
        lay_out_aws(text)
        server = Server()
        peaks.append(peak("fetch", "aws-offer", "--region", "aws/us-east-1", server=server, GPUTIER_NOW="2026-12-02T10:00:00Z"))
        server.stop()
    judge("fetch of aws-offer", *peaks)


os.mkdir(os.path.join(WORK, "none"))
subprocess.run(["cc", "-O2", "-o", PEAK, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/peak.c")], check=True)
vendor.main([offers, catalogs, fetched])
