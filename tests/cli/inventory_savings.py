#!/usr/bin/env python3
"""`inventory savings` on lists of AWS, Azure and Google: what is left over, at the price computed here a second time
from the rows of the shipped list; what cannot be told is not claimed; hostile and broken lists; duplicates of
inventories against a dictionary."""
import base64
import csv
import gzip
import hashlib
import json
import os
import random
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import expect  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
NOW = '2026-12-01T00:00:00Z'
GIB = 1 << 30
RATES = {}
with open(ROOT / 'data/snapshot/storage_rates.csv', encoding='utf-8') as _f:
    for _r in csv.DictReader(_f):
        if not _r['vendor'].startswith('#'):
            RATES.setdefault((_r['vendor'], _r['region'], _r['tier'], _r['component']), []).append(_r)


def bill(vendor, region, tier, component, quantity):
    """Marginal brackets; quantity in the unit of the rows."""
    total = Fraction(0)
    for r in RATES[vendor, region, tier, component]:
        lo, hi = Fraction(r['from_qty']), Fraction(r['to_qty']) if r['to_qty'] else quantity
        if r['unit'] == 'disk_month':
            total += Fraction(r['rate']) if lo < quantity <= hi else 0
        else:
            total += max(Fraction(0), min(hi, quantity) - lo) * Fraction(r['rate']) / int(r['unit_qty'])
    return total


def near(text, want, what):
    """Every line is rounded once, at the twelfth place."""
    expect(text is not None and abs(Fraction(text) - want) <= Fraction(40, 10**12), f'{what}: {text}, expected {float(want)}')


class Lists:
    def __init__(self, folder):
        self.folder, self.n = folder, 0

    def file(self, doc, name=None):
        self.n += 1
        path = self.folder / (name or f'list{self.n}.json')
        if isinstance(doc, bytes):
            path.write_bytes(doc)
        else:
            path.write_text(doc if isinstance(doc, str) else json.dumps(doc), encoding='utf-8')
        return path

    def ask(self, *docs, args=(), code=0):
        files = [d if isinstance(d, Path) else self.file(d) for d in docs]
        p = asked.run('inventory', 'savings', *files, '--format', 'json', *args, code=code)
        doc = json.loads(p.stdout or b'{}')
        if code == 0:
            faults = json_schema.validate(doc, json_schema.load('savings'))
            expect(faults == [], f'schema: {faults}')
            paying = [s for s in doc['savings'] if s['do_it']]
            for key, sums in (('saving', ('saving',)), ('month', ('month_now', 'month_then'))):
                want = sum(Fraction(s[sums[0]]) - sum(Fraction(s[k]) for k in sums[1:]) for s in paying)
                expect(doc[key] is None or Fraction(doc[key]) == want, f'{key}: {doc[key]} is not the sum {want}')
            for s in doc['savings']:
                if s['kind'] not in ('pack', 'old_versions') and s['saving'] is not None:
                    months = Fraction(s['month_now']) * doc['horizon_months'] - Fraction(s['one_off'])
                    slack = Fraction(10000, 10**12) if s['kind'] == 'duplicates' else 0  # groups of a month are rounded each
                    expect(abs(Fraction(s['saving']) - months) <= slack, f'{s["place"]}: {s["saving"]}, months times money {months}')
        return doc if code == 0 else p.stderr.decode(errors='replace')


def volume(name, size, kind='gp3', used=False, zone='us-east-1a', **more):
    return {'VolumeId': name, 'Size': size, 'VolumeType': kind, 'State': 'in-use' if used else 'available',
            'AvailabilityZone': zone, 'Attachments': [{'InstanceId': 'i-1'}] if used else [], **more}


def snapshot(name, source, size, owner='1', **more):
    return {'SnapshotId': name, 'VolumeId': source, 'VolumeSize': size, 'OwnerId': owner, 'StorageTier': 'standard', **more}


def places(doc, kind):
    return {s['place']: s for s in doc['savings'] if s['kind'] == kind}


def aws_volumes(lists):
    doc = lists.ask({'Volumes': [
        volume('vol-a', 500, Iops=3000, Throughput=125), volume('vol-b', 100, Iops=16000, Throughput=1000),
        volume('vol-c', 4000, 'io2', Iops=70000), volume('vol-d', 1000, 'gp2', Iops=3000), volume('vol-e', 2000, 'st1'),
        volume('vol-f', 300, used=True), volume('vol-g', 10, 'gp3', zone='eu-west-1b', Iops=3000, Throughput=300),
        volume('vol-h', 10, 'nonesuch'), volume('vol-i', 8, 'gp3', zone='nowhere-9a')]})
    got = places(doc, 'unattached_volumes')
    expect(set(got) == {f'vol-{c}' for c in 'abcdeghi'}, f'aws: unattached are {sorted(got)}')
    aws = ('aws', 'us-east-1')
    for name, want in (
            ('vol-a', bill(*aws, 'ebs_gp3', 'storage', 500)),
            ('vol-b', bill(*aws, 'ebs_gp3', 'storage', 100) + bill(*aws, 'ebs_gp3', 'provisioned_iops', 16000) +
             bill(*aws, 'ebs_gp3', 'throughput', 1000)),
            ('vol-c', bill(*aws, 'ebs_io2', 'storage', 4000) + bill(*aws, 'ebs_io2', 'provisioned_iops', 70000)),
            ('vol-d', bill(*aws, 'ebs_gp2', 'storage', 1000)), ('vol-e', bill(*aws, 'ebs_st1', 'storage', 2000)),
            ('vol-g', bill('aws', 'eu-west-1', 'ebs_gp3', 'storage', 10) + bill('aws', 'eu-west-1', 'ebs_gp3', 'throughput', 300))):
        near(got[name]['month_now'], want, name)
        expect(got[name]['break_even_month'] == 0 and not got[name]['upper_bound'], f'{name}: {got[name]}')
    for name in ('vol-h', 'vol-i'):
        expect(got[name]['saving'] is None and not got[name]['do_it'], f'{name} has a price that nobody states')
    expect(doc['at_least'] and not doc['at_most'] and doc['currency'] == 'USD' and doc['horizon_months'] == 36, 'aws: totals')


def aws_snapshots(lists):
    used = {'Volumes': [volume('vol-1', 100, used=True), volume('vol-2', 50)]}
    snaps = {'Snapshots': [snapshot('snap-here', 'vol-1', 100), snapshot('snap-gone', 'vol-x', 200),
                           snapshot('snap-image', 'vol-y', 20), snapshot('snap-copy', 'vol-ffffffff', 30),
                           snapshot('snap-full', 'vol-x', 200, FullSnapshotSizeInBytes=7 * GIB),
                           snapshot('snap-gone', 'vol-x', 200)]}
    image = {'Images': [{'BlockDeviceMappings': [{'Ebs': {'SnapshotId': 'snap-image'}}, {'VirtualName': 'ephemeral0'}]}]}
    doc = lists.ask(used, snaps, image)
    got = places(doc, 'orphaned_snapshots')
    expect(set(got) == {'snap-gone', 'snap-full'}, f'orphans are {sorted(got)}')
    near(got['snap-gone']['month_now'], bill('aws', 'us-east-1', 'ebs_gp3', 'snapshot', 200), 'snap-gone')
    near(got['snap-full']['month_now'], bill('aws', 'us-east-1', 'ebs_gp3', 'snapshot', 7), 'snap-full')
    expect(got['snap-gone']['upper_bound'] and doc['at_most'], 'a snapshot is incremental: at most')
    expect(any('copies' in n for n in doc['notes']), f'the copy is not told: {doc["notes"]}')
    expect(set(places(doc, 'unattached_volumes')) == {'vol-2'}, 'the volume beside the snapshots')
    got = lists.ask(used, snaps)
    expect('snap-image' in places(got, 'orphaned_snapshots') and any('describe-images' in n for n in got['notes']), 'no images')
    for what, docs, word in (
            ('no volumes', [snaps], 'no list of volumes'), ('only unattached', [{'Volumes': [volume('vol-2', 50)]}, snaps], 'in use'),
            ('cut', [{**used, 'NextToken': 'x'}, snaps], 'NextToken'),
            ('owners', [used, {'Snapshots': snaps['Snapshots'] + [snapshot('snap-z', 'vol-q', 5, owner='2')]}], 'owner-ids')):
        doc = lists.ask(*docs)
        expect(places(doc, 'orphaned_snapshots') == {}, f'{what}: called orphans')
        expect(any(word in n for n in doc['notes']), f'{what}: {doc["notes"]}')
    # two documents in one file, and lists from standard input
    both = lists.file(json.dumps(used) + '\n' + json.dumps(snaps))
    expect(set(places(lists.ask(both), 'orphaned_snapshots')) >= {'snap-gone'}, 'two documents in one file')
    p = asked.run('inventory', 'savings', '-', '--kind', 'lists', '--format', 'json', input=both.read_bytes())
    expect(b'snap-gone' in p.stdout, 'lists from standard input')
    # eu-central-1 has no row of snapshots of io2, but the region of the volumes is taken
    west = {'Volumes': [volume('vol-1', 100, used=True, zone='eu-west-1a')]}
    got = places(lists.ask(west, snaps), 'orphaned_snapshots')
    expect(got['snap-gone']['region'] == 'eu-west-1', f'region: {got["snap-gone"]}')


def uploads(lists):
    old, new = '2026-10-01T10:00:00+00:00', '2026-11-29T10:00:00Z'
    listed = {'Uploads': [{'UploadId': 'u1', 'Key': 'a', 'Initiated': old, 'StorageClass': 'STANDARD'},
                          {'UploadId': 'u2', 'Key': 'b', 'Initiated': old, 'StorageClass': 'GLACIER'},
                          {'UploadId': 'u3', 'Key': 'c', 'Initiated': old, 'StorageClass': 'STANDARD_IA'},
                          {'UploadId': 'u4', 'Key': 'd', 'Initiated': new, 'StorageClass': 'STANDARD'}]}

    def parts(name, sizes, kind, when=old):
        doc = {'Parts': [{'PartNumber': i + 1, 'Size': s, 'LastModified': when} for i, s in enumerate(sizes)], 'StorageClass': kind}
        return {**doc, 'UploadId': name} if name else doc
    all_parts = [parts('u1', [5 * GIB, 3 * GIB], 'STANDARD'), parts('u2', [2 * GIB], 'GLACIER'), parts('u3', [7 * GIB], 'STANDARD_IA'),
                 parts('u4', [100 * GIB], 'STANDARD', new)]
    want = {'s3_standard': (2, 10 * GIB), 's3_standard_ia': (1, 7 * GIB)}
    for what, some in (('named', all_parts), ('nameless', [{k: v for k, v in p.items() if k != 'UploadId'} for p in all_parts])):
        doc = lists.ask(listed, *some)
        got = {s['tier']: (s['objects'], s['bytes']) for s in doc['savings'] if s['kind'] == 'multipart'}
        expect(got == want, f'uploads, {what} parts: {got}, expected {want}')
        for s in doc['savings']:
            near(s['month_now'], bill('aws', 'us-east-1', s['tier'], 'storage', Fraction(s['bytes'], GIB)), f'uploads {s["tier"]}')
        expect(any('1 multipart uploads were begun within 7 days' in n for n in doc['notes']), f'running, {what}: {doc["notes"]}')
        expect(any('R-S3-24' in n for n in doc['notes']), 'S3 Inventory lists none: not said')
    doc = lists.ask(listed, all_parts[0])
    expect(any('parts of 2 uploads' in n for n in doc['notes']) and doc['at_least'], f'unknown parts: {doc["notes"]}')
    doc = lists.ask(listed)
    expect(all(s['saving'] is None for s in doc['savings']), 'uploads without any part have a price')
    doc = lists.ask(listed, *all_parts, args=['--region', 'eu-west-1'])
    ia = [s for s in doc['savings'] if s['tier'] == 's3_standard_ia'][0]
    near(ia['month_now'], bill('aws', 'eu-west-1', 's3_standard_ia', 'storage', 7), 'uploads in another region')
    text = asked.run('inventory', 'savings', lists.file(listed), text=True).stdout
    expect('AbortIncompleteMultipartUpload' in text, 'the rule is not named')


def storage_lens(lists):
    head = ('version_number,configuration_id,report_date,aws_account_number,aws_region,storage_class,record_type,record_value,'
            'bucket_name,metric_name,metric_value\n')

    def row(date, record, bucket, name, value, region='us-east-1'):
        return f'V_1,all,{date},1,{region},STANDARD,{record},,"{bucket}",{name},{value}\n'
    body = ''.join((row('2026-11-28', 'BUCKET', 'a', 'IncompleteMPUStorageBytesOlderThan7Days', 900 * GIB),
                    row('2026-11-29', 'BUCKET', 'a', 'IncompleteMPUStorageBytesOlderThan7Days', 60 * GIB),
                    row('2026-11-29', 'BUCKET', 'a', 'IncompleteMPUObjectCountOlderThan7Days', 12),
                    row('2026-11-29', 'ACCOUNT', '', 'IncompleteMPUStorageBytesOlderThan7Days', 61 * GIB),
                    row('2026-11-29', 'BUCKET', 'a', 'IncompleteMultipartUploadStorageBytes', 70 * GIB),
                    row('2026-11-29', 'BUCKET', 'b', 'IncompleteMPUStorageBytesOlderThan7Days', GIB, 'us-west-2'),
                    row('2026-11-29', 'BUCKET', 'a', 'StorageBytes', 5000 * GIB)))
    doc = lists.ask(lists.file(head + body, 'lens.csv'))
    got = {s['region']: (s['objects'], s['bytes']) for s in doc['savings']}
    expect(got == {'us-east-1': (12, 60 * GIB), 'us-west-2': (0, GIB)}, f'lens: {got}')
    near([s for s in doc['savings'] if s['region'] == 'us-east-1'][0]['month_now'],
         bill('aws', 'us-east-1', 's3_standard', 'storage', 60), 'lens')
    told = lists.ask(lists.file(head + row('2026-11-29', 'BUCKET', 'a', 'IncompleteMPUStorageBytesOlderThan7Days', '-5'), 'bad.csv'),
                     code=4)
    expect('bad.csv:2' in told and 'whole number' in told, f'lens: {told}')


def azure(lists):
    sub = '/subscriptions/S1/resourceGroups/g/providers/Microsoft.Compute'

    def disk(name, size, sku='Premium_LRS', owner=None, where='eastus'):
        return {'id': f'{sub}/disks/{name}', 'name': name, 'type': 'Microsoft.Compute/disks', 'location': where, 'diskSizeGB': size,
                'sku': {'name': sku}, 'managedBy': owner, 'creationData': {'createOption': 'Empty'}}

    def snap(name, source, sku='Standard_LRS', at=sub):
        return {'id': f'{at}/snapshots/{name}', 'name': name, 'type': 'Microsoft.Compute/snapshots', 'location': 'eastus',
                'diskSizeGb': 64, 'sku': {'name': sku}, 'creationData': {'sourceResourceId': source}}
    disks = [disk('a', 128), disk('b', 32, owner='/vm/1'), disk('c', 30, 'Standard_LRS'), disk('d', 128, 'Premium_ZRS'),
             disk('e', 40000, 'PremiumV2_LRS')]
    other = sub.replace('S1', 'S2')
    snaps = [snap('s1', f'{sub}/disks/gone'), snap('s2', f'{sub.upper()}/DISKS/B'), snap('s3', f'{sub}/snapshots/s1'),
             snap('s4', f'{other}/disks/gone', at=other)]
    doc = lists.ask(disks, snaps)
    got = places(doc, 'unattached_volumes')
    expect({k.rsplit('/', 1)[1] for k in got} == {'a', 'c', 'd', 'e'}, f'azure: unattached are {sorted(got)}')
    near(got[f'{sub}/disks/a']['month_now'], bill('azure', 'eastus', 'azure_disk_premium', 'storage', 128), 'azure P10')
    near(got[f'{sub}/disks/c']['month_now'], bill('azure', 'eastus', 'azure_disk_standard_hdd', 'storage', 30), 'azure S4')
    expect(got[f'{sub}/disks/d']['saving'] is None, 'a zone-redundant disk at the price of another')
    got = places(doc, 'orphaned_snapshots')
    expect({k.rsplit('/', 1)[1] for k in got} == {'s1'}, f'azure: orphans are {sorted(got)}')
    near(got[f'{sub}/snapshots/s1']['month_now'], bill('azure', 'eastus', 'azure_disk_standard_hdd', 'snapshot', 64), 'azure snapshot')


def google(lists):
    base = 'https://www.googleapis.com/compute/v1/projects/p1'

    def disk(name, size, kind='pd-ssd', users=(), **more):
        zone = f'{base}/zones/us-central1-a'
        return {'kind': 'compute#disk', 'name': name, 'selfLink': f'{zone}/disks/{name}', 'zone': zone, 'sizeGb': str(size),
                'type': f'{zone}/diskTypes/{kind}', **({'users': list(users)} if users else {}), **more}

    def snap(name, disk_name, stored, **more):
        return {'kind': 'compute#snapshot', 'name': name, 'selfLink': f'{base}/global/snapshots/{name}', 'diskSizeGb': '500',
                'sourceDisk': f'{base.replace("www", "compute")}/zones/us-central1-a/disks/{disk_name}',
                'storageBytes': str(stored), 'storageLocations': ['us-central1'], **more}
    disks = [disk('a', 200), disk('b', 50, 'pd-balanced', ['x']), disk('c', 100, 'hyperdisk-balanced', provisionedIops='5000',
                                                                      provisionedThroughput='240'),
             disk('d', 10, 'pd-ssd', replicaZones=['x', 'y'])]
    snaps = [snap('s1', 'gone', 5 * GIB), snap('s2', 'b', GIB), snap('s3', 'gone', GIB, storageLocations=['eu'])]
    doc = lists.ask(disks, snaps)
    got = {k.rsplit('/', 1)[1]: v for k, v in places(doc, 'unattached_volumes').items()}
    here = ('gcp', 'us-central1')
    expect(set(got) == {'a', 'c', 'd'}, f'gcp: unattached are {sorted(got)}')
    near(got['a']['month_now'], bill(*here, 'gcp_pd_ssd', 'storage', 200), 'pd-ssd')
    near(got['c']['month_now'], sum(bill(*here, 'gcp_hyperdisk_balanced', part, n) for part, n in
                                    (('storage', 100), ('provisioned_iops', 5000), ('throughput', 240))), 'hyperdisk')
    expect(got['d']['saving'] is None, 'a disk in two zones at the price of one')
    got = {k.rsplit('/', 1)[1]: v for k, v in places(doc, 'orphaned_snapshots').items()}
    expect(set(got) == {'s1', 's3'}, f'gcp: orphans are {sorted(got)}')
    near(got['s1']['month_now'], bill(*here, 'gcp_pd_standard', 'snapshot', 5), 'gcp snapshot')
    expect(got['s3']['saving'] is None, 'a snapshot in a multi-region at the price of a region')


def with_inventory(lists):
    """Lists and an inventory in one question; old versions and packs are those of `tier`."""
    rows = ('prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n'
            'logs/,STANDARD,false,131072,90,90,1000,1073741824,1073741824\n'
            'small/,STANDARD,true,4096,365,365,10000000,61440000000,1310720000000\n'
            'big/,STANDARD,true,16777216,0,0,10,1073741824,1073741824\n')
    inventory = lists.file(rows, 'h.csv')
    doc = lists.ask(inventory, {'Volumes': [volume('vol-a', 500)]}, args=['--horizon', '12mo'])
    kinds = {s['kind']: s for s in doc['savings']}
    expect(set(kinds) == {'old_versions', 'pack', 'unattached_volumes'}, f'kinds: {sorted(kinds)}')
    near(kinds['old_versions']['month_now'], bill('aws', 'us-east-1', 's3_standard', 'storage', 1), 'old versions')
    steps = json.loads(asked.run('tier', inventory, '--horizon', '12mo', '--format', 'json').stdout)['first_steps']
    for kind in ('old_versions', 'pack'):
        expect(any(kinds[kind]['how'] in s for s in steps), f'{kind}: tier says it in other words: {steps}')
    expect(doc['horizon_months'] == 12, 'horizon')


def pack_plans(lists):
    """10^8 objects of 4 KiB that nobody reads: reading and writing once, packs in Deep Archive, the month that pays."""
    n, size, get, put, store, cold = 10**8, 4096, Fraction('0.0004') / 1000, Fraction('0.005') / 1000, Fraction('0.023'), Fraction('0.00099')
    move = Fraction('0.05') / 1000
    rows = ('prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k,gets_30d\n'
            f'r/,STANDARD,true,4096,365,365,{n},{n * size},{n * 131072},0\n')
    path = lists.file(rows, 'small.csv')
    for pack, months in ((1 << 20, 36), (16 << 20, 36), (1 << 30, 12), (128 << 20, 4), (128 << 20, 5)):
        doc = lists.ask(path, args=['--horizon', f'{months}mo', '--pack-size', f'{pack}B'])
        got = [s for s in doc['savings'] if s['kind'] == 'pack'][0]
        inner = n * (size + 1024)  # a header of 512 bytes, up to 511 to fill the last block
        packs = -(-inner // pack)
        stored = inner + packs * 10240
        once = n * get + packs * put
        now = Fraction(n * size, GIB) * store
        then = Fraction(stored + 32768 * packs, GIB) * cold + Fraction(8192 * packs, GIB) * store
        gain, pays = -once - packs * move, None
        for t in range(months):
            gain += now - then
            pays = t if pays is None and gain >= 0 else pays
        what = f'packs of {pack} over {months}'
        expect(got['packs'] == packs and got['do_it'] == (gain > 0) and doc['pack_bytes'] == pack, f'{what}: {got}')
        expect(got['break_even_month'] == (pays if gain > 0 else None), f'{what}: pays in {got["break_even_month"]}, expected {pays}')
        for key, want in (('month_now', now), ('month_then', then), ('one_off', once), ('saving', gain)):
            expect(abs(Fraction(got[key]) - want) < Fraction(1, 10**6), f'{what}: {key} {got[key]}, expected {float(want)}')
    text = asked.run('inventory', 'savings', path, '--horizon', '4mo', text=True).stdout
    expect('leave unpacked' in text and 'pack to' not in text, f'a loss is proposed: {text}')
    asked.run('inventory', 'savings', path, '--pack-size', '6GiB', code=2)


SCHEMA = 'Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass, EncryptionStatus'


def s3_rows(rnd, n, bodies, prefixes):
    """Rows of an inventory: key, latest, size, age in days, ETag, class, encryption."""
    for i in range(n):
        body = rnd.randrange(bodies)
        size = body * 7919 % 900000 + (0 if body % 50 else 1 << 20)
        etag = hashlib.md5(str(body).encode()).hexdigest() + ('-3' if body % 11 == 0 else '')
        kind = 'STANDARD' if rnd.random() < .8 else 'STANDARD_IA'
        how = rnd.choice(('SSE-S3', 'SSE-S3', 'NOT-SSE', 'SSE-KMS', 'SSE-C', 'DSSE-KMS')) if rnd.random() < .3 else 'SSE-S3'
        yield (f'p{rnd.randrange(prefixes)}/o{i}', rnd.random() < .9, size if rnd.random() < .99 else 0, rnd.choice((1, 40, 400)),
               etag, kind, how)


def s3_inventory(folder, rows, files=3, fields=SCHEMA):
    data = folder / 'data'
    data.mkdir(parents=True, exist_ok=True)
    names, listed = [f.strip() for f in fields.split(',')], []
    for k in range(files):
        lines = []
        for key, latest, size, age, etag, kind, how in rows[k::files]:
            when = f'202{6 if age < 300 else 5}-{"11-30" if age == 1 else "10-20" if age == 40 else "10-20"}T00:00:00.000Z'
            value = {'Bucket': 'b', 'Key': key, 'VersionId': 'v', 'IsLatest': str(latest).lower(), 'IsDeleteMarker': 'false',
                     'Size': size, 'LastModifiedDate': when, 'ETag': etag, 'StorageClass': kind, 'EncryptionStatus': how}
            lines.append(','.join(f'"{value[n]}"' for n in names))
        (data / f'{k}.csv.gz').write_bytes(gzip.compress('\n'.join(lines).encode() + b'\n', 1))
        listed.append({'key': f'data/{k}.csv.gz', 'size': (data / f'{k}.csv.gz').stat().st_size})
    (folder / 'manifest.json').write_text(json.dumps({'sourceBucket': 'b', 'fileFormat': 'CSV', 'fileSchema': fields,
                                                      'creationTimestamp': '1796083200000', 'files': listed}))
    return folder / 'manifest.json'


def duplicates_of(rows, encryption=True):
    """All but one of each, by prefix: what stays is of the hotter class, there of the first prefix."""
    sets, opaque = {}, 0
    for key, latest, size, age, etag, kind, how in rows:
        if not latest or size == 0:
            continue
        if encryption and how not in ('SSE-S3', 'NOT-SSE'):
            opaque += 1
            continue
        sets.setdefault((etag, size), []).append((kind, key.split('/')[0] + '/', age))
    out = {}
    for (_, size), copies in sets.items():
        copies.sort(key=lambda c: (c[0] != 'STANDARD', c[1], c[2]))
        for kind, prefix, age in copies[1:]:
            out.setdefault(prefix, []).append((size, kind, age))
    return out, opaque


def duplicates(lists):
    rnd = random.Random(5)
    for what, n, bodies, prefixes in (('few', 3000, 900, 5), ('many', 250000, 200000, 3), ('alike', 200000, 3, 400)):
        rows = list(s3_rows(rnd, n, bodies, prefixes))
        manifest = s3_inventory(lists.folder / what, rows)
        doc = lists.ask(manifest, args=['--as-of', NOW])
        want, opaque = duplicates_of(rows)
        got = {s['place']: (s['objects'], s['bytes']) for s in doc['savings'] if s['kind'] == 'duplicates'}
        expect(got == {p: (len(v), sum(c[0] for c in v)) for p, v in want.items()},
               f'{what}: {dict(list(got.items())[:3])}, expected {[(p, len(v), sum(c[0] for c in v)) for p, v in list(want.items())[:3]]}')
        expect(any(n.startswith(f'{opaque} objects are encrypted') for n in doc['notes']), f'{what}: {opaque}: {doc["notes"]}')
        if what == 'few':
            for s in doc['savings']:
                if s['kind'] == 'duplicates':
                    standard = bill('aws', 'us-east-1', 's3_standard', 'storage',
                                    Fraction(sum(c[0] for c in want[s['place']] if c[1] == 'STANDARD'), GIB))
                    ia = bill('aws', 'us-east-1', 's3_standard_ia', 'storage',
                              Fraction(sum(max(131072, c[0]) for c in want[s['place']] if c[1] != 'STANDARD'), GIB))
                    expect(abs(Fraction(s['month_now']) - standard - ia) <= Fraction(100, 10**12),
                           f'{s["place"]}: {s["month_now"]} a month, expected {float(standard + ia)}')
                    expect((Fraction(s['one_off']) > 0) == any(c[1] != 'STANDARD' and c[2] < 30 for c in want[s['place']]),
                           'early deletion')
    # without EncryptionStatus all are compared and the doubt is told; in JSON, without ETag, in a folder that is not there
    rows = list(s3_rows(rnd, 500, 90, 2))
    bare = s3_inventory(lists.folder / 'bare', rows, 1, SCHEMA.replace(', EncryptionStatus', ''))
    want = {p: len(v) for p, v in duplicates_of(rows, False)[0].items()}
    doc = lists.ask(bare)
    expect({p: s['objects'] for p, s in places(doc, 'duplicates').items()} == want and
           any('EncryptionStatus' in n for n in doc['notes']), f'bare: {doc["notes"]}')
    page = lists.file({'Contents': [{'Key': k, 'Size': z, 'LastModified': '2026-10-20T00:00:00+00:00', 'ETag': f'"{e}"', 'StorageClass': c}
                                    for k, latest, z, _, e, c, _ in rows if latest]})
    got = {p: s['objects'] for p, s in places(lists.ask(page), 'duplicates').items()}
    expect(sum(got.values()) == sum(want.values()), f'json: {got}, expected {want}')
    doc = lists.ask(s3_inventory(lists.folder / 'none', rows, 1, SCHEMA.replace(', ETag', '')))
    expect(not places(doc, 'duplicates') and any('cannot be told' in n for n in doc['notes']), f'without ETag: {doc["notes"]}')
    p = asked.run('inventory', 'savings', lists.folder / 'many/manifest.json', code=1, env={**os.environ, 'TMPDIR': '/nonexistent'})
    expect(b'/nonexistent' in p.stderr, f'no room for the temporary file: {p.stderr}')
    empty = lists.folder / 'tmp'
    empty.mkdir()
    asked.run('inventory', 'savings', lists.folder / 'many/manifest.json', env={**os.environ, 'TMPDIR': str(empty)})
    expect(not list(empty.iterdir()), 'a temporary file is left')


def delete_markers(lists):
    """A marker is alone when it is the latest and only version of its key: against a dictionary, in CSV and JSON."""
    rnd, keys, lines, versions, markers = random.Random(9), {}, [], [], []
    for i in range(4000):
        key = f'd/k%20{rnd.randrange(1500)}'
        keys.setdefault(key, []).append((rnd.random() < .6, i))
    for key, seen in keys.items():
        for marker, i in seen:
            latest = i == seen[-1][1]
            lines.append((rnd.random(), f'"b","{key}","{str(latest).lower()}","{str(marker).lower()}","{"" if marker else 9}",'
                                        '"2026-01-01T00:00:00.000Z"'))
            entry = {'Key': key, 'IsLatest': latest, 'LastModified': '2026-01-01T00:00:00Z'}
            (markers if marker else versions).append(entry if marker else {**entry, 'Size': 9})
    lines.append((.5, '"b","other","true","false","5","2026-01-01T00:00:00.000Z"'))
    want = sum(len(seen) == 1 and seen[0][0] for seen in keys.values())
    path = lists.file('\n'.join(text for _, text in sorted(lines)) + '\n', 'markers.csv')
    page = lists.file({'Versions': versions, 'DeleteMarkers': markers})
    for what, doc in (('csv', lists.ask(path, args=['--columns', 'Bucket, Key, IsLatest, IsDeleteMarker, Size, LastModifiedDate'])),
                      ('json', lists.ask(page))):
        got = [s for s in doc['savings'] if s['kind'] == 'delete_markers']
        expect([s['objects'] for s in got] == [want], f'{what}: lone markers {got}, expected {want}')
        expect(any(n.startswith(f'{len(markers)} delete markers') for n in doc['notes']), f'{what}: {doc["notes"]}')
        expect('ExpiredObjectDeleteMarker' in got[0]['how'] and Fraction(got[0]['saving']) == 0, f'{what}: {got}')


def other_digests(lists):
    """Azure's Content-MD5 and Google's md5Hash are base64."""

    def md5(text):
        return base64.b64encode(hashlib.md5(text.encode()).digest()).decode()
    azure_csv = ['Name,Creation-Time,Last-Modified,Content-Length,Content-MD5,AccessTier']
    gcs_csv = ['bucket,name,size,timeCreated,updated,storageClass,md5Hash']
    for i, body in enumerate('aabbbc'):
        azure_csv.append(f'c/x/o{i},2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,5000,{md5(body)},Hot')
        gcs_csv.append(f'b,x/o{i},5000,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,STANDARD,{md5(body)}')
    gcs_csv.append('b,x/composite,5000,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z,STANDARD,')
    for what, text, args in (('azure', azure_csv, ['--from', 'azure_blob_lrs']), ('gcs', gcs_csv, ['--from', 'gcs'])):
        doc = lists.ask(lists.file('\n'.join(text) + '\n', f'{what}.csv'), args=args)
        got = [(s['objects'], s['bytes']) for s in doc['savings'] if s['kind'] == 'duplicates']
        expect(got == [(3, 15000)], f'{what}: {got}')


def as_table_and_csv(lists):
    path = lists.file({'Volumes': [volume('vol-\x1b[31mred\n', 10), volume('=cmd()', 20), volume('vol-9', 30, used=True)]})
    text = asked.run('inventory', 'savings', path).stdout
    expect(b'\x1b' not in text and b'unattached_volumes' in text and b'What pays' in text, f'table: {text}')
    rows = list(csv.DictReader(asked.run('inventory', 'savings', path, '--format', 'csv', text=True).stdout.splitlines()))
    expect([r['place'][:2] for r in rows][0] in ("'=", 'vo') and all(not r['place'].startswith('=') for r in rows), f'csv: {rows}')
    expect(sum(Fraction(r['month_now']) for r in rows) == Fraction('2.4'), f'csv: {[r["month_now"] for r in rows]}')
    text = asked.run('inventory', 'savings', lists.file({'Volumes': [volume('vol-9', 30, used=True)]})).stdout
    expect(b'Nothing is left over' in text, 'nothing')


def broken(lists):
    deep = '{"Volumes": ' + '[' * 5000
    for what, doc, word in (
            ('cut', b'{"Volumes": [{"VolumeId": "v",\n "Size": 8', ':2'), ('deep', deep, 'no JSON'),
            ('other', b'{"Volumes": 3}', 'expected a list'), ('size', {'Volumes': [volume('v', -8)]}, 'Size in GiB'),
            ('huge', {'Volumes': [volume('v', 1 << 40)]}, 'Size in GiB'), ('no id', {'Volumes': [{'Size': 8}]}, 'entry 1'),
            ('half', {'Volumes': [volume('v', 1.5)]}, 'Size in GiB'), ('text', {'Volumes': ['x']}, 'entry 1'),
            ('when', {'Uploads': [{'UploadId': 'u', 'Initiated': 'soon'}]}, 'ISO 8601'),
            ('many', {'Parts': [{'Size': 2**53 - 1}] * 3000}, 'Parts, entry'),
            ('tail', b'{"Volumes": []} x', ':1'), ('az', [{'diskSizeGB': 4}], 'list of az'),
            ('gcp', [{'kind': 'compute#disk', 'sizeGb': '4'}], 'list of gcloud')):
        told = lists.ask(doc, code=4)
        expect(word in told, f'{what}: {told}')
    told = asked.run('inventory', 'savings', lists.folder / 'nothing.json', code=4).stderr.decode()
    expect('nothing.json' in told, f'missing file: {told}')
    asked.run('inventory', 'savings', code=2)
    huge = lists.folder / 'huge.json'
    with open(huge, 'wb') as f:
        f.write(b'{"Volumes": [')
        f.truncate(65 << 20)
    told = lists.ask(huge, code=4)
    expect('larger than' in told, f'huge: {told}')


def main():
    os.environ['GPUTIER_NOW'] = NOW
    with tempfile.TemporaryDirectory() as folder:
        os.environ['GPUTIER_DB'] = f'{folder}/g.db'
        lists = Lists(Path(folder))
        for test in (aws_volumes, aws_snapshots, uploads, storage_lens, azure, google, with_inventory, pack_plans, duplicates,
                     other_digests, delete_markers, as_table_and_csv, broken):
            test(lists)
    return asked.verdict()


sys.exit(main())
