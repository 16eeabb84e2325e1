#!/usr/bin/env python3
"""Every input of `inventory` and `tier`: the same objects written as each vendor documents its list, read back as the
histogram that this program computes by itself (storage-tiers.md, R-IM-02), by content and by --kind, plain and packed."""
import datetime
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import expect  # noqa: E402

NOW = 1796083200  # 2026-12-01
SIZES = [0, 1, 4096, 40960, 65536, 131072, 1 << 20, 1 << 24, 1 << 27, 1 << 30]
AGES = [0, 30, 60, 90, 180, 365]


def run(*args, code=0, stdin=None):
    p = asked.run(*args, code=code, input=stdin)
    return p.stdout, p.stderr.decode(errors='replace')


def rows_of(*args):
    doc = json.loads(run('inventory', 'aggregate', *args, '--format', 'json')[0] or b'{"rows": []}')
    if doc['rows']:
        faults = json_schema.validate(doc, json_schema.load('inventory'))
        expect(faults == [], f'{args}: {faults[:2]}')
    return doc, doc['rows']


class Object:
    """One stored object; times in epoch seconds."""

    def __init__(self, key, size, modified, storage_class='STANDARD', latest=True, accessed=None, aged=None):
        self.key, self.size, self.modified, self.storage_class = key, size, modified, storage_class
        self.latest, self.accessed, self.aged = latest, accessed, aged


def edge(value, edges):
    return max(e for e in edges if e <= value)


def histogram(objects, depth=2):
    cells = {}
    for o in objects:
        parts = o.key.split('/')
        prefix = ''.join(p + '/' for p in parts[:-1][:depth])
        aged = o.modified if o.aged is None else o.aged
        idle = max(o.modified, o.accessed or 0)
        cell = (prefix, o.storage_class, o.latest, edge(o.size, SIZES), edge(max(0, (NOW - aged) // 86400), AGES),
                edge(max(0, (NOW - idle) // 86400), AGES))
        sums = cells.setdefault(cell, [0, 0, 0])
        sums[0] += 1
        sums[1] += o.size
        sums[2] += max(o.size, 131072)
    return cells


def read(rows):
    return {(r['prefix'], r['storage_class'], r['is_latest'], r['size_lo'], r['age_lo_days'], r['idle_lo_days']):
            [r['objects'], r['bytes'], r['bytes_min128k']] for r in rows}


def same(name, path, objects, *args, depth=2, **counts):
    doc, rows = rows_of(path, '--depth', depth, *args)
    got, want = read(rows), histogram(objects, depth)
    expect(got == want, f'{name} {args}: {sorted(set(map(str, got.items())) ^ set(map(str, want.items())))[:4]}')
    for k, v in counts.items():
        expect(doc.get(k) == v, f'{name}: {k} is {doc.get(k)}, expected {v}')


def iso(t, form='%Y-%m-%dT%H:%M:%SZ'):
    return datetime.datetime.fromtimestamp(t, datetime.timezone.utc).strftime(form)


NAMES = ['a.bin', 'new\nline', 'esc\x1b[31m', 'x' * 1000, 'ünï cöde', 'quo"te', 'com,ma', 'plus+sign', '100%', "apo'strophe", 'semi;colon']


def some(seed, classes, n=400, names=True):
    r = random.Random(seed)
    out = []
    for i in range(n):
        folder = ''.join(r.choice(['train/', 'logs/', 'a b/', 'é/']) for _ in range(r.randrange(4)))
        name = r.choice(NAMES) if names and r.random() < .3 else f'part-{i}'
        size = r.choice(SIZES[1:]) + r.choice([-1, 0, 1]) if r.random() < .7 else r.randrange(1 << 32)
        modified = NOW - r.choice(AGES + [1, 500]) * 86400 + r.choice([-1, 0, 1, 3600])
        out.append(Object(f'{folder}{i:03d}{name}', size, min(modified, NOW), r.choice(classes)))
    return out


def quoted(fields, separator=','):
    return separator.join('"' + str(f).replace('"', '""') + '"' for f in fields) + '\n'


def minimal(fields, separator=','):
    """Quotes where RFC 4180 asks for them."""
    return separator.join('"' + f.replace('"', '""') + '"' if any(c in f for c in '",\n\r' + separator) else f
                          for f in map(str, fields)) + '\n'


def s3(tmp):
    """Optional columns in another order, all versions, delete markers, archive tier of Intelligent-Tiering."""
    objects = some(1, ['STANDARD', 'STANDARD_IA', 'GLACIER', 'INTELLIGENT_TIERING', 'REDUCED_REDUNDANCY'])
    r = random.Random(2)
    lines, markers = [], 0
    for o in objects:
        o.latest = r.random() < .8
        key = urllib.parse.quote_plus(o.key, safe='/')
        lines.append(quoted([iso(o.modified, '%Y-%m-%dT%H:%M:%S.000Z'), o.storage_class, 'FREQUENT', o.size, 'null',
                             'true' if o.latest else 'false', 'false', key, 'bucket', 'SSE-S3', 'etag-1']))
        if r.random() < .1:
            markers += 1
            lines.append(quoted([iso(NOW), '', '', '', 'v', 'true', 'true', key, 'bucket', '', '']))
    schema = ('LastModifiedDate, StorageClass, IntelligentTieringAccessTier, Size, VersionId, IsLatest, IsDeleteMarker, Key, '
              'Bucket, EncryptionStatus, ETag')
    folder = tmp / 's3/2026-12-01T01-00Z'
    (tmp / 's3/data').mkdir(parents=True)
    folder.mkdir()
    half = len(lines) // 2
    (tmp / 's3/data/one.csv.gz').write_bytes(gzip.compress(''.join(lines[:half]).encode()))
    (tmp / 's3/data/two.csv.gz').write_bytes(gzip.compress(''.join(lines[half:]).encode()))
    manifest = folder / 'manifest.json'
    manifest.write_text(json.dumps({'sourceBucket': 'bucket', 'destinationBucket': 'arn:aws:s3:::d', 'version': '2016-11-30',
                                    'creationTimestamp': '1796083200000', 'fileFormat': 'CSV', 'fileSchema': schema, 'files': [
                                        {'key': f'x/bucket/all/data/{n}.csv.gz', 'size': (tmp / f's3/data/{n}.csv.gz').stat().st_size,
                                         'MD5checksum': '0'} for n in ('one', 'two')]}))
    for args in ((), ('--kind', 's3')):
        same('s3', manifest, objects, *args, skipped_delete_markers=markers, bad_rows=0)
    plain = tmp / 's3.csv'
    plain.write_text(''.join(lines))
    same('s3 --columns', plain, objects, '--columns', schema.replace(' ', ''), skipped_delete_markers=markers)
    run('inventory', 'aggregate', plain, code=4)
    _, err = run('inventory', 'aggregate', plain, '--columns', 'Key,Size', code=4)
    expect('LastModifiedDate' in err, f's3 without a date column: {err}')
    bad = lines[:3] + [lines[3].replace('"false"', '"false', 1)] + [lines[4].replace(f'"{objects[4].size}"', '"12k"')] + lines[5:]
    plain.write_text(''.join(bad))
    _, err = run('inventory', 'aggregate', plain, '--columns', schema)
    expect('2 rows could not be read' in err or 's3.csv:' in err, f's3 bad rows: {err}')
    run('inventory', 'aggregate', plain, '--columns', schema, '--max-bad', '0', code=4)


def azure(tmp):
    objects = some(3, ['Hot', 'Cool', 'Cold', 'Archive', ''])
    r = random.Random(4)
    head = ['Name', 'Creation-Time', 'Last-Modified', 'ETag', 'Content-Length', 'BlobType', 'AccessTier', 'AccessTierChangeTime',
            'AccessTierInferred', 'LastAccessTime', 'Snapshot', 'VersionId', 'IsCurrentVersion', 'Deleted', 'hdi_isfolder', 'Metadata']
    forms = ['%Y-%m-%dT%H:%M:%SZ', '%Y-%m-%dT%H:%M:%S.0000000Z', '%a, %d %b %Y %H:%M:%S GMT', '%Y-%m-%dT%H:%M:%S+00:00']
    lines, folders = [minimal(head)], 0
    for o in objects:
        o.key = 'container/' + o.key
        form = r.choice(forms)
        changed = accessed = snapshot = version = current = deleted = ''
        if r.random() < .4:
            o.aged = o.modified + 86400 * r.randrange(40)
            changed = iso(o.aged, form)
        if r.random() < .4:
            o.accessed = NOW - 86400 * r.randrange(400)
            accessed = iso(o.accessed, form)
        state = r.randrange(5)
        if state == 0:
            snapshot, o.latest = iso(o.modified, '%Y-%m-%dT%H:%M:%S.1234567Z'), False
        elif state == 1:
            version, o.latest = iso(o.modified, '%Y-%m-%dT%H:%M:%S.1234567Z'), False
        elif state == 2:
            version, current = iso(o.modified, '%Y-%m-%dT%H:%M:%S.1234567Z'), 'true'
        elif state == 3:
            deleted, o.latest = 'true', False
        lines.append(minimal([o.key, iso(o.modified, form), iso(o.modified, form), '0x8D', o.size, 'BlockBlob', o.storage_class, changed,
                              'true' if o.storage_class == 'Hot' else '', accessed, snapshot, version, current, deleted, '', '{"a":"b,c"}']))
        if r.random() < .05:
            folders += 1
            lines.append(minimal(['container/dir', iso(NOW), iso(NOW), '', 0, 'BlockBlob', '', '', '', '', '', '', '', '', 'true', '']))
    rule = tmp / 'azure/2026/12/01/01-00-00/rule'
    rule.mkdir(parents=True)
    data = rule / 'rule_1000000_0.csv'
    data.write_text('\ufeff' + ''.join(lines))
    for args in ((), ('--kind', 'azure')):
        same('azure csv', data, objects, *args, skipped_not_files=folders, bad_rows=0)
    doc = json.loads(run('tier', data, '--from', 'azure_blob_lrs', '--format', 'json')[0] or b'{"groups": []}')
    expect(doc['groups'] and all(s['tier'].startswith('azure_') for g in doc['groups'] for s in g['path']), 'tier of an Azure inventory')
    manifest = rule / 'rule-manifest.json'
    doc = {'destinationContainer': 'inv', 'endpoint': 'https://a.blob.core.windows.net', 'files': [
        {'blob': '2026/12/01/01-00-00/rule/rule_1000000_0.csv', 'size': data.stat().st_size}], 'inventoryCompletionTime': iso(NOW),
        'inventoryStartTime': iso(NOW), 'ruleDefinition': {'filters': {'blobTypes': ['blockBlob']}, 'format': 'csv',
                                                           'objectType': 'blob', 'schedule': 'daily', 'schemaFields': head},
        'ruleName': 'rule', 'status': 'Succeeded', 'summary': {'objectCount': len(objects)}, 'version': '1.0'}
    manifest.write_text(json.dumps(doc, indent=2))
    same('azure manifest', manifest, objects, skipped_not_files=folders)
    for change, word in (({'status': 'Failed'}, 'Failed'), ({'ruleDefinition': dict(doc['ruleDefinition'], format='parquet')}, 'parquet'),
                         ({'ruleDefinition': dict(doc['ruleDefinition'], objectType='container')}, 'container'),
                         ({'files': [{'blob': 'gone.csv'}]}, 'gone.csv'), ({'files': [{'blob': '../../../etc/passwd'}]}, 'plain key')):
        manifest.write_text(json.dumps(dict(doc, **change)))
        _, err = run('inventory', 'aggregate', manifest, code=4)
        expect(word in err, f'azure manifest {change}: {err}')
    data.write_text('Name,Creation-Time,Content-Length\na/b,2026-01-01,1\n')
    _, err = run('inventory', 'aggregate', data, code=4)
    expect('Last-Modified' in err, f'azure without Last-Modified: {err}')


def gcs(tmp):
    objects = some(5, ['STANDARD', 'NEARLINE', 'COLDLINE', 'ARCHIVE', 'MULTI_REGIONAL'])
    r = random.Random(6)
    fields = ('project,bucket,name,location,size,timeCreated,timeDeleted,updated,storageClass,etag,retentionExpirationTime,crc32c,md5Hash,'
              'generation,metageneration,contentType,contentEncoding,timeStorageClassUpdated').split(',')
    lines = []
    for o in objects:
        o.latest = r.random() < .8
        created = iso(o.modified, '%Y-%m-%dT%H:%M:%S.000Z')
        lines.append(['42', 'bucket', o.key, 'us-central1', o.size, created, '' if o.latest else iso(NOW), iso(NOW), o.storage_class, 'e', '',
                      'c', 'm', '1', '1', 'text/plain; charset=utf-8', '', iso(NOW)])
    for separator in ',;|\t':
        body = ''.join(minimal(f, separator) for f in lines)
        p = tmp / 'gcs.csv'
        p.write_text(minimal(fields, separator) + body)
        same(f'gcs header {separator!r}', p, objects, bad_rows=0)
        same(f'gcs header {separator!r}', p, objects, '--kind', 'gcs')
        p.write_text(minimal(fields, separator).replace('\n', '\r\n') + body)
        same(f'gcs CRLF {separator!r}', p, objects)
        p.write_text(body)
        same(f'gcs no header {separator!r}', p, objects, '--kind', 'gcs')
    p.write_text(minimal(fields) + ''.join(minimal(f) for f in lines if f[8] != 'MULTI_REGIONAL'))
    doc = json.loads(run('tier', p, '--from', 'gcs', '--format', 'json')[0] or b'{"groups": []}')
    expect(doc['groups'] and all(s['tier'].startswith('gcs_') for g in doc['groups'] for s in g['path']), 'tier of a GCS report')
    p.write_bytes(b'\xef\xbb\xbf')
    same('gcs, a byte-order mark and no more', p, [], '--kind', 'gcs')
    p.write_text(''.join(minimal(f[2:6]) for f in lines))
    _, err = run('inventory', 'aggregate', p, '--kind', 'gcs', code=4)
    expect('--columns' in err, f'gcs without names: {err}')
    for o in objects:
        o.storage_class, o.latest = 'STANDARD', True
    same('gcs --columns', p, objects, '--kind', 'gcs', '--columns', 'name,location,size,timeCreated')
    manifest = tmp / 'report_manifest.json'
    doc = {'report_config': {'name': 'projects/1/locations/us/reportConfigs/u', 'csvOptions': {'delimiter': ';', 'headerRequired': False},
                             'objectMetadataReportOptions': {'metadataFields': ['size', 'name', 'updated']}}, 'records_processed': 1,
           'snapshot_time': iso(NOW), 'shard_count': 2, 'report_shards_file_names': ['gcs_0.csv', 'gcs_1.csv']}
    manifest.write_text(json.dumps(doc))
    for i in (0, 1):
        (tmp / f'gcs_{i}.csv').write_text(''.join(minimal([o.size, o.key, iso(o.modified)], ';') for o in objects[i::2]))
    same('gcs manifest', manifest, objects)
    manifest.write_text(json.dumps({'report_config': {'parquetOptions': {}}, 'report_shards_file_names': ['x.parquet']}))
    _, err = run('inventory', 'aggregate', manifest, code=4)
    expect('Parquet' in err, f'gcs parquet: {err}')


def rclone(tmp):
    objects = some(7, ['', 'STANDARD', 'Cool'])
    forms = ['%Y-%m-%dT%H:%M:%S.000000000Z', '%Y-%m-%dT%H:%M:%SZ', None]
    lines = []
    for i, o in enumerate(objects):
        form = forms[i % 3]
        when = iso(o.modified, form) if form else iso(o.modified + 5400, '%Y-%m-%dT%H:%M:%S+01:30')
        e = {'Path': o.key, 'Name': o.key.split('/')[-1], 'Size': o.size, 'MimeType': 'application/octet-stream', 'ModTime': when,
             'IsDir': False, 'Hashes': {'md5': 'd41d8cd98f00b204e9800998ecf8427e'}, 'Metadata': {'Size': 'x', 'Path': ['y']}}
        if o.storage_class:
            e['Tier'] = o.storage_class
        lines.append(json.dumps(e, ensure_ascii=i % 2 == 0))
    lines.append(json.dumps({'Path': 'dir', 'Name': 'dir', 'Size': -1, 'ModTime': iso(NOW), 'IsDir': True}))
    p = tmp / 'rclone.json'
    text = '[\n' + ',\n'.join(lines) + '\n]\n'
    p.write_text(text)
    for args in ((), ('--kind', 'rclone')):
        same('rclone', p, objects, *args, skipped_not_files=1, bad_rows=0)
    p.write_text('[]\n')
    same('rclone, nothing', p, [])
    p.write_text('[' + lines[0] + ',{"Path":"a","Size":-1,"ModTime":"2026-01-01T00:00:00Z"},{"Path":"b","Size":1,"ModTime":""},\n{"Size":3}]')
    doc, _ = rows_of(p)
    expect(doc['bad_rows'] == 3 and doc['objects'] == 1, f'rclone: bad rows {doc["bad_rows"]}')
    _, err = run('inventory', 'aggregate', p, '--max-bad', '2', code=4)
    expect('rclone.json:2' in err, f'rclone: line of a bad row: {err}')
    for cut in ('[' + lines[0], '[' + lines[0] + '}', '{"a": 1}', '[{"Path": "a", "Size": 1e400}'):
        p.write_text(cut)
        run('inventory', 'aggregate', p, code=4)


def s3api(tmp):
    objects = some(8, ['STANDARD', 'DEEP_ARCHIVE', 'GLACIER_IR'])

    def entry(o):
        return {'Key': o.key, 'LastModified': iso(o.modified, '%Y-%m-%dT%H:%M:%S+00:00'), 'ETag': '"d41d8"', 'ChecksumAlgorithm': ['CRC32'],
                'Size': o.size, 'StorageClass': o.storage_class, 'Owner': {'ID': '1', 'Key': 'no', 'Size': 7}}
    p = tmp / 'list.json'
    doc = {'Contents': [entry(o) for o in objects], 'RequestCharged': None, 'Prefix': ''}
    p.write_text(json.dumps(doc, indent=4))
    for args in ((), ('--kind', 's3api')):
        same('list-objects-v2', p, objects, *args, bad_rows=0)
    p.write_text(json.dumps([entry(o) for o in objects]))
    same('--query Contents', p, objects)
    half = len(objects) // 2
    p.write_text(json.dumps({'IsTruncated': True, 'Contents': [entry(o) for o in objects[:half]]}) + '\n' +
                 json.dumps({'IsTruncated': False, 'Contents': [entry(o) for o in objects[half:]], 'KeyCount': 1}))
    same('pages', p, objects)
    zstd = subprocess.run(['zstd', '-q', '-c'], input=p.read_bytes(), capture_output=True, check=True).stdout
    for name, packed in (('gz', gzip.compress(p.read_bytes())), ('zst', zstd)):
        (tmp / name).write_bytes(packed)
        same(name, tmp / name, objects)
        (tmp / name).write_bytes(packed[:-20])
        _, err = run('inventory', 'aggregate', tmp / name, code=4)
        expect('cut' in err or 'end before' in err, f'cut {name}: {err}')
    p.write_text(json.dumps({'RequestCharged': None, 'Prefix': ''}))
    same('an empty bucket', p, [])
    r = random.Random(9)
    versions = []
    for o in objects:
        o.latest = r.random() < .6
        versions.append(dict(entry(o), IsLatest=o.latest, VersionId='v'))
    p.write_text(json.dumps({'Versions': versions, 'DeleteMarkers': [
        {'Owner': {'ID': 'x'}, 'Key': 'gone', 'VersionId': 'm', 'IsLatest': True, 'LastModified': iso(NOW)}] * 3, 'RequestCharged': None}, indent=1))
    same('list-object-versions', p, objects, skipped_delete_markers=3)
    out, _ = run('tier', p, '--format', 'json')
    expect(json.loads(out)['groups'] != [], 'tier reads it too')


def find(tmp):
    objects = some(10, [''])
    for i, o in enumerate(objects):
        o.accessed = o.modified + i % 3 * 86400
    p = tmp / 'find'
    p.write_bytes(b''.join(b'%d\t%d.5\t%d.0000000000\t%d\t./%s\0' % (o.size, o.modified - 1, o.accessed, o.size // 512, os.fsencode(o.key))
                           for o in objects))
    for args in ((), ('--kind', 'find')):
        same('find', p, objects, *args, bad_rows=0)


def saved(tmp):
    """The histogram itself, read again: the same, whatever it was made of."""
    objects = some(11, ['STANDARD', 'GLACIER'], names=False)
    p, h = tmp / 'one.json', tmp / 'h.csv'
    p.write_text(json.dumps([{'Key': o.key, 'Size': o.size, 'LastModified': iso(o.modified), 'StorageClass': o.storage_class} for o in objects]))
    run('inventory', 'import', p, '-o', h)
    for args in ((), ('--kind', 'histogram')):
        same('histogram', h, objects, *args)
    same('two files', h, objects + objects, p)
    _, err = run('inventory', 'aggregate', p, '--kind', 'excel', code=2)
    expect('rclone' in err and 'azure' in err, f'--kind: {err}')


def log_line(bucket, t, operation, key, status, sent, request=None, extra=''):
    key_text = key if key == '-' else urllib.parse.quote_plus(key, safe='/')
    stamp = iso(t, '%d/%b/%Y:%H:%M:%S +0000')
    request = request or f'"GET /{bucket}/{key_text} HTTP/1.1"'
    return (f'79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be {bucket} [{stamp}] 192.0.2.3 '
            f'arn:aws:iam::123456789012:user/alice 3E57427F33A59F07 {operation} {key_text} {request} {status} - {sent} 3462992 70 10 '
            f'"http://e.org/a \\"b\\" c" "curl/7.15.1" - s9lzHYrFp76ZVxRcpX9= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader '
            f's3.us-west-2.amazonaws.com TLSv1.2 arn:aws:s3:us-west-2:123456789012:accesspoint/x Yes{extra}\n')


def listed(path, objects):
    path.write_text(json.dumps({'Versions': [{'Key': o.key, 'Size': o.size, 'LastModified': iso(o.modified), 'StorageClass': o.storage_class,
                                              'IsLatest': o.latest} for o in objects]}))


def access_logs(tmp):
    objects = some(12, ['STANDARD', 'STANDARD_IA'])
    r = random.Random(13)
    p, logs = tmp / 'list.json', tmp / 'logs'
    logs.mkdir()
    lines, gets, read_bytes, last = [], {}, {}, {}
    for _ in range(3000):
        o = r.choice(objects[:150])
        t = NOW - r.randrange(-2 * 86400, 60 * 86400)
        operation = r.choice(['REST.GET.OBJECT'] * 3 + ['REST.HEAD.OBJECT', 'REST.PUT.OBJECT', 'S3.EXPIRE.OBJECT', 'WEBSITE.GET.OBJECT'])
        status, sent = r.choice([(200, '5'), (206, '7'), (206, '-'), (304, '-'), (404, '300'), (200, str(1 << 33))])
        request = r.choice([None, '"GET /x?a="b" 20 HTTP/1.1"', '-'])
        lines.append(log_line('bucket', t, operation, o.key, status, sent, request, r.choice(['', ' us-west-2 new "field 27"'])))
        if operation == 'REST.GET.OBJECT' and status in (200, 206) and t <= NOW:
            last[o.key] = max(t, last.get(o.key, 0))
            if t > NOW - 30 * 86400:
                gets[o.key] = gets.get(o.key, 0) + 1
                read_bytes[o.key] = read_bytes.get(o.key, 0) + (0 if sent == '-' else int(sent))
    lines.append(log_line('bucket', NOW, 'REST.GET.BUCKET', '-', 200, '5'))
    for i in range(7):
        text = ''.join(lines[i::7]).encode()
        (logs / f'2026-12-01-00-00-0{i}-ABCDEF').write_bytes(gzip.compress(text) if i % 2 else text)
    versions = objects + [Object(o.key, o.size, o.modified, o.storage_class, latest=False) for o in objects[:40]]
    for o in versions:
        o.accessed = last.get(o.key)
    listed(p, versions)
    same('access logs', p, versions, '--access', logs)
    same('access logs, each named', p, versions, *(x for i in range(7) for x in ('--access', sorted(logs.iterdir())[i])))

    def sums(rows):
        out = {}
        for row in rows:
            s = out.setdefault((row['prefix'], row['is_latest']), [0, 0])
            s[0] += row['gets_30d']
            s[1] += row['bytes_read_30d']
        return out
    want = {}
    for o in versions:
        s = want.setdefault((''.join(x + '/' for x in o.key.split('/')[:-1][:2]), o.latest), [0, 0])
        if o.latest:
            s[0] += gets.get(o.key, 0)
            s[1] += read_bytes.get(o.key, 0)
    _, rows = rows_of(p, '--access', logs)
    expect(sums(rows) == want, f'gets of logs: {sums(rows)} is not {want}')
    h = tmp / 'h.csv'
    _, err = run('inventory', 'import', p, '--access', logs, '-o', h)
    expect('span' not in err, f'logs of 60 days are complete: {err}')
    expect(sums(rows_of(h)[1]) == want, 'the saved histogram keeps the reads')
    one = tmp / 'one.log'
    one.write_text(log_line('bucket', NOW - 5, 'REST.GET.OBJECT', objects[0].key, 200, '1') + 'nonsense\n')
    _, err = run('inventory', 'aggregate', p, '--access', one)
    expect('one.log:2' in err and 'span 0.0 days' in err, f'bad line of a log: {err}')
    run('inventory', 'aggregate', p, '--access', one, '--max-bad', '0', code=4)
    one.write_text(log_line('bucket', NOW, 'REST.GET.OBJECT', 'a', 200, '1') + log_line('other', NOW, 'REST.GET.OBJECT', 'a', 200, '1'))
    _, err = run('inventory', 'aggregate', p, '--access', one, code=4)
    expect("'other'" in err and 'one.log:2' in err, f'two buckets: {err}')
    twice = urllib.parse.quote_plus(urllib.parse.quote_plus('a b/ü.bin', safe='/'), safe='/')
    one.write_text(log_line('bucket', NOW - 9, 'REST.GET.OBJECT', 'x', 200, '9').replace(' x "', f' {twice} "'))
    listed(p, [Object('a b/ü.bin', 5, NOW - 86400 * 100)])
    _, rows = rows_of(p, '--access', one)
    expect(rows[0]['gets_30d'] == 1 and rows[0]['idle_lo_days'] == 0, f'a key encoded twice: {rows}')
    (tmp / 'empty').mkdir()
    run('inventory', 'aggregate', p, '--access', tmp / 'empty', code=4)
    run('inventory', 'aggregate', p, '--access', tmp / 'none', code=4)


def analysis(tmp):
    """Two classes, a small object, days outside of the 30; the sums are shared out by count and by bytes."""
    objects = [Object('a/1', 1 << 20, NOW - 5 * 86400), Object('a/2', 3 << 20, NOW - 20 * 86400), Object('b/3', 1 << 20, NOW - 100 * 86400),
               Object('b/4', 100, NOW - 100 * 86400), Object('b/5', 1 << 20, NOW - 100 * 86400, 'STANDARD_IA'),
               Object('b/3', 1 << 20, NOW - 100 * 86400, latest=False)]
    p, f = tmp / 'list.json', tmp / 'analysis.csv'
    listed(p, objects)
    head = ('Date,ConfigId,Filter,StorageClass,ObjectAge,ObjectCount,DataUploaded_MB,Storage_MB,DataRetrieved_MB,GetRequestCount,'
            'CumulativeAccessRatio,ObjectAgeForSIATransition,RecommendedObjectAgeForSIATransition\n')
    body = ''
    for d in (0, 1, 29, 30, 400):  # the last two are too old
        day = iso(NOW - d * 86400, '%m-%d-%Y')
        for c, age, mb, gets in (('STANDARD', '000-014', '4', '10'), ('STANDARD', '015-029', '0.5', '2'), ('STANDARD', '090-119', '', '3'),
                                 ('STANDARD', 'ALL', '5.5', '20'), ('STANDARD_IA', '730+', '1', '1')):
            body += f'{day},docs,,{c},{age},,,100,{mb},{gets},0.1,,\n'
    f.write_text(head + body)
    doc, rows = rows_of(p, '--access', f)
    got = {(r['prefix'], r['storage_class'], r['size_lo'], r['age_lo_days'], r['is_latest']): (r.get('gets_30d'), r.get('bytes_read_30d')) for r in rows}
    mib = 1 << 20
    # one prefix a/ holds both objects under 30 days, in one cell
    want = {('a/', 'STANDARD', mib, 0, True): (3 * 12, 3 * 4.5 * mib), ('b/', 'STANDARD', mib, 90, True): (9, 0),
            ('b/', 'STANDARD', 1, 90, True): (3 * 5, 3 * mib), ('b/', 'STANDARD_IA', mib, 90, True): (0, 0),
            ('b/', 'STANDARD', mib, 90, False): (None, None)}
    expect(got == want, f'storage class analysis: {got}')
    expect(doc['objects'] == 6, 'analysis: objects')
    f.write_text(head + body + body.replace('docs', 'other'))
    _, err = run('inventory', 'aggregate', p, '--access', f, code=4)
    expect('other' in err, f'two configurations: {err}')
    f.write_text(head + body.replace('2026', '2024').replace('2025', '2024'))
    run('inventory', 'aggregate', p, '--access', f, code=4)


def main():
    with tempfile.TemporaryDirectory() as d:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW=iso(NOW))
        for test in (s3, azure, gcs, rclone, s3api, find, saved, access_logs, analysis):
            folder = tmp / test.__name__
            folder.mkdir()
            test(folder)
    return asked.verdict()


if __name__ == '__main__':
    sys.exit(main())
