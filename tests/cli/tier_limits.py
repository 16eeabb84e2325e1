#!/usr/bin/env python3
"""Limits of tier: speed, wait, budget, capacity. Which tiers are fast enough is computed here from the guides' rules (R-THR-01,
R-THR-03, R-THR-04, R-THR-06), the bills of a limited plan are added up again, and no data leave their product."""
import json
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import expect  # noqa: E402

GIB, MIB = 1 << 30, 1 << 20
S3 = ('s3_standard', 's3_standard_ia', 's3_glacier_ir', 's3_intelligent_tiering')  # read where they lie, in several zones
HEAD = 'prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n'


def ebs_bps(tier, size):
    """Bytes a second of one volume of the type: storage-throughput.md section 4."""
    gib = -(-size // GIB)
    return {'ebs_gp3': 125 * MIB, 'ebs_gp2': (250 if gib > 170 else 128) * MIB, 'ebs_io1': 125 * MIB, 'ebs_io2': 125 * MIB,
            'ebs_st1': min(500, max(gib, 125) * 40 / 1024) * MIB, 'ebs_sc1': min(192, max(gib, 125) * 12 / 1024) * MIB}.get(tier, 0)


def histogram(path, *groups):
    path.write_text(HEAD + ''.join(f'{name},,true,{b // n},365,365,{n},{b},{max(b, n * 131072)}\n' for name, n, b in groups))
    return path


def tier(path, *args, code=0):
    text = asked.run('tier', path, '--format', 'json', *args, code=code).stdout
    doc = json.loads(text) if code == 0 and text else None
    if doc:
        wrong = json_schema.validate(doc, json_schema.load('tier'))
        expect(wrong == [], f'{args}: schema {wrong[:2]}')
    return doc


def lies_in(doc):
    return {s['tier'] for g in doc['groups'] for s in g['path']}


def objects(tmp, r):
    for _ in range(4):
        n = r.randrange(10, 10**6)
        size = r.choice((4000, 150000, 5 << 20))
        h = histogram(tmp / 'o.csv', ('a/', n, n * size))
        doc = tier(h, '--throughput', f'{5500 * size}B/s')
        expect(doc and lies_in(doc) <= set(S3), f'{n} x {size}: {doc and lies_in(doc)}')
        tier(h, '--throughput', f'{5500 * size + 1}B/s', code=3)
        free, other = tier(h), tier(h, '--throughput', f'{5500 * size + 1}B/s@b/')
        expect(free['groups'] == other['groups'], 'the need of another prefix changes the plan')


def volumes(tmp, r):
    names = [f'ebs_{t}' for t in ('gp3', 'gp2', 'io1', 'io2', 'st1', 'sc1')]
    refused = 0
    for _ in range(12):
        size = r.randrange(1, 14000) * GIB
        h = histogram(tmp / 'v.csv', ('a/', 10, size))
        need = r.choice((5, 60, 126, 240, 400, 501)) * MIB
        fast = {t for t in names if ebs_bps(t, size) >= need}
        doc = tier(h, '--from', 'ebs_gp3', '--throughput', f'{need}B/s', code=0 if fast else 3)
        refused += not fast
        if doc:
            expect(lies_in(doc) <= fast, f'{size // GIB} GiB at {need // MIB} MiB/s: {lies_in(doc)}, fast are {fast}')
            free = tier(h, '--from', 'ebs_gp3')
            expect(float(doc['total']) >= float(free['total']), 'a need makes it cheaper')
            if lies_in(free) <= fast:
                expect(doc['groups'] == free['groups'], f'{need // MIB} MiB/s: the cheapest plan is fast enough, but another is given')
    expect(refused > 0, 'no speed was refused')
    h = histogram(tmp / 'e.csv', ('a/', 10, 1024 * GIB))  # 150 MiB/s a TiB of what lies in Standard
    expect(lies_in(tier(h, '--from', 'efs', '--throughput', '150MiB/s')) == {'efs_standard'}, 'EFS: not the speed earned')
    tier(h, '--from', 'efs', '--throughput', '151MiB/s', code=3)


def shared_limits(tmp):
    h = histogram(tmp / 's.csv', ('a/', 1000, 1000 * GIB), ('b/', 1000, 3000 * GIB), ('c/', 10**6, 900 * GIB))
    near = tier(h, '--max-wait', '1min')
    expect(lies_in(near) <= set(S3) and near['gap'] is None, f'--max-wait: {lies_in(near)}')
    part = tier(h, '--max-wait', '1min@b/')
    expect({s['tier'] for g in part['groups'] if g['prefix'] == 'b/' for s in g['path']} <= set(S3), '--max-wait of a prefix')
    expect(float(part['total']) <= float(near['total']), 'a wait of one prefix costs more than one of all')
    free = tier(h, '--horizon', '12mo')
    for args in (('--capacity', 's3_deep_archive=2TiB'), ('--budget', '50USD/mo')):
        doc = tier(h, '--horizon', '12mo', *args)
        if not doc:
            continue
        t = {x['tier']: x for x in doc['over_time']['tiers']}
        months = range(doc['over_time']['months'])
        bill = [sum(float(x[k][m]) for x in t.values() for k in ('rent', 'moves')) for m in months]
        if args[0] == '--budget':
            expect(max(bill) <= 50 + 1e-9, f'{args}: a month of {max(bill)}')
        else:
            expect(max(t.get('s3_deep_archive', {'bytes': [0]})['bytes']) <= 2 << 40, f'{args}: more bytes')
        low, total = float(doc['lower_bound']), float(doc['total'])
        expect(total >= float(free['total']) - 1e-9 and doc['unlimited_total'] == free['total'], f'{args}: cheaper than without')
        want = 0 if doc['proven'] else (total - low) / low
        expect(abs(doc['gap'] - want) < 1e-9, f'{args}: gap {doc["gap"]}, expected {want}')
        expect(total > float(free['total']) and any(x['binds'] for x in doc['limits']), f'{args}: nothing binds')
        expect(all(x.startswith('s3_') for x in lies_in(doc)), f'{args}: left the vendor')
    tier(h, '--budget', '1USD/mo', code=3)


def refusals(tmp):
    h = histogram(tmp / 'r.csv', ('a/', 10, GIB))
    for text in ('500', '500MB', '0MB/s', '-1MB/s', 'MB/s', '/s', '5XB/s', '1GB/s/s', '1e400GB/s', '@a/', ''):
        tier(h, f'--throughput={text}', code=2)
    tier(h, *[x for _ in range(33) for x in ('--throughput', '1MB/s@a/')], code=2)


def main():
    with tempfile.TemporaryDirectory() as d:
        tmp, r = Path(d), random.Random(5)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW='2026-12-01T00:00:00Z')
        objects(tmp, r)
        volumes(tmp, r)
        shared_limits(tmp)
        refusals(tmp)
    return asked.verdict()


sys.exit(main())
