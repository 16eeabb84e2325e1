#!/usr/bin/env bash
# A catalog of 1,000,000 offers from the store, beside a bare SELECT of the same columns: at most twice
# its CPU time; and how fast the rows went in.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046 # a list of options
cc -std=c17 -D_GNU_SOURCE -O2 -Iinclude -o "$work/load" tests/bench/load_catalog.c build/libgputier.a \
    $(pkg-config --libs sqlite3 libcjson yaml-0.1 libzstd libisal libutf8proc expat ncursesw) -lm -ldl -lpthread
python3 - >"$work/big.csv" <<'PY'
import random
random.seed(5)
gpus = ["H100", "A100-80GB", "A100-40GB", "V100", "T4", "L4", "L40S", "A10G", "RTX 4090", "H200"]
print("vendor,region,zone,instance_type,gpu,gpu_count,vcpus,memory_gib,purchase,price_per_hour,currency,valid_from,sku")
for i in range(1000000):
    t, z, p = i % 4000, i // 4000 % 125, i // 500000
    n = (1, 2, 4, 8)[t // 10 % 4]
    print(f"{('aws', 'gcp', 'lambda')[t % 3]},region-{z // 5},zone-{z % 5},type-{t}.{n}x,{gpus[t % 10]},{n},{12 * n},{100 * n},"
          f"{('on_demand', 'spot')[p]},{random.randint(500, 99999) / 1000:.3f},USD,2026-01-01,SKU{i}")
PY
export GPUTIER_DATA=$work
TIMEFORMAT='1,000,000 rows from CSV into the indexed store: %U s user, %S s system'
time "${GPUTIER:-./gputier}" --db "$work/x.db" -q import prices-csv "$work/big.csv" >/dev/null
"$work/load" "$work/x.db"
