#!/usr/bin/env python3
"""Every name of a tier in the product's contract (section 7): its rule is known, and either a price is bundled and data that
live there are billed, or tier says what is missing. Bills are reckoned here from the rates that `prices storage` shows."""
import csv
import io
import json
import os
import re
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import expect  # noqa: E402

GIB, MONTHS = 2**30, 6
ENV = dict(os.environ, GPUTIER_NOW='2026-12-02T00:00:00Z')
SCRATCH = {'local_nvme', 'fsx_lustre_scratch'}
UNPRICED = {'b2', 'gcp_hyperdisk_throughput', 'gcp_hyperdisk_ml', 'gcp_filestore_zonal', 'gcp_filestore_regional',
            'gcp_filestore_basic_ssd', 'gcp_filestore_basic_hdd', 'obs_standard', 'obs_warm', 'obs_cold', 'obs_deep_archive'}
SHARES = ['transaction_optimized_lrs', 'transaction_optimized_gzrs', 'hot_zrs', 'hot_grs', 'cool_lrs', 'cool_gzrs',
          'premium_lrs', 'premium_zrs']
STARS = {'azure_files_': SHARES, 'gcp_hyperdisk_': ['balanced', 'extreme', 'throughput', 'ml'],
         'gcp_filestore_': ['zonal', 'regional', 'basic_ssd', 'basic_hdd'],
         'oss_': ['standard', 'ia', 'archive', 'cold_archive', 'deep_cold_archive'], 'cos_': ['standard', 'standard_ia', 'archive'],
         'obs_': ['standard', 'warm', 'cold', 'deep_archive']}
# Not by the byte (R-EFS-02, R-EBS-06, R-FSX-01, R-AZ-10, R-AZ-14, R-WAS-01, R-S3-11, R-S3-04) or not by the whole month:
# GiB that a volume or system of 3,000 GiB in 750 files is bought as, and the share of a month that 30 days are.
BOUGHT = {'fsx_lustre_persistent': 4800}
IOPS = {'ebs_io1': 100, 'ebs_io2': 100, 'gcp_hyperdisk_extreme': 128}
HOURLY = ('gcs_', 'gcp_', 'azure_disk_')


def names():
    shared = Path(os.environ.get('GPUTIER_SHARED', '../shared')) / 'docs/product.md'
    if not shared.exists():
        print(f'skipped: no {shared}')
        sys.exit(77)
    line = next(x for x in shared.read_text().splitlines() if x.startswith('- **tier**:'))
    out = []
    for word in re.findall(r'`([^`]+)`', line):
        if word.startswith('_'):
            out = [n + s if n.startswith('azure_blob_') else n for n in out for s in
                   (word.split('|') if n.startswith('azure_blob_') else [''])]
            continue
        first, *others = word.split('|')
        stem = first[:first.rindex('_') + 1] if others else ''
        stem = 'azure_disk_' if first.startswith('azure_disk') else 'gcp_pd_' if first.startswith('gcp_pd') else stem
        for name in [first] + [stem + o for o in others]:
            out += [name[:-1] + s for s in STARS[name[:-1]]] if name.endswith('*') else [name]
    return [n for n in out if n != 'azure_blob_archive_zrs']  # R-AZ-01: no such thing


def rates():
    out = {}
    for r in csv.DictReader(io.StringIO(asked.run('prices', 'storage', '--format', 'csv', text=True, env=ENV).stdout)):
        out.setdefault(r['tier'], []).append(r)
    return out


def bill(tier, rows):
    """Of 3,000 GiB in 750 files that nobody reads, for MONTHS; None: not by the byte."""
    here = [r for r in rows if r['component'] == 'storage']
    if tier == 'gcs_autoclass' or len(here) != 1 or here[0]['unit'] not in ('gib_month', 'gb_month'):
        return None
    unit = GIB if here[0]['unit'] == 'gib_month' else 10**9
    bought = Fraction(BOUGHT.get(tier, 3000) * GIB, unit)
    month = Fraction(720, 730) if tier.startswith(HOURLY) else 1
    iops = [Fraction(r['rate']) for r in rows if r['component'] == 'provisioned_iops'][:1] if tier in IOPS else []
    return MONTHS * month * (bought * Fraction(here[0]['rate']) / int(here[0]['unit_qty']) + IOPS.get(tier, 0) * sum(iops))


def overhead(tier):
    """A few KiB an object at the hot tier's price: R-S3-11, R-S3-12, R-EFS-02."""
    return tier in ('s3_glacier_flexible', 's3_deep_archive') or tier.startswith('efs_')


def check(tier, rows, file):
    places = sorted({(r['vendor'], r['region']) for r in rows if r['component'] in ('storage', 'storage_frequent')})
    if tier in SCRATCH or not places:
        p = asked.run('tier', file, '--from', tier, '--format', 'json', code=None, env=ENV, text=True)
        why = 'no data have their home there' if tier in SCRATCH else "no price of "
        expect(p.returncode == 1 and why in p.stderr, f'{tier}: {p.returncode} {p.stderr}')
        expect(tier in UNPRICED | SCRATCH, f'{tier}: no price is bundled')
        return
    expect(tier not in UNPRICED, f'{tier}: has a price now: say so')
    done = 0
    for vendor, region in places:
        if done == 1:
            break
        here = [r for r in rows if (r['vendor'], r['region']) == (vendor, region)]
        p = asked.run('tier', file, '--from', tier, '--region', f'{vendor}/{region}', '--horizon', f'{MONTHS}mo',
                      '--format', 'json', code=None, env=ENV, text=True)
        if p.returncode:
            expect('no price of' in p.stderr, f'{tier} in {vendor}/{region}: {p.stderr}')  # of the hot tier there
            continue
        done += 1
        doc = json.loads(p.stdout)
        expect(json_schema.validate(doc, json_schema.load('tier')) == [], f'{tier}: schema')
        want = bill(tier, here)
        expect(want is not None or tier.startswith(('azure_disk', 's3_', 'gcs_autoclass', 'azure_blob_hot', 'r2', 'oci_')), f'{tier}: {here}')
        if want is not None:
            more = Fraction(doc['baseline']) - want
            expect(0 < more < want / 1000 if overhead(tier) else abs(more) < Fraction(1, 10**9),
                   f'{tier} in {region}: {doc["baseline"]}, reckoned {float(want)}')
        expect(Fraction(doc['total']) <= Fraction(doc['baseline']), f'{tier}: dearer than as it is')
        expect(Fraction(doc['baseline']) > 0, f'{tier}: costs nothing')
    expect(done > 0, f'{tier}: in no region')


def main():
    with tempfile.TemporaryDirectory() as tmp:
        ENV['GPUTIER_DB'] = f'{tmp}/x.db'
        file = Path(tmp) / 'h.csv'
        file.write_text('prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n'
                        f'data/,,true,1073741824,365,365,750,{3000 * GIB},{3000 * GIB}\n')
        all_names = names()
        expect(len(all_names) > 60 and len(set(all_names)) == len(all_names), f'names: {len(all_names)}')
        known = rates()
        for tier in all_names:
            check(tier, known.get(tier, []), file)
        print(f'{len(all_names)} names')
    return asked.verdict()


if __name__ == '__main__':
    sys.exit(main())
