#!/usr/bin/env python3
"""import and prices as programs: a generated EC2 list of 20 MB gives exactly the generator's rows in
both layouts; catalog questions C01, C02, C04 are answered by importing the file they name and asking
`prices` and `history`; broken files are refused with their place and publish nothing."""
import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import json_schema  # noqa: E402

GPUTIER = os.environ['GPUTIER']
SHARED = Path(os.environ.get('GPUTIER_SHARED', '../shared'))
if not (SHARED / 'catalog').is_dir():
    print(f'SKIPPED: {SHARED}/catalog is missing')
    sys.exit(77)
work = Path(tempfile.mkdtemp())
os.environ['GPUTIER_NOW'] = '2026-12-02T10:00:00Z'


def run(db, *args, status=0, data=None, stdin=None):
    env = dict(os.environ, GPUTIER_DB=str(work / db))
    if data is not None:
        env['GPUTIER_DATA'] = str(data)
    p = subprocess.run([GPUTIER, *map(str, args)], env=env, input=stdin, capture_output=True)
    if p.returncode != status:
        sys.exit(f'{args}: exit {p.returncode}, expected {status}\n{p.stdout[-400:]}\n{p.stderr[-800:]}')
    return p


def prices(db, *args, data=None):
    d = json.loads(run(db, 'prices', '--format', 'json', *args, data=data).stdout)
    errors = json_schema.validate(d, json_schema.load('prices'))
    if errors:
        sys.exit('\n'.join(errors[:5]))
    return d['offers']


def check(name, found, wanted):
    if found != wanted:
        sys.exit(f'{name}: found {found}, expected {wanted}')


empty = work / 'no-snapshot'
empty.mkdir()


def generated():
    subprocess.run([sys.executable, SHARED / 'tools/gen_aws_offer.py', '--size', '20M', '--format', 'both',
                    '--expected-all', '--out', work / 'a'], check=True)
    with open(work / 'a.expected-all.csv', newline='') as f:
        wanted = sorted((r['region'], r['instance_type'], Decimal(r['vcpu']), Decimal(r['memory_gib']),
                         Decimal(r['price_per_hour']), r['currency'], r['sku'], Decimal(r['gpu_count'] or 0)) for r in csv.DictReader(f))
    with open(work / 'a.expected-ondemand.csv', newline='') as f:
        gpus = sorted(r['sku'] for r in csv.DictReader(f))
    subprocess.run(['gzip', '-1k', work / 'a.csv'], check=True)
    subprocess.run(['zstd', '-q', work / 'a.json', '-o', work / 'a.json.zst'], check=True)
    for i, name in enumerate(('a.json', 'a.csv', 'a.csv.gz', 'a.json.zst')):
        db = f'gen{i}.db'
        run(db, 'import', 'auto' if i else 'aws-offer', work / name, data=empty)
        found = sorted((o['region'], o['instance_type'], Decimal(str(o['vcpus'])), Decimal(str(o['memory_gib'])),
                        Decimal(o['price_per_hour']), o['currency'], o['sku'], Decimal(str(o['gpu_count'] or 0)))
                       for o in prices(db, '--purchase', 'on_demand', data=empty))
        check(name, found, wanted)
        check(f'{name}: machines with GPUs', sorted(o[6] for o in found if o[7] > 0), gpus)
    again = json.loads(run('gen0.db', 'import', 'auto', work / 'a.csv', '--format', 'json', data=empty).stdout)
    check('import schema', json_schema.validate(again, json_schema.load('import')), [])
    one = again['imports'][0]
    check('the same list in the other layout', (one['added'], one['changed'], one['closed']), (0, 0, 0))
    piped = run('pipe.db', 'import', 'auto', '-', data=empty, stdin=(work / 'a.csv.gz').read_bytes())
    assert b'standard input' not in piped.stderr
    check('standard input', len(prices('pipe.db', '--purchase', 'on_demand', data=empty)), len(wanted))


def answers():
    with open(SHARED / 'oracles/catalog-answers.json') as f:
        answer = {a['id']: a['answer'] for a in json.load(f)['answers']}
    catalog = SHARED / 'catalog'
    run('q.db', 'import', 'auto', catalog / 'skypilot-format-gcp-vms-2026-05-20.csv.gz',
        catalog / 'skypilot-format-azure-vms-2026-05-20.csv.gz', data=empty)
    rows = prices('q.db', '--vendor', 'gcp', '--region', 'us-central1', '--instance', 'a2-highgpu-1g', data=empty)
    rows = {o['purchase']: o for o in rows if o['zone'] == 'us-central1-a'}
    for purchase, key in (('on_demand', 'on_demand_usd'), ('spot', 'spot_usd')):
        off = abs(Decimal(rows[purchase]['price_per_hour']) - Decimal(str(answer['C01'][key])))
        check(f'C01 {purchase}', off <= Decimal('0.00002'), True)
    check('C01 date', rows['spot']['as_of'], '2026-05-20T00:00:00Z')
    best = prices('q.db', '--vendor', 'azure', '--gpu', 'A100-80GB', '--purchase', 'spot', '--per', 'gpu-hour',
                  '--limit', '1', data=empty)[0]
    check('C02', (best['instance_type'], best['region'], float(best['price_per_gpu_hour'])),
          (answer['C02']['instance_type'], answer['C02']['region'], answer['C02']['usd_per_gpu_hour']))
    # every A100-80GB of the file counts, also those under a header that is one field short
    with gzip.open(catalog / 'skypilot-format-azure-vms-2026-05-20.csv.gz', 'rt', newline='') as f:
        wanted = sorted(Fraction(r['SpotPrice']) / int(r['AcceleratorCount']) for r in csv.DictReader(f)
                        if r['AcceleratorName'] == 'A100-80GB' and r['SpotPrice'] and r['SpotPrice'] != r['Price'])
    found = [Fraction(o['price_per_gpu_hour'])
             for o in prices('q.db', '--vendor', 'azure', '--gpu', 'A100-80GB', '--purchase', 'spot', '--per',
                             'gpu-hour', data=empty)]
    check('A100-80GB spot rows', len(found), len(wanted))
    check('A100-80GB spot prices', all(abs(a - b) < Fraction(1, 10**11) for a, b in zip(found, wanted)), True)
    run('h.db', 'import', 'auto', catalog / 'aws-ondemand-history-us-east-1.csv.gz', data=empty)
    history = json.loads(run('h.db', 'history', '--instance', 'p5.48xlarge', '--region', 'aws/us-east-1',
                             '--format', 'json', data=empty).stdout)
    check('history schema', json_schema.validate(history, json_schema.load('history')), [])
    old, new = history['points']
    check('C04', (float(old['price_per_hour']), old['when'], float(new['price_per_hour']), new['when'],
                  new['change_pct']),
          (answer['C04']['old'], answer['C04']['old_first_seen'], answer['C04']['new'], answer['C04']['first_seen'],
           answer['C04']['change_pct']))
    check('the price now', [o['price_per_hour'] for o in
                            prices('h.db', '--instance', 'p5.48xlarge', data=empty)], ['55.04'])
    # filters
    for o in prices('q.db', '--gpus', '2-4', '--gpu', 'H100', '--max-price', '20', data=empty):
        assert 2 <= o['gpu_count'] <= 4 and o['gpu'].startswith('H100') and float(o['price_per_hour']) <= 20, o
    sixth = prices('q.db', '--gpus', '1/6', data=empty)
    assert sixth and all(o['gpu_count'] == '1/6' and o['gpu'] == 'A10' for o in sixth)
    up = [float(o['price_per_hour']) for o in prices('q.db', '--gpu', 'T4', '--purchase', 'spot', data=empty)]
    assert up and up == sorted(up)
    down = prices('q.db', '--gpu', 'T4', '--sort', '-price,region', data=empty)
    known = [float(o['price_per_hour']) for o in down if o['price_per_hour']]
    assert known == sorted(known, reverse=True)
    assert all(o['price_per_hour'] is None for o in down[len(known):]), 'what has no price comes last'
    p = run('q.db', 'prices', '--gpu', 'H10', status=2, data=empty)
    assert b'H100' in p.stderr and p.stdout == b'', p.stderr
    run('q.db', 'prices', '--sort', 'colour', status=2, data=empty)
    found = run('q.db', 'prices', 'check', '--format', 'json', data=empty, status=3)
    findings = json.loads(found.stdout)
    errors = json_schema.validate(findings, json_schema.load('prices-check'))
    check('prices check schema', errors, [])
    assert 'spot_above_on_demand' in {f['kind'] for f in findings['findings']}, 'the file has 24 such rows'


def broken():
    good = work / 'own.csv'
    head = 'vendor,region,instance_type,purchase,price_per_hour,currency,gpu,gpu_count\n'
    good.write_text(head + 'coreweave,us-east-04,hgx.h100,on_demand,49.24,USD,H100 SXM,8\n')
    run('b.db', 'import', 'prices-csv', good, data=empty)
    before = prices('b.db', data=empty)
    check('own list', (before[0]['price_per_hour'], before[0]['price_per_gpu_hour'], before[0]['origin']),
          ('49.24', '6.155', 'imported'))
    cut = work / 'cut.csv.gz'
    cut.write_bytes((work / 'a.csv.gz').read_bytes()[:100000])
    cut_json = work / 'cut.json'
    cut_json.write_bytes((work / 'a.json').read_bytes()[:5000000])
    (work / 'none.csv').write_text('')
    (work / 'text.txt').write_text('hello\n')
    (work / 'bad').mkdir()
    (work / 'bad' / 'own.csv').write_text(head + 'coreweave,us-east-04,x,on_demand,1,USD,,\n'
                                          'coreweave,us-east-04,y,on_demand,-3,USD,,\n')
    cases = [('auto', cut, 4, b'before their time'), ('auto', cut_json, 4, b'cut file'),
             ('auto', work / 'none.csv', 4, b'empty'), ('auto', work / 'text.txt', 4, b'no known price list'),
             ('aws-offer', good, 4, b'no header line'), ('nonsense', good, 2, b'aws-offer'),
             ('auto', work / 'missing.csv', 4, b'missing.csv'), ('auto', work / 'bad', 4, b'folder'),
             ('auto', work / 'bad' / 'own.csv', 4, b'own.csv:3')]
    for kind, path, status, says in cases:
        p = run('b.db', 'import', kind, path, status=status, data=empty)
        assert says in p.stderr, (kind, path, p.stderr)
        check(f'prices after {path.name}', prices('b.db', data=empty), before)
    # a list that halves is held back; agreed to, it is published
    rows = [f'coreweave,us-east-04,t{i},on_demand,{i + 1},USD,,\n' for i in range(100)]
    good.write_text(head + ''.join(rows))
    run('b.db', 'import', 'auto', good, data=empty)
    good.write_text(head + ''.join(rows[:20]))
    run('b.db', 'import', 'auto', good, status=3, data=empty)
    check('held back', len(prices('b.db', data=empty)), 100)
    run('b.db', 'import', 'auto', good, '--accept-large-change', data=empty)
    check('agreed', len(prices('b.db', data=empty)), 20)
    run('b.db', 'db', 'check', data=empty)


try:
    generated()
    answers()
    broken()
finally:
    shutil.rmtree(work)
print('ok')
