#!/usr/bin/env bash
# MB per CPU-second and peak memory of `import aws-offer`, file to committed rows, beside bare passes of
# yajl, RapidJSON and libcsv over the same files, all in one run. Judged are the ratios, as rates vary
# with what else the machine does: on the quiet machine of the targets 1,000 MB per CPU-second are 1.68
# times yajl's rate and 2.2 times libcsv's; the memory must stay at 32 MiB or below.
# usage: import_offer.sh [SIZE]   (default 300M; the generator's --size; 4.1G is `make bench-big`)
set -eu
cd "$(dirname "$0")/../.."
gputier=${GPUTIER:-./gputier} shared=${GPUTIER_SHARED:-../shared} size=${1:-300M}
if [ ! -f "$shared/tools/gen_aws_offer.py" ]; then echo "SKIPPED: no $shared/tools"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -o "$work/peak" tests/support/peak.c
cc -O2 -o "$work/yajl" tests/bench/pass_yajl.c -lyajl
cc -O2 -o "$work/libcsv" tests/bench/pass_libcsv.c -lcsv
c++ -O2 -o "$work/rapidjson" tests/bench/pass_rapidjson.cc
python3 "$shared/tools/gen_aws_offer.py" --size "$size" --format both --no-expected --out "$work/a"
gzip -6 -k "$work/a.json"
python3 - "$work" "$gputier" <<'P'
import os, sys, time
work, gputier = sys.argv[1], os.path.abspath(sys.argv[2])
os.environ['GPUTIER_DATA'] = work  # no snapshot: the import alone is measured

def run(args):
    """CPU seconds and peak RSS in MiB of one child."""
    null = os.open(os.devnull, os.O_WRONLY)
    args = [work + '/peak', work + '/peak.kib', *args]  # this interpreter's own peak would outlive exec
    pid = os.posix_spawnp(args[0], args, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status, use = os.wait4(pid, 0)
    os.close(null)
    if status:
        sys.exit(f'{args[2]} ended with status {status}')
    with open(work + '/peak.kib') as f:
        return use.ru_utime + use.ru_stime, int(f.read()) / 1024

def best(args, n=3):
    runs = [run([x.format(i=i) for x in args]) for i in range(n)]
    return min(c for c, _ in runs), max(m for _, m in runs)

ok = True
for kind, name, peers, least in (('json', 'a.json', ('yajl', 'rapidjson'), 1.68), ('csv', 'a.csv', ('libcsv',), 2.2),
                                 ('gzip', 'a.json.gz', (), 0)):
    path = f'{work}/{name}'
    mb = os.path.getsize(path.removesuffix('.gz')) / 1e6
    rates = {p: mb / best([f'{work}/{p}', path])[0] for p in peers}
    cpu, rss = best([gputier, '--db', f'{work}/{kind}{{i}}.db', '-q', 'import', 'aws-offer', path])
    beside = ''.join(f', {mb / cpu / r:.2f} times {p} ({r:.0f})' for p, r in rates.items())
    print(f'{kind}: {mb:.0f} MB in {cpu:.3f} CPU s, {mb / cpu:.0f} MB per CPU s{beside}'
          f'{f" (at least {least})" if peers else ""}, peak {rss:.1f} MiB (at most 32)')
    ok = ok and rss <= 32 and (not peers or mb / cpu / rates[peers[0]] >= least)
sys.exit(0 if ok else 1)
P
