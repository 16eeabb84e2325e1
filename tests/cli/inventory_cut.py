#!/usr/bin/env python3
"""Every input of `inventory` as .gz and .zst, lists and access records alike: read as it is unpacked, and refused whole
wherever a copy ended early, a bit changed or something follows; JSON also unpacked. -o keeps what it held."""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import inventory_inputs as inputs  # noqa: E402
from asked import expect, run  # noqa: E402

OBJECTS = [(f'data/{i % 7}/{i:05}.bin', 1 << i % 20, inputs.NOW - 86400 * (i % 500)) for i in range(600)]
HEAD = 'Date,ConfigId,Filter,StorageClass,ObjectAge,ObjectCount,DataUploaded_MB,Storage_MB,DataRetrieved_MB,GetRequestCount\n'


def csv_of(head, row, stamp='%Y-%m-%dT%H:%M:%SZ'):
    return head + ''.join(','.join(map(str, row(k, n, inputs.iso(t, stamp)))) + '\n' for k, n, t in OBJECTS)


def lists():
    """kind -> (text, options, it is JSON)."""
    yield 's3', csv_of('', lambda k, n, t: ('"b"', f'"{k}"', f'"{n}"', f'"{t}"', '"STANDARD"')), \
        ('--columns', 'Bucket, Key, Size, LastModifiedDate, StorageClass'), False
    yield 'azure', csv_of('Name,Last-Modified,Content-Length,AccessTier\n', lambda k, n, t: (k, t, n, 'Hot')), (), False
    yield 'gcs', csv_of('bucket,name,size,timeCreated,storageClass\n', lambda k, n, t: ('b', k, n, t, 'STANDARD')), (), False
    yield 'rclone', json.dumps([{'Path': k, 'Size': n, 'ModTime': inputs.iso(t), 'IsDir': False} for k, n, t in OBJECTS]), (), True
    yield 's3api', json.dumps({'Contents': [{'Key': k, 'Size': n, 'LastModified': inputs.iso(t), 'StorageClass': 'STANDARD'}
                                            for k, n, t in OBJECTS]}, indent=1), (), True
    yield 'find', ''.join(f'{n}\t{t}.0\t{t}.0\t1\t./{k}\0' for k, n, t in OBJECTS), (), False


def records():
    """kind -> text of what --access reads."""
    yield 'log', ''.join(inputs.log_line('b', t, 'REST.GET.OBJECT', k, 200, n) for k, n, t in OBJECTS)
    yield 'analysis', HEAD + ''.join(f"{inputs.iso(inputs.NOW - 86400 * d, '%m-%d-%Y')},all,,STANDARD,{age},,,100,5,9\n"
                                     for d in range(1, 29) for age in ('000-014', '015-029', '030-044', 'ALL'))


def packed(text):
    yield 'gz', gzip.compress(text, mtime=0)
    yield 'zst', subprocess.run(['zstd', '-q', '-c', '--check'], input=text, capture_output=True, check=True).stdout


def damaged(data):
    n = len(data)
    for keep in (n - 1, n // 3, 12):
        yield f'{keep} of {n} bytes', data[:keep]
    middle = bytearray(data)
    middle[n // 2] ^= 0x20
    yield 'a changed bit', bytes(middle)
    yield 'something behind', data + b'and more'


def refused(what, path, out, command):
    out.write_bytes(b'old\n')
    p = run('inventory', 'aggregate', *command, '-o', out, code=4)
    told = p.stderr.decode(errors='replace')
    expect(p.stdout == b'' and path.name in told, f'{what}: {told[-200:]}')
    expect(out.read_bytes() == b'old\n', f'{what}: written in spite of it')


def judge(tmp, kind, text, command):
    """command: of the path to read."""
    out, path = tmp / 'out.csv', tmp / kind
    path.write_bytes(text)
    want = run('inventory', 'aggregate', *command(path), '-o', out) and out.read_bytes()
    expect(want.count(b'\n') > 20, f'{kind}: {want[:200]}')
    for form, data in packed(text):
        path = tmp / f'{form}-{kind}'  # known by content, whatever the name
        path.write_bytes(data)
        run('inventory', 'aggregate', *command(path), '-o', out)
        expect(out.read_bytes() == want, f'{path.name} is not read as it is unpacked')
        for how, broken in damaged(data):
            path.write_bytes(broken)
            refused(f'{path.name}, {how}', path, out, command(path))
        path.unlink()
    return want


def main():
    r = random.Random(5)
    with tempfile.TemporaryDirectory() as d:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW=inputs.iso(inputs.NOW))
        for kind, text, options, is_json in lists():
            want = judge(tmp, kind, text.encode(), lambda path, o=options: (path, *o))
            for keep in [len(text) - 1, *r.sample(range(1, len(text)), 2)] if is_json else []:
                path = tmp / f'{kind}.json'
                path.write_text(text[:keep])
                refused(f'{kind}, {keep} of {len(text)} bytes', path, tmp / 'out.csv', (path,))
        judge(tmp, 'histogram', want, lambda path: (path,))
        listed = tmp / 'listed.json'
        listed.write_text(next(text for kind, text, _, _ in lists() if kind == 's3api'))
        for kind, text in records():
            judge(tmp, kind, text.encode(), lambda path: (listed, '--access', path))
    return asked.verdict()


sys.exit(main())
