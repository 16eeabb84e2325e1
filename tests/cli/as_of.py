#!/usr/bin/env python3
"""`--as-of`: prices that were known by then and valid then, in every command that reads prices; and the order in which
files are imported changes neither the history nor the prices."""
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

GPUTIER = os.environ['GPUTIER']
ROOT = Path(__file__).resolve().parents[2]
work = Path(tempfile.mkdtemp())
(work / 'empty' / 'snapshot').mkdir(parents=True)
failures = []


def expect(what, got, want):
    if got != want:
        failures.append(f'{what}: {got!r}, expected {want!r}')


def run(db, now, *args, status=0, data=work / 'empty'):
    env = dict(os.environ, GPUTIER_DB=str(work / db), GPUTIER_DATA=str(data), GPUTIER_NOW=now)
    p = subprocess.run([GPUTIER, *map(str, args)], env=env, capture_output=True, text=True, timeout=100, check=False)
    if p.returncode != status:
        failures.append(f'{args}: exit {p.returncode}, expected {status}: {p.stderr[-500:]}')
    return p.stdout


HEAD = 'vendor,region,instance_type,gpu,gpu_count,purchase,price_per_hour,currency,valid_from,valid_to\n'


def put(db, now, *rows, name='o.csv', more=()):
    (work / name).write_text(HEAD + ''.join(f'aws,us-east-1,{r}\n' for r in rows))
    run(db, now, 'import', 'prices-csv', work / name, *more)


def prices(db, now, *args):
    d = json.loads(run(db, now, 'prices', '--format', 'json', *args))
    return {o['instance_type']: o['price_per_hour'] for o in d['offers']}


def known_and_valid():
    put('k.db', '2026-01-10', 'a,,0,on_demand,10,USD,,', 'dated,,0,on_demand,5,USD,2026-02-01,2026-03-01')
    put('k.db', '2026-04-01', 'a,,0,on_demand,12,USD,,', 'dated,,0,on_demand,5,USD,2026-02-01,2026-03-01')
    for day, want in (('2026-01-09', {}),                          # nothing known yet
                      ('2026-01-10', {'a': '10'}),                 # known, the dated one not yet valid
                      ('2026-02-01', {'a': '10', 'dated': '5'}),
                      ('2026-03-01', {'a': '10'}),                 # no longer valid
                      ('2026-03-31T23:59:59Z', {'a': '10'}), ('2026-04-01', {'a': '12'})):
        expect(f'prices of {day}', prices('k.db', '2026-06-01', '--as-of', day), want)
    expect('now', prices('k.db', '2026-06-01'), {'a': '12'})
    got = json.loads(run('k.db', '2026-06-01', 'prices', '--as-of', '2026-02-01', '--format', 'json'))
    expect('says so', got['as_of'], '2026-02-01T00:00:00Z')
    run('k.db', '2026-06-01', 'prices', '--as-of', 'soon', status=2)


def other_commands():
    """plan, report and tier rest on the prices of that day, the same whenever they are asked."""
    gpu = 'A100-80GB SXM4,1,on_demand'
    put('p.db', '2026-01-01', f'm,{gpu},2,USD,,')
    put('p.db', '2026-03-01', f'm,{gpu},3,USD,,')
    store = 'vendor,region,product,tier,component,unit,from_qty,to_qty,usd,source,date\n'
    for now, usd in (('2026-01-01', '0.02'), ('2026-03-01', '0.04')):
        (work / 's.csv').write_text(store + f'aws,us-east-1,S3,Standard,storage,GiB-month,0,,{usd},x,{now}\n')
        run('p.db', now, 'import', 'auto', work / 's.csv')
    ask = ['plan', '--gpu', 'A100-80GB', '--gpus', '1', '--gpu-hours', '10', '--setup', '1s', '--vendor', 'aws', '--format', 'json']
    rates = {}
    for day in ('2026-02-01', '2026-04-01'):
        asked = [run('p.db', now, *ask, '--as-of', day) for now in ('2026-05-01', '2026-05-01')]
        expect('the same bytes', asked[0], asked[1])
        rates[day] = {p['rate'] for p in json.loads(asked[0])['plans'][0]['provenance'] if p['unit'] == 'hour'}
    expect('plan', rates, {'2026-02-01': {'2'}, '2026-04-01': {'3'}})
    text = run('p.db', '2026-05-01', 'prices', 'storage', '--vendor', 'aws', '--region', 'us-east-1', '--format', 'json', '--as-of',
               '2026-02-01')
    expect('storage', [r['rate'] for r in json.loads(text)['rates']], ['0.02'])
    (work / 's.yaml').write_text('schema: gputier/scenario/1\nname: s\nworkload:\n  kind: training\n  gpu_hours: {gpu: A100-80GB, hours: 10}\n'
                                 'data:\n  - {name: x, role: logs, size: 100GiB, lives_in: aws/us-east-1, tier: s3_standard, keep: 12mo}\n')
    totals = [json.loads(run('p.db', '2026-05-01', 'tier', work / 's.yaml', '--format', 'json', '--as-of', day))['baseline']
              for day in ('2026-02-01', '2026-04-01')]
    expect('tier', totals, ['24', '48'])
    report = run('p.db', '2026-05-01', 'report', work / 's.yaml', '--format', 'csv', '-o', '-', '--audit', '--as-of', '2026-02-01')
    expect('report', (',2,' in report, ',3,USD' in report), (True, False))


def f171_load_order():
    """Histories, lists and exchange rates in several orders: the same history, the same prices, the same conversion."""
    past = 'region,instance_type,first_seen_generated_at,usd_per_hour\n'
    (work / 'aws-a.csv').write_text(past + 'us-east-1,m,2025-01-01,4\nus-east-1,m,2025-06-01,3\n')
    (work / 'aws-b.csv').write_text(past + 'us-east-1,m,2025-09-01,2\n')
    (work / 'list.csv').write_text(HEAD + 'aws,us-east-1,other,,0,on_demand,7,CNY,,\n')
    (work / 'fx.xml').write_text("<gesmes:Envelope><Cube><Cube time='2025-12-01'><Cube currency='USD' rate='1'/>"
                                 "<Cube currency='CNY' rate='7'/></Cube></Cube></gesmes:Envelope>")
    files = [('auto', 'aws-a.csv'), ('auto', 'aws-b.csv'), ('prices-csv', 'list.csv'), ('ecb-fx', 'fx.xml')]
    first = None
    for n, order in enumerate(itertools.islice(itertools.permutations(files), 0, None, 3)):
        for kind, name in order:
            run(f'o{n}.db', '2026-01-01', 'import', kind, work / name)
        found = [run(f'o{n}.db', '2026-01-01', *args, '--format', 'json') for args in (
            ('history', '--instance', 'm', '--region', 'aws/us-east-1'), ('prices',), ('prices', '--currency', 'USD'),
            ('prices', '--as-of', '2026-01-01'))]
        first = first or found
        if found != first:
            failures.append(f'{[f for _, f in order]}: another answer than in the first order')
    points = [(p['when'][:10], p['price_per_hour']) for p in json.loads(first[0])['points']]
    expect('history', points, [('2025-01-01', '4'), ('2025-06-01', '3'), ('2025-09-01', '2')])
    expect('converted', {o['instance_type']: o['price_per_hour'] for o in json.loads(first[2])['offers']}, {'m': '2', 'other': '1'})


known_and_valid()
other_commands()
f171_load_order()
for f in failures:
    print('FAIL', f)
sys.exit(1 if failures else 0)
