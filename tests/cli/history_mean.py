#!/usr/bin/env python3
"""history over a window: the generator's own means, least, most and last of every pool, from its pages in
any order and from its CSV, and recomputed here in fractions to the last digit; a price from before the
window is carried to its start; zones are series of their own. Needs ../shared (skips without it)."""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import json_schema  # noqa: E402

GPUTIER = os.environ['GPUTIER']
TOOL = Path(os.environ.get('GPUTIER_SHARED', '../shared')) / 'tools/gen_spot_history.py'
if not TOOL.is_file():
    print(f'SKIPPED: {TOOL} is missing')
    sys.exit(77)
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
failures = []
END = datetime(2026, 12, 1, tzinfo=timezone.utc)
START = END - timedelta(days=30)


def run(db, *args, status=0, stdin=None):
    env = dict(os.environ, GPUTIER_DB=str(work / db), GPUTIER_DATA=str(work / 'empty'), GPUTIER_NOW='2026-12-02T00:00:00Z')
    p = subprocess.run([GPUTIER, *map(str, args)], env=env, input=stdin, capture_output=True, text=True, timeout=120, check=False)
    if p.returncode != status:
        sys.exit(f'{args}: exit {p.returncode}, expected {status}: {p.stderr[-500:]}')
    return p.stdout


def history(db, *args):
    d = json.loads(run(db, 'history', '-p', 'spot', '--format', 'json', *args))
    failures.extend(json_schema.validate(d, json_schema.load('history'))[:3])
    return d


def check(name, found, wanted):
    print(('ok   ' if found == wanted else 'FAIL ') + name, flush=True)
    if found != wanted:
        failures.append(f'{name}: found {str(found)[:600]}, expected {str(wanted)[:600]}')


def exact_means(rows):
    """zone, type -> mean in 10^-12, from change events in fractions."""
    series = {}
    for r in rows:
        if r['ProductDescription'] == 'Linux/UNIX':
            when = datetime.fromisoformat(r['Timestamp'])
            series.setdefault((r['AvailabilityZone'], r['InstanceType']), []).append((when, Fraction(r['SpotPrice'])))
    means = {}
    for key, points in series.items():
        points.sort(key=lambda p: p[0])
        starts = [max(w, START) for w, _ in points] + [END]
        total = sum(p * int((starts[i + 1] - starts[i]).total_seconds()) for i, (_, p) in enumerate(points))
        mean = total / int((END - START).total_seconds())
        means[key] = (Decimal(mean.numerator) / Decimal(mean.denominator)).quantize(Decimal('1e-12'), ROUND_HALF_EVEN)
    return means


out = work / 'gen'
subprocess.run([sys.executable, TOOL, '--months', '1', '--regions', '2', '--azs', '2', '--types', '6', '--format', 'both', '--page', '500',
                '--out', out], check=True, stdout=subprocess.DEVNULL)
pages = sorted(out.glob('page-*.json'))
random.Random(7).shuffle(pages)
run('pages.db', 'import', 'aws-spot-history', *pages)
run('csv.db', 'import', 'auto', out / 'spot.csv')
with open(out / 'spot.csv', newline='', encoding='utf-8') as f:
    exact = exact_means(csv.DictReader(f))
with open(out / 'expected-spot.csv', newline='', encoding='utf-8') as f:
    expected = list(csv.DictReader(f))


def trap_24_carried_forward(name, found):
    check(f'{name}: means to the last digit', {k: Decimal(s['mean']) for k, s in found.items()}, exact)


window = ('--since', '2026-11-01T00:00:00Z', '--until', '2026-12-01T00:00:00Z')
for db in ('csv.db', 'pages.db'):
    found, ever = {}, {}
    for kind in sorted({r['instance_type'] for r in expected}):
        for region in ('us-east-1', 'us-east-2'):
            for s in history(db, '-i', kind, '-r', f'aws/{region}', *window)['summary']:
                found[s['zone'], kind] = s
            for s in history(db, '-i', kind, '-r', f'aws/{region}', *window[2:])['summary']:
                ever[s['zone'], kind] = s
    check(f'{db}: the pools', sorted(found), sorted(exact))
    trap_24_carried_forward(db, found)
    check(f'{db}: the generator\'s means', [k['time_weighted_mean'] for k in expected],
          [str(Decimal(found[k['availability_zone'], k['instance_type']]['mean']).quantize(Decimal('1e-9'))) for k in expected])
    # of all rows, those before the window included
    check(f'{db}: least, most, last', [tuple(Decimal(ever[k['availability_zone'], k['instance_type']][x]) for x in ('min', 'max', 'last'))
                                       for k in expected], [tuple(Decimal(k[x]) for x in ('min', 'max', 'last')) for k in expected])


def f065_first_record_before_start():
    """Window 07:08 to 07:09, the price is of 06:46; a single row is a flat line."""
    head = 'Timestamp,AvailabilityZone,InstanceType,ProductDescription,SpotPrice\n'
    run('w.db', 'import', 'auto', '-', stdin=head + '2026-11-10T06:46:00Z,us-east-1a,g5.xlarge,Linux/UNIX,0.5\n'
        '2026-11-10T07:08:45Z,us-east-1a,g5.xlarge,Linux/UNIX,0.7\n2026-08-01T00:00:00Z,us-east-1b,g5.xlarge,Linux/UNIX,0.4\n'
        '2026-11-10T07:09:00Z,us-east-1a,g5.xlarge,Linux/UNIX,0.9\n')
    d = history('w.db', '-i', 'g5.xlarge', '-r', 'aws/us-east-1', '--since', '2026-11-10T07:08:00Z', '--until', '2026-11-10T07:09:00Z')
    check('f065', [(p['zone'], p['when'][11:19], p['price_per_hour']) for p in d['points']],
          [('us-east-1b', '07:08:00', '0.4'), ('us-east-1a', '07:08:00', '0.5'), ('us-east-1a', '07:08:45', '0.7')])
    check('f065: a single row is a flat line',
          [(s['zone'], s['mean'], s['changes'], s['from'][11:19]) for s in d['summary']],
          [('us-east-1b', '0.4', 0, '07:08:00'), ('us-east-1a', '0.55', 1, '07:08:00')])
    return d


d = f065_first_record_before_start()
check('zones are no changes of one another', [p['change_pct'] for p in d['points']], [None, None, 40.0])
d = history('w.db', '-i', 'g5.xlarge', '-r', 'aws/us-east-1', '--until', '2026-11-10T06:46:30Z', '--zone', 'us-east-1a')
check('from the first price where no start is given', [(s['from'], s['mean']) for s in d['summary']], [('2026-11-10T06:46:00Z', '0.5')])
text = run('w.db', 'history', '-i', 'g5.xlarge', '-r', 'aws/us-east-1', '-p', 'spot', '--until', '2026-11-11')
check('the table has the means', 'mean' in text and text.count('us-east-1b') == 2, True)
run('w.db', 'history', '-i', 'g5.xlarge', '-r', 'aws/us-east-1', '--since', '2027-01-01', status=2)
run('w.db', 'history', '-i', 'g5.xlarge', '-r', 'aws/us-east-1', '--since', 'soon', status=2)
for form in ('table', 'csv', 'json'):  # prices of other days at one day's rate would be no history
    check(f'no other currency, {form}', run('w.db', 'history', '-i', 'g5.xlarge', '-r', 'aws/us-east-1', '--currency', 'EUR', '--format', form,
                                            status=2), '')
print('\n'.join(failures))
sys.exit(bool(failures))
