#!/usr/bin/env bash
# CPU time and peak memory of `import aws-offer` beside a bare yajl / libcsv pass over the same
# file, all in one run: the ratio must stay at 1.5 or below, the memory at 32 MiB or below.
# usage: import_offer.sh [SIZE]   (default 300M; the generator's --size)
set -eu
cd "$(dirname "$0")/../.."
gputier=${GPUTIER:-./gputier} shared=${GPUTIER_SHARED:-../shared} size=${1:-300M}
if [ ! -f "$shared/tools/gen_aws_offer.py" ]; then echo "SKIPPED: no $shared/tools"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -o "$work/yajl" tests/bench/pass_yajl.c -lyajl
cc -O2 -o "$work/libcsv" tests/bench/pass_libcsv.c -lcsv
python3 "$shared/tools/gen_aws_offer.py" --size "$size" --format both --no-expected --out "$work/a"
cat "$work"/a.json "$work"/a.csv >/dev/null
python3 - "$work" "$gputier" <<'P'
import os, sys, time
work, gputier = sys.argv[1], os.path.abspath(sys.argv[2])
os.environ['GPUTIER_DATA'] = work  # no snapshot: the import alone is measured

def run(args):
    """CPU seconds and peak RSS in MiB of one child."""
    null = os.open(os.devnull, os.O_WRONLY)
    pid = os.posix_spawnp(args[0], args, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status, use = os.wait4(pid, 0)
    os.close(null)
    if status:
        sys.exit(f'{args[0]} ended with status {status}')
    return use.ru_utime + use.ru_stime, use.ru_maxrss / 1024

ok = True
for kind, bare in (('json', 'yajl'), ('csv', 'libcsv')):
    path = f'{work}/a.{kind}'
    base, ours = [], []
    for i in range(3):
        base.append(run([f'{work}/{bare}', path]))
        db = f'{work}/{kind}{i}.db'
        ours.append(run([gputier, '--db', db, '-q', 'import', 'aws-offer', path]))
    cpu, rss = min(c for c, _ in ours), max(m for _, m in ours)
    ratio = cpu / min(c for c, _ in base)
    mb = os.path.getsize(path) / 1e6
    print(f'{kind}: {mb:.0f} MB, bare {bare} {min(c for c, _ in base):.3f} s, import {cpu:.3f} s CPU, '
          f'ratio {ratio:.2f} (at most 1.5), peak {rss:.1f} MiB (at most 32)')
    ok = ok and ratio <= 1.5 and rss <= 32
sys.exit(0 if ok else 1)
P
