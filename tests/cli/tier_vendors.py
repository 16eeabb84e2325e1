#!/usr/bin/env python3
"""tier and export for the object stores of other vendors than AWS: bills reckoned here from the rates that `prices storage`
shows, lifecycle files by an independent check, forecasts, the least size of Azure that begins in 2027, refusals."""
import json
import os
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
import lifecycle_check  # noqa: E402
from asked import expect  # noqa: E402

tmp = Path(tempfile.mkdtemp())
ENV = dict(os.environ, GPUTIER_NOW='2026-12-02T00:00:00Z', GPUTIER_DB=str(tmp / 'x.db'))
GIB = 2**30


def run(*args, code=0):
    return asked.run(*args, code=code, env=ENV, text=True)


def load(*args):
    doc = json.loads(run(*args, '--format', 'json').stdout or '{}')
    expect(json_schema.validate(doc, json_schema.load('tier')) == [], f'{args}: schema')
    return doc


def histogram(name, *rows):
    path = tmp / name
    lines = ['prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k,gets_30d,bytes_read_30d']
    for prefix, cls, size, age, objects, gets in rows:
        total = size * objects
        lines.append(f'{prefix},{cls},true,{size},{age},{age},{objects},{total},{max(size, 131072) * objects},{gets},'
                     f'{gets * size}')
    path.write_text('\n'.join(lines) + '\n')
    return path


def rates(vendor, region):
    doc = json.loads(run('prices', 'storage', '--vendor', vendor, '--region', f'{vendor}/{region}', '--format', 'json').stdout)
    out = {}
    for r in doc['rates']:
        if Fraction(r.get('from_qty') or 0) == 0:
            out[r['tier'], r['component']] = Fraction(r['rate']) / int(r['unit_qty'])
    return out


def close(what, got, want):
    expect(abs(Fraction(got) - want) <= Fraction(1, 10**9), f'{what}: {got}, reckoned {float(want)}')


def staying():
    """What it costs to leave everything where it is, tier by tier, with reads."""
    months, objects, size, gets = 36, 1000, 4 << 20, 500
    for vendor, region, product, cls, tier, share, minimum in (
            ('azure', 'eastus', 'azure_blob_lrs', 'Cool', 'azure_blob_cool_lrs', 1, 0),
            ('azure', 'eastus', 'azure_blob_zrs', 'Cold', 'azure_blob_cold_zrs', 1, 0),
            ('gcp', 'us-central1', 'gcs', 'COLDLINE', 'gcs_coldline', Fraction(720, 730), 0),
            ('alibaba', 'cn-hangzhou', 'oss', 'IA', 'oss_ia', 1, 65536)):
        r = rates(vendor, region)
        small = 40960
        for each in (size, small):
            doc = load('tier', histogram('stay.csv', ('a/', cls, each, 400, objects, gets)), '--from', product, '--region',
                       f'{vendor}/{region}')
            later = 131072 if vendor == 'azure' else 0
            first = 8 if later else months  # months that begin before 2027-07-01
            billed = [max(each, minimum if t < first or not later else later) for t in range(months)]
            want = sum(objects * b * share * r[tier, 'storage'] / GIB for b in billed)
            want += months * gets * (r[tier, 'get'] + Fraction(each, GIB) * r[tier, 'retrieval'])
            close(f'{tier} of {each} bytes', doc['baseline'], want)
            expect(Fraction(doc['total']) <= Fraction(doc['baseline']), f'{tier}: the plan is no dearer')


def files():
    rows = [('train/', 'Hot', 1 << 20, 90, 200000, 0), ('small/', 'Hot', 4096, 180, 5000000, 0),
            ('logs/', 'Cool', 16 << 20, 365, 100000, 0)]
    life = tmp / 'life.json'
    for product in ('azure_blob_lrs', 'azure_blob_zrs', 'azure_blob_grs'):
        doc = load('tier', histogram('az.csv', *rows), '--from', product, '--lifecycle', life)
        expect(lifecycle_check.azure(json.loads(life.read_text())) == [], lifecycle_check.azure(json.loads(life.read_text())))
        expect(doc['policy']['rules'] and all(r['min_bytes'] == 0 for r in doc['policy']['rules']), f'{product}: no size filter')
        expect(not any(r['prefix'] in ('', 'small/') for r in doc['policy']['rules']), f'{product}: small objects stay')
        archive = any(r['to_tier'].startswith('azure_blob_archive') for r in doc['policy']['rules'])
        expect(archive == (product != 'azure_blob_zrs'), f'{product}: {doc["policy"]}')
    google = [(p, {'Hot': 'STANDARD', 'Cool': 'NEARLINE'}[c], *rest) for p, c, *rest in rows]
    load('tier', histogram('g.csv', *google), '--vendor', 'gcp', '--lifecycle', life)
    expect(lifecycle_check.gcs(json.loads(life.read_text())) == [], lifecycle_check.gcs(json.loads(life.read_text())))
    life.unlink()
    run('tier', histogram('r.csv', ('a/', 'Standard', 1 << 30, 90, 100, 0)), '--from', 'r2', '--lifecycle', life, code=3)
    expect(not life.exists(), 'a lifecycle file of R2 was written')


def forecasts():
    """Reads that fade make a colder tier pay that reads for ever do not."""
    h = histogram('f.csv', ('a/', 'STANDARD', 1 << 30, 90, 100, 150))

    def end(*args):
        doc = load('tier', h, '--from', 'gcs', *args)
        return doc['groups'][0]['path'][-1]['tier'], Fraction(doc['total']), Fraction(doc['baseline'])
    tier, constant, _ = end()
    expect(tier == 'gcs_standard', f'read 1.5 times a month: {tier}')
    tier, fading, base = end('--forecast', 'half-life:1mo')
    expect(tier == 'gcs_archive' and fading < constant, f'fading reads: {tier}')
    same = tmp / 'same.csv'
    same.write_text('month,factor\n0,1\n')
    expect(end('--forecast', same)[1:] == end()[1:], 'a factor of 1 is constant')
    r = rates('gcp', 'us-central1')
    reads = sum(round(150 * 0.5**t) for t in range(36))
    gib = sum(Fraction(round(150 * GIB * 0.5**t), GIB) for t in range(36))
    want = 36 * 100 * r['gcs_standard', 'storage'] * Fraction(720, 730) + reads * r['gcs_standard', 'get']
    close('baseline with fading reads', base, want + gib * r['gcs_standard', 'retrieval'])
    steps = tmp / 'steps.csv'
    steps.write_text('month,factor\n0,1\n3,0\n')
    doc = load('tier', h, '--from', 'gcs', '--forecast', steps)
    expect([s['from_month'] for s in doc['groups'][0]['path']][-1] == 3, f'moves when the reads end: {doc["groups"][0]["path"]}')
    expect(end('--forecast', 'hazard:100%')[0] == 'gcs_archive', 'never read again')
    for bad in ('half-life:0mo', 'half-life:x', 'hazard:101%', 'hazard:', 'hazard:1%x'):
        run('tier', h, '--from', 'gcs', '--forecast', bad, code=2)
    for text in ('0,1\n0,-1\n', '5,1\n3,1\n', '1;2\n', '0,nan\n', '0,1e7\n'):
        steps.write_text(text)
        expect('line' in run('tier', h, '--from', 'gcs', '--forecast', steps, code=4).stderr, f'{text!r}: no line named')


def least_size():
    h = histogram('s.csv', ('a/', 'Cool', 4096, 400, 1000000, 0))
    old, new = (Fraction(load('tier', h, '--from', 'azure_blob_lrs', '--horizon', '6mo', *more)['baseline'])
                for more in ((), ('--account-created', '2026-07-01')))
    expect(new == 32 * old, f'128 KiB against 4 KiB: {float(old)} and {float(new)}')
    run('tier', h, '--from', 'azure_blob_lrs', '--account-created', 'soon', code=2)


def refusals():
    h = histogram('x.csv', ('a/', 'STANDARD', 4096, 400, 10, 0))
    for args, code in (((h, '--from', 'gcs', '--vendor', 'aws'), 2), ((h, '--from', 'gcs_frozen'), 2),
                       ((h, '--vendor', 'lambda'), 1), ((h, '--from', 'gcs', '--region', 'gcp/mars-1'), 1)):
        run('tier', *args, code=code)
    p = run('tier', histogram('y.csv', ('a/', 'NEARLINE', 4096, 400, 10, 0)), '--vendor', 'azure', code=1)
    expect('NEARLINE' in p.stderr and 'Azure' in p.stderr, p.stderr)


for part in (staying, files, forecasts, least_size, refusals):
    part()
sys.exit(asked.verdict())
