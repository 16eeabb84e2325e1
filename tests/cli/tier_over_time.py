#!/usr/bin/env python3
"""tier month by month, for every product: money adds up to the plan to the last digit, the bytes of every tier are those
of the groups' paths, the baseline of data that rest is what the shown rates give; bars, CSV and JSON tell the same."""
import csv
import io
import json
import os
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import expect  # noqa: E402

tmp = Path(tempfile.mkdtemp())
ENV = dict(os.environ, GPUTIER_NOW='2026-12-02T00:00:00Z', GPUTIER_DB=str(tmp / 'x.db'))
PRODUCTS = {  # what --from takes: a class of the hot tier, as inventories name it
    's3': 'STANDARD', 'efs': 'STANDARD', 'ebs': 'gp3', 'azure_blob_lrs': 'Hot', 'azure_blob_zrs': 'Hot', 'azure_blob_grs': 'Hot',
    'gcs': 'STANDARD', 'oci': 'oci_standard', 'r2': 'r2_standard', 'wasabi': 'wasabi', 'b2': 'b2', 'oss': 'Standard',
    'cos': 'STANDARD', 'obs': 'STANDARD', 'fsx_lustre': 'persistent', 'azure_disk': 'premium', 'azure_files_lrs': 'hot',
    'gcp_disk': 'gcp_pd_balanced', 'gcp_filestore': 'zonal', 'oci_block': 'oci_block', 'oci_file': 'oci_file'}


def run(*args, code=0):
    return asked.run(*args, code=code, env=ENV, text=True)


def histogram(cls):
    path = tmp / f'{cls}.csv'
    lines = ['prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k,gets_30d,bytes_read_30d']
    for prefix, size, age, objects, gets in (('cold/', 1 << 24, 400, 70_001, 0), ('warm/', 1 << 21, 200, 33_333, 17_000),
                                             ('tiny/', 4096, 100, 1_000_003, 0), ('new/', 1 << 27, 0, 777, 0)):
        lines.append(f'{prefix},{cls},true,{size},{age},{age},{objects},{size * objects + 1},{max(size, 131072) * objects + 1},{gets},'
                     f'{gets * size}')
    path.write_text('\n'.join(lines) + '\n')
    return path


def money(texts):
    return sum(map(Fraction, texts))


def bytes_by_path(doc, tier, month):
    return sum(g['bytes'] for g in doc['groups'] for s in g['path']
               if s['tier'] == tier and s['from_month'] <= month < s['to_month'])


def break_even(o):
    spent = base = Fraction(0)
    paid = 0
    for t in range(o['months']):
        spent += sum(Fraction(x['rent'][t]) + Fraction(x['moves'][t]) for x in o['tiers'])
        base += Fraction(o['baseline'][t])
        paid = t + 1 if spent > base else paid
    return paid if paid < o['months'] and spent != base else None


def check(name, doc):
    o = doc['over_time']
    expect(json_schema.validate(doc, json_schema.load('tier')) == [], f'{name}: schema')
    expect(sum(money(x['rent']) + money(x['moves']) for x in o['tiers']) == Fraction(doc['total']), f'{name}: total')
    expect(money(o['baseline']) == Fraction(doc['baseline']), f'{name}: baseline')
    expect({x['tier'] for x in o['tiers']} == {s['tier'] for g in doc['groups'] for s in g['path']}, f'{name}: tiers')
    starts = {(s['tier'], s['from_month']) for g in doc['groups'] for s in g['path']}
    for x in o['tiers']:
        for t in range(o['months']):
            expect(x['bytes'][t] == bytes_by_path(doc, x['tier'], t), f"{name}: bytes of {x['tier']} in month {t}")
            expect((x['tier'], t) in starts or t == o['months'] - 1 or x['moves'][t] == '0',
                   f"{name}: a move into {x['tier']} in month {t}, where none begins")
    expect(o['break_even_month'] == break_even(o), f"{name}: break-even {o['break_even_month']}, reckoned {break_even(o)}")


def every_product():
    for product, cls in PRODUCTS.items():
        args = ('tier', histogram(cls), '--from', product)
        p = run(*args, '--format', 'json', code=None)
        if p.returncode:
            expect(product in ('b2', 'obs', 'gcp_filestore') and 'no price of' in p.stderr, f'{product}: {p.stderr}')
            continue
        doc = json.loads(p.stdout)
        check(product, doc)
        rows = list(csv.DictReader(io.StringIO(run(*args, '--over-time', '--format', 'csv').stdout)))
        told = [(t, x['tier'], x['bytes'][t], x['rent'][t], x['moves'][t]) for t in range(36) for x in doc['over_time']['tiers']]
        expect([(int(r['month']), r['tier'], int(r['bytes']), r['rent'], r['moves']) for r in rows] == told, f'{product}: CSV')


def data_sets():
    """Sets of a scenario end at their own times: the bytes go, what lies longer stays."""
    doc = json.loads(run('tier', Path(__file__).resolve().parents[2] / 'data/examples/vision-team.yaml', '--format', 'json').stdout)
    check('scenario', doc)
    sums = [sum(x['bytes'][t] for x in doc['over_time']['tiers']) >> 30 for t in range(36)]
    expect(sums == [220] * 3 + [200] * 9 + [50] * 24, f'bytes over time: {sums}')


def limits():
    """Plans that keep limits are billed month by month like others."""
    for args in (('--robust', '10'), ('--capacity', 's3_glacier_ir=1TiB', '--capacity', 's3_deep_archive=1TiB'),
                 ('--budget', '250USD/mo'), ('--max-wait', '1h@cold/')):
        doc = json.loads(run('tier', histogram('STANDARD'), *args, '--format', 'json').stdout)
        check(' '.join(args), doc)


def resting():
    """New small objects that no move pays for: each month is size x rate and a read of each."""
    path = tmp / 'rest.csv'
    path.write_text('prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n'
                    'a/,STANDARD,true,4096,5,5,1000,4096000,131072000\n')
    doc = json.loads(run('tier', path, '--horizon', '7mo', '--format', 'json').stdout)
    shown = run('prices', 'storage', '--vendor', 'aws', '--region', 'aws/us-east-1', '--format', 'json').stdout
    rate = {r['component']: Fraction(r['rate']) / int(r['unit_qty']) for r in json.loads(shown)['rates']
            if r['tier'] == 's3_standard' and not Fraction(r['from_qty'] or 0)}
    want = Fraction(4096000, 2**30) * rate['storage'] + 1000 * rate['get']
    for t in range(7):
        got = Fraction(doc['over_time']['tiers'][0]['rent'][t])
        expect(abs(got - want) <= Fraction(2, 10**12), f'month {t}: {float(got)}, reckoned {float(want)}')


def bars():
    args = ('tier', histogram('STANDARD'), '--horizon', '120mo', '--over-time')
    text = run(*args).stdout
    doc = json.loads(run(*args, '--format', 'json').stdout)
    rows = [line.split() for line in text.split('Over time')[1].splitlines() if line.split() and line.split()[0][0].isdigit()]
    expect(len(rows) == 30 and rows[0][0] == '1-4' and rows[-1][0] == '117-120', f'rows of four months: {len(rows)}')
    shown = sum(Fraction(r[4].replace(',', '')) for r in rows)
    expect(abs(shown - Fraction(doc['total'])) <= Fraction(1, 200), f"shown {float(shown)}, total {doc['total']}")
    for x in doc['over_time']['tiers']:
        expect(x['tier'] in text.split('Over time')[1], f"legend of {x['tier']}")
    plain = run(*args, '--plain').stdout.split('Over time')[1]
    expect('#' not in plain and 's3_standard ' in plain, 'plain text has words for bars')


every_product()
data_sets()
limits()
resting()
bars()
sys.exit(asked.verdict())
