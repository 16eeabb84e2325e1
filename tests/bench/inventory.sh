#!/usr/bin/env bash
# Rows per CPU-second of `inventory aggregate` over a made S3 Inventory, plain and gzip, beside mawk
# (and DuckDB where it is installed) doing the same grouping over the same file in the same run; then
# 10^8 rows with their peak memory. Answers are compared with the generator's own. Judged are the
# ratios to mawk (4.2 is 5 million rows a CPU-second where mawk does 1.19 million, a quiet machine; 1.5 is 1.8
# million from gzip) and the memory (256 MiB).
# usage: inventory.sh [KEYS [ROWS]]   (default 2e6 1e8; ROWS: of the long run)
set -eu
cd "$(dirname "$0")/../.."
gputier=$(realpath "${GPUTIER:-./gputier}") shared=${GPUTIER_SHARED:-../shared} keys=${1:-2e6} long=${2:-1e8}
if [ ! -f "$shared/tools/gen_s3_inventory.py" ]; then echo "SKIPPED: no $shared/tools"; exit 77; fi
if ! command -v mawk >/dev/null; then echo "SKIPPED: no mawk"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -o "$work/peak" tests/support/peak.c
python3 "$shared/tools/gen_s3_inventory.py" --keys "$keys" --plain --out "$work/plain"
python3 "$shared/tools/gen_s3_inventory.py" --keys "$keys" --out "$work/gzip"
python3 - "$work" "$gputier" "$long" <<'P'
import csv, datetime, json, os, shutil, sys, time
work, gputier, long = sys.argv[1:]
long = float(long)
NOW = '2026-12-01T00:00:00Z'
SIZES = (131072, 1 << 20, 1 << 27, 1 << 30)
AGES = (30, 90, 180, 365)


def run(args, out):
    """CPU seconds, wall seconds and peak RSS in MiB of one child; its output to a file."""
    begin = time.monotonic()
    args = [work + '/peak', work + '/peak.kib', *args]  # this interpreter's own peak would outlive exec
    pid = os.posix_spawnp(args[0], args, os.environ,
                          file_actions=[(os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])
    _, status, use = os.wait4(pid, 0)
    if status:
        sys.exit(f'{args[2]} ended with status {status}')
    with open(work + '/peak.kib') as f:
        return use.ru_utime + use.ru_stime, time.monotonic() - begin, int(f.read()) / 1024


def best(args, out, n=3):
    runs = [run(args, out) for _ in range(n)]
    return min(r[0] for r in runs), min(r[1] for r in runs), max(r[2] for r in runs)


def at(value, edges):
    return sum(int(value) >= e for e in edges)


want = {}
names = ('lt128Ki', 'lt1Mi', 'lt128Mi', 'lt1Gi', 'ge1Gi'), ('lt30', 'lt90', 'lt180', 'lt365', 'ge365')
for r in csv.DictReader(open(f'{work}/plain/expected-groups.csv')):
    key = r['prefix'], names[0].index(r['size_bucket']), names[1].index(r['age_bucket']), r['storage_class']
    want[key] = int(r['objects']), int(r['bytes'])
rows = sum(v[0] for v in want.values())


def check(who, groups):
    if groups != want:
        sys.exit(f'{who} answers otherwise: {len(groups)} groups, expected {len(want)}')


def ours(path):
    got = {}
    for r in csv.DictReader(open(path)):
        key = r['prefix'].rstrip('/'), at(r['size_lo'], SIZES), at(r['age_lo_days'], AGES), r['storage_class']
        o, b = got.get(key, (0, 0))
        got[key] = o + int(r['objects']), b + int(r['bytes'])
    return got


def theirs(path):
    got = {}
    for line in open(path):
        prefix, size, age, name, objects, total = line.rstrip('\n').split('|')
        got[prefix, int(size), int(age), name] = int(objects), int(float(total))
    return got


def aggregate(folder):
    return ['taskset', '-c', '1', gputier, 'inventory', 'aggregate', f'{work}/{folder}/manifest.json', '--as-of', NOW,
            '--format', 'csv', '-q']


# the date before which an object is that old, as text: midnight, so that text order is time order
cuts = [(datetime.date(2026, 12, 1) - datetime.timedelta(days=a)).isoformat() + 'T00:00:00.000Z' for a in AGES]
awk = ('BEGIN{FS="\\",\\"";OFMT=CONVFMT="%.0f"}{split($2,a,"/");s=$3+0;t=$4;'
       'k=a[1]"/"a[2]"|"(s>=131072)+(s>=1048576)+(s>=134217728)+(s>=1073741824)"|"'
       + '+'.join(f'(t<="{c}")' for c in cuts) + '"|"$6;n[k]++;y[k]+=s}'
       'END{for(k in n)printf "%s|%d|%.0f\\n",k,n[k],y[k]}')
files = [f'{work}/plain/' + f['key'] for f in json.load(open(f'{work}/plain/manifest.json'))['files']]
rate = {}
cpu, _, _ = best(['mawk', awk, *files], f'{work}/out', 2)
check('mawk', theirs(f'{work}/out'))
rate['mawk'] = rows / cpu / 1e6
if shutil.which('duckdb'):
    edges = ' + '.join(f"(t <= TIMESTAMP '{c[:10]}')::int" for c in cuts)
    sizes = ' + '.join(f'(s >= {e})::int' for e in SIZES)
    columns = ', '.join(f"'{n}': '{t}'" for n, t in (('b', 'VARCHAR'), ('k', 'VARCHAR'), ('s', 'BIGINT'), ('t', 'TIMESTAMP'),
                                                     ('e', 'VARCHAR'), ('c', 'VARCHAR'), ('m', 'VARCHAR')))
    query = (f"SET threads=1; COPY (SELECT split_part(k,'/',1)||'/'||split_part(k,'/',2), {sizes}, {edges}, c, count(*), sum(s) "
             f"FROM read_csv({files!r}, header=false, columns={{{columns}}}) GROUP BY ALL) TO '/dev/stdout' (DELIMITER '|', HEADER false)")
    cpu, _, _ = best(['duckdb', '-c', query], f'{work}/out', 2)
    check('DuckDB', theirs(f'{work}/out'))
    rate['DuckDB'] = rows / cpu / 1e6
peers = ', '.join(f'{k} {v:.2f}' for k, v in rate.items())
for folder, goal in (('plain', 5), ('gzip', 1.8)):
    cpu, _, rss = best(aggregate(folder), f'{work}/out')
    check('gputier', ours(f'{work}/out'))
    rate[folder] = rows / cpu / 1e6
    print(f'{folder}: {rate[folder]:.2f} million rows a CPU s (goal {goal}); {peers}: '
          f'{rate[folder] / rate["mawk"]:.1f} times mawk; peak {rss:.0f} MiB')
manifest = json.load(open(f'{work}/gzip/manifest.json'))
manifest['files'] *= round(long / rows)
json.dump(manifest, open(f'{work}/gzip/manifest.json', 'w'))
cpu, one, _ = run(aggregate('gzip'), f'{work}/one')
cpu, wall, rss = run(aggregate('gzip')[3:], f'{work}/all')
same = open(f'{work}/one').read() == open(f'{work}/all').read()
print(f'gzip, {rows * round(long / rows):.0f} rows: {cpu:.1f} CPU s, {wall:.1f} s with all cores, {one / wall:.2f} times as fast '
      f'as with one; the same rows: {same}; peak {rss:.0f} MiB (at most 256)')
sys.exit(0 if same and rss <= 256 and rate['plain'] >= 4.2 * rate['mawk'] and rate['gzip'] >= 1.5 * rate['mawk'] else 1)
P
