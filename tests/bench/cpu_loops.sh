#!/usr/bin/env bash
# The CPU fallback's triad against a plain OpenMP loop compiled with the same flags (goal 0.9 times), and
# PoCL's against the fallback's (goal 0.8 times): the best of seven rounds of each, taken in turns.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/omp.c" <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    size_t n = (size_t)atol(argv[argc - 1]) / sizeof(float);
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *z = malloc(n * sizeof *z);
    if (!x || !y || !z) {
        return 1;
    }
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(i % 1000);
        y[i] = (float)(i % 7);
        z[i] = 0;
    }
    double least = 1e9;
    for (int k = 0; k < 15; k++) {
        double t = omp_get_wtime();
#pragma omp parallel for
        for (size_t i = 0; i < n; i++) {
            z[i] = x[i] + 3.0F * y[i];
        }
        t = omp_get_wtime() - t;
        least = t < least ? t : least;
    }
    printf("%.2f\n", 3.0 * (double)n * sizeof(float) / least / 1e9);
    return z[5] < 20 || z[5] > 20;
}
C
read -ra loops <<<"$(make -s --no-print-directory print-loops)"
gcc -std=c17 -O2 "${loops[@]}" -fopenmp -o "$dir/omp" "$dir/omp.c"
triad() { # device: GB/s, the best sample of a run
    "$GPUTIER" --db "$dir/x.db" bench --device "$1" --metrics triad --no-store --format json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["results"][0]["p95"])'
}
for _ in 1 2 3 4 5 6 7; do
    "$dir/omp" $((256 << 20)) >>"$dir/openmp"
    triad cpu >>"$dir/cpu"
    triad opencl >>"$dir/opencl" 2>/dev/null || echo "no OpenCL device (pocl-opencl-icd): left out"
done
python3 - "$dir" <<'P'
import sys
best = {}
for name in ('openmp', 'cpu', 'opencl'):
    best[name] = max([float(x) for x in open(f'{sys.argv[1]}/{name}')], default=0)
of_omp, of_cpu = best['cpu'] / best['openmp'], best['opencl'] / best['cpu']
print(f"triad: OpenMP {best['openmp']:.1f} GB/s, CPU fallback {best['cpu']:.1f}: {of_omp:.2f} times (goal 0.9); "
      f"PoCL {best['opencl']:.1f}: {of_cpu:.2f} times the fallback (goal 0.8)")
sys.exit(0 if of_omp >= 0.9 and (of_cpu >= 0.8 or not best['opencl']) else 1)
P
