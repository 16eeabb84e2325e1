#!/usr/bin/env bash
# tui.sh: how soon the interface shows its first full screen, against htop's in the same run, and how
# soon it reacts to keys on a price table of 100,000 rows (issue: p95 of key to settled <= 16 ms).
# The measuring loop's own reaction (--self-test) is printed beside, to be told apart.
set -eu
cd "$(dirname "$0")/../.."
GPUTIER=${GPUTIER:-$PWD/gputier}
latency=${GPUTIER_SHARED:-$PWD/../shared}/tools/pty_latency.py
if [ ! -f "$latency" ]; then
    echo "SKIPPED: $latency is not there"
    exit 0
fi
export GPUTIER_DATA=$PWD/data LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows=${ROWS:-100000}

# Same rows at each run: 19 GPUs' worth of machines over regions and zones, two ways of buying.
python3 - "$rows" >"$work/prices.csv" <<'PY'
import random, sys
random.seed(5)
gpus = ["H100", "A100-80GB", "A100-40GB", "V100", "T4", "L4", "L40S", "A10G", "RTX 4090", "H200"]
print("vendor,region,zone,instance_type,gpu,gpu_count,vcpus,memory_gib,purchase,price_per_hour,currency,valid_from,sku")
for i in range(int(sys.argv[1])):
    n = (1, 2, 4, 8)[i // 10 % 4]
    print(f"{('aws', 'gcp', 'lambda')[i % 3]},region-{i % 57},zone-{i % 5},type-{i // 2}.{n}x,{gpus[i % 10]},{n},"
          f"{12 * n},{100 * n},{('on_demand', 'spot')[i % 2]},{random.randint(500, 99999) / 1000:.3f},USD,2026-01-01,SKU{i}")
PY
"$GPUTIER" --db "$work/big.db" --quiet import prices-csv "$work/prices.csv" >/dev/null
"$GPUTIER" --db "$work/small.db" sources >/dev/null # the bundled prices only

measure() { # NAME READY PROGRAM…: one JSON line
    local ready=$1 keys=$2
    shift 2
    python3 "$latency" --json --starts 7 --ready "$ready" --rounds "${ROUNDS:-10}" --keys "$keys" -- "$@"
}
keys=Down,PgDn,End,Home,s,s,s,r,f,h,1,0,0,Enter,x
measure quit "$keys" "$GPUTIER" --db "$work/big.db" >"$work/big"
measure quit Down "$GPUTIER" --db "$work/small.db" >"$work/small"
python3 "$latency" --json --self-test --rounds 20 >"$work/self"
if command -v htop >/dev/null; then
    measure Quit Down htop >"$work/htop"
else
    echo "htop is not installed: no comparison of the start"
fi
python3 - "$work" "$rows" <<'PY'
import json, os, sys
def read(name):
    path = os.path.join(sys.argv[1], name)
    return json.load(open(path)) if os.path.exists(path) else None
big, small, own, htop = (read(n) for n in ("big", "small", "self", "htop"))
start = small["start.settled"]["p50_ms"]
print(f"first full screen, bundled prices: {start:.1f} ms; {int(sys.argv[2]):,} rows more: {big['start.settled']['p50_ms']:.1f} ms")
if htop:
    peer = htop["start.settled"]["p50_ms"]
    print(f"htop's first full screen: {peer:.1f} ms; ratio {start / peer:.2f} (not later: <= 1), with the large table {big['start.settled']['p50_ms'] / peer:.2f}")
p95 = big["key.settled"]["p95_ms"]
print(f"key to settled screen on the large table: p50 {big['key.settled']['p50_ms']:.2f} ms, p95 {p95:.2f} ms, most {big['key.settled']['max_ms']:.2f} ms; "
      f"p95 / 16 ms = {p95 / 16:.2f}; the measuring loop alone {own['key.settled']['p95_ms']:.2f} ms")
print(f"bytes a key (median) {big['key.bytes_p50']}, most memory {big['max_rss_kib'] / 1024:.0f} MiB")
PY
