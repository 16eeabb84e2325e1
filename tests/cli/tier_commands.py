#!/usr/bin/env python3
"""inventory and tier on generated listings and inventories: sums against the generators' own answers, output
against the schemas, totals that add up, a lifecycle file that an independent check accepts, refusals."""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
import lifecycle_check  # noqa: E402
from asked import expect  # noqa: E402

SHARED = Path(os.environ.get('GPUTIER_SHARED', '../shared'))
NOW = '2026-12-01T00:00:00Z'


def run(*args, code=0, stdin=None):
    return asked.run(*args, code=code, input=stdin).stdout


def load(*args):
    return json.loads(run(*args, '--format', 'json') or b'{}')


def money(text):
    """Decimal string to units of 10^-12."""
    sign = -1 if text.startswith('-') else 1
    whole, _, part = text.lstrip('-').partition('.')
    return sign * (int(whole) * 10**12 + int(part.ljust(12, '0') or 0))


def listing(tmp, name, *args):
    path = tmp / name
    subprocess.run([sys.executable, SHARED / 'tools/gen_find_listing.py', '--files', '20000', '--out', path, *args], check=True)
    with open(f'{path}.expected.csv', encoding='utf-8') as f:
        want = {r['top']: [int(r[k]) for k in ('files', 'bytes', 'cold30', 'cold90', 'cold365')] for r in csv.DictReader(f)}
    return path, want


def find_sums(tmp):
    for name, args, times in (('nul', ['--format', 'nul', '--hard'], True), ('lines', ['--format', 'lines', '--hard'], True),
                              ('ls', ['--format', 'ls'], False)):
        path, want = listing(tmp, name, *args)
        doc = load('inventory', 'aggregate', path)
        expect(json_schema.validate(doc, json_schema.load('inventory')) == [], f'{name}: schema')
        got = {}
        for r in doc['rows']:
            top = r['prefix'].split('/')[1]
            sums = got.setdefault(top, [0, 0, 0, 0, 0])
            sums[0] += r['objects']
            sums[1] += r['bytes']
            for i, edge in enumerate((30, 90, 365)):
                sums[2 + i] += r['bytes'] * (r['idle_lo_days'] >= edge)
            expect(r['bytes_min128k'] >= max(r['bytes'], 131072 * r['objects']), f'{name}: bytes_min128k')
        if times:
            expect(doc['bad_rows'] == 0, f'{name}: {doc["bad_rows"]} bad rows')
            expect(got == want, f'{name}: {got} is not {want}')
        else:  # no types in this form: links and directories count, sums are larger
            expect(all(got[k][0] >= want[k][0] for k in want), f'{name}: {got}')


def s3_sums(tmp):
    out = tmp / 'inv'
    subprocess.run([sys.executable, SHARED / 'tools/gen_s3_inventory.py', '--keys', '20000', '--versions', '--hard-names',
                    '--out', out], check=True)
    manifest = next(out.rglob('manifest.json'))
    doc = load('inventory', 'aggregate', manifest)
    expect(json_schema.validate(doc, json_schema.load('inventory')) == [], 's3: schema')

    def edge(value, edges):
        return max(e for e in edges if e <= value)
    sizes, ages = [0, 131072, 1 << 20, 1 << 27, 1 << 30], [0, 30, 90, 180, 365]
    got, want = {}, {}
    for r in doc['rows']:
        if r['is_latest']:
            key = (r['prefix'].rstrip('/'), edge(r['size_lo'], sizes), edge(r['age_lo_days'], ages), r['storage_class'])
            cell = got.setdefault(key, [0, 0])
            cell[0] += r['objects']
            cell[1] += r['bytes']
    with open(next(out.rglob('expected-groups.csv')), encoding='utf-8') as f:
        rows = list(csv.DictReader(f))
    names = list(rows[0])
    for r in rows:
        size = sizes[[i for i, s in enumerate(('lt128Ki', 'lt1Mi', 'lt128Mi', 'lt1Gi', 'ge1Gi')) if s == r[names[1]]][0]]
        age = ages[[i for i, s in enumerate(('lt30', 'lt90', 'lt180', 'lt365', 'ge365')) if s == r[names[2]]][0]]
        want[(r[names[0]], size, age, r[names[3]])] = [int(r['objects']), int(r['bytes'])]
    expect(got == want, f's3: {len(got)} cells against {len(want)}; first difference '
                        f'{next(((k, got.get(k), want.get(k)) for k in set(got) | set(want) if got.get(k) != want.get(k)), "")}')
    expect(doc['skipped_delete_markers'] > 0, 's3: no delete markers counted')


def check_plan(doc, what):
    expect(json_schema.validate(doc, json_schema.load('tier')) == [], f'{what}: {json_schema.validate(doc, json_schema.load("tier"))[:2]}')
    for key, total in (('cost', 'total'), ('baseline_cost', 'baseline'), ('saving', 'saving')):
        expect(sum(money(g[key]) for g in doc['groups']) == money(doc[total]), f'{what}: {key} do not add up to {total}')
    expect(money(doc['lower_bound']) <= money(doc['total']) <= money(doc['baseline']), f'{what}: bounds')
    for g in doc['groups']:
        steps = g['path']
        expect(steps[0]['from_month'] == 0 and all(a['to_month'] == b['from_month'] for a, b in zip(steps, steps[1:])),
               f'{what}: path of {g["group"]} has holes')


def tier_plans(tmp):
    path, _ = listing(tmp, 'plan', '--format', 'nul', '--hard')
    life, saved = tmp / 'life.json', tmp / 'histogram.csv'
    doc = load('tier', path, '--lifecycle', life)
    check_plan(doc, 'listing')
    expect(money(doc['policy']['cost']) == money(doc['total']) + money(doc['policy']['gap']), 'gap is policy less total')
    expect(money(doc['policy']['gap']) >= 0, 'a policy cheaper than the optimum')
    document = json.loads(life.read_text())
    expect(lifecycle_check.s3(document) == [], f'lifecycle: {lifecycle_check.s3(document)}')
    run('inventory', 'import', path, '-o', saved)
    again = load('tier', saved)
    expect({k: again[k] for k in ('total', 'baseline', 'policy')} == {k: doc[k] for k in ('total', 'baseline', 'policy')},
           'the saved histogram plans differently')
    packed = tmp / 'packed'
    packed.write_bytes(gzip.compress(path.read_bytes()))
    expect(load('tier', packed)['total'] == doc['total'], 'packed listing differs')
    piped = json.loads(run('tier', '-', '--format', 'json', stdin=path.read_bytes()))
    expect(piped['total'] == doc['total'], 'piped listing differs')
    near = load('tier', path, '--max-wait', '1min')
    expect(all(s['tier'] not in ('s3_glacier_flexible', 's3_deep_archive') for g in near['groups'] for s in g['path']),
           '--max-wait lets an archive through')
    expect(money(near['total']) >= money(doc['total']), '--max-wait makes it cheaper')
    few = load('tier', path, '--rules', '1')
    expect(money(few['policy']['cost']) >= money(doc['policy']['cost']), 'fewer rules cost less')
    for product, tiers in (('efs', 'efs_'), ('ebs', 'ebs_')):
        other = load('tier', path, '--from', product)
        check_plan(other, product)
        expect(all(s['tier'].startswith(tiers) for g in other['groups'] for s in g['path']), f'{product}: other tiers')
    run('tier', path, '--from', 'efs', '--lifecycle', life)
    efs = json.loads(life.read_text())
    days = {f'AFTER_{d}_DAYS': d for d in (7, 14, 30, 60, 90, 180, 270, 365)} | {'AFTER_1_DAY': 1}
    expect(all(len(r) == 1 for r in efs) and len(efs) <= 3, f'efs lifecycle: {efs}')
    merged = {k: v for r in efs for k, v in r.items()}
    expect(merged['TransitionToIA'] in days and merged.get('TransitionToPrimaryStorageClass') in ('AFTER_1_ACCESS', None), f'efs: {efs}')
    expect(days[merged['TransitionToIA']] < days.get(merged.get('TransitionToArchive'), 10**6), f'efs archive before IA: {efs}')
    expect(b'First steps' in run('tier', path), 'text has no first steps')
    head = run('tier', path, '--format', 'csv').splitlines()
    expect(len(head) == len(doc['groups']) + 1, 'csv rows')


def known_answer(tmp):
    """1,000 objects of 1 GiB, a year untouched, 36 months in Deep Archive: the amounts of R-S3-12."""
    h = tmp / 'h.csv'
    h.write_text('prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n'
                 f'old/,STANDARD,true,1073741824,365,365,1000,{1000 << 30},{1000 << 30}\n')
    doc = load('tier', h)
    expect(doc['groups'][0]['path'] == [{'tier': 's3_deep_archive', 'from_month': 0, 'to_month': 36}], str(doc['groups'][0]['path']))
    expect(doc['total'] == '35.697404785156', doc['total'])
    expect(doc['baseline'] == '828', doc['baseline'])
    h.write_text('prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n'
                 f'tiny/,STANDARD,true,4096,365,365,1000000,{1000000 * 16384},{1000000 * 131072}\n')
    doc = load('tier', h)
    expect(doc['saving'] == '0' and doc['groups'][0]['path'][0]['tier'] == 's3_standard', 'small objects moved')
    expect(doc['policy']['rules'] == [], 'a rule that saves nothing')
    run('tier', h, '--lifecycle', tmp / 'none.json', code=3)
    expect(not (tmp / 'none.json').exists(), 'an empty lifecycle file was written')


def accesses(tmp):
    h, a = tmp / 'h2.csv', tmp / 'access.csv'
    h.write_text('prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n' +
                 ''.join(f'{p}/,STANDARD,true,1073741824,365,365,100,{100 << 30},{100 << 30}\n' for p in ('read', 'idle')))
    a.write_text('prefix,gets\nread,500\n')
    doc = load('tier', h, '--access', a)
    tiers = {g['prefix']: g['path'][0]['tier'] for g in doc['groups']}
    expect(tiers == {'read/': 's3_standard', 'idle/': 's3_deep_archive'}, f'reads by prefix: {tiers}')
    a.write_text('prefix,gets\nelsewhere,500\n')  # would make everything look unread
    run('tier', h, '--access', a, code=4)
    find = tmp / 'f.txt'
    find.write_text('5\t1700000000.0\t1700000000.0\tf\t/a/x\n5\t1700000000.0\t1700000000.0\tf\t/a/y\n')
    a.write_text('key,last_access\n/a/x,2026-11-30T00:00:00Z\n')
    rows = load('inventory', 'aggregate', find, '--access', a)['rows']
    expect(sorted(r['idle_lo_days'] for r in rows) == [0, 365], f'last access by key: {rows}')
    a.write_text('key,when\nx,1\n')
    run('inventory', 'aggregate', find, '--access', a, code=4)


def refusals(tmp):
    bad = tmp / 'bad'
    bad.write_text('nonsense\n' * 3 + f'10\t1790000000.5\t1790000000.5\tf\t/a/b/c\n')
    expect(load('inventory', 'aggregate', bad)['bad_rows'] == 3, 'bad rows are not counted')
    run('inventory', 'aggregate', bad, '--max-bad', '2', code=4)
    run('inventory', 'aggregate', tmp / 'missing', code=4)
    run('tier', tmp / 'missing', code=4)
    run('tier', bad, '--horizon', '36m', code=2)
    run('tier', bad, '--from', 'floppy', code=2)
    run('tier', code=2)
    run('inventory', 'sql', bad, code=2)


def scenario(tmp):
    file = Path('data/examples/vision-team.yaml')
    if file.exists():
        check_plan(load('tier', file), 'scenario')
        life = tmp / 'scenario.json'
        run('tier', file, '--lifecycle', life)
        expect(lifecycle_check.s3(json.loads(life.read_text())) == [], 'scenario lifecycle')


def main():
    if not (SHARED / 'tools/gen_find_listing.py').exists():
        print(f'SKIP: {SHARED}/tools is not there')
        return 77
    with tempfile.TemporaryDirectory() as d:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW=NOW)
        for test in (find_sums, s3_sums, tier_plans, known_answer, accesses, refusals, scenario):
            test(tmp)
    return asked.verdict()


sys.exit(main())
