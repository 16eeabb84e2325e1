#!/usr/bin/env python3
"""Names that try to break something, in every input: they come back as they were from -o, are shown without a byte that a
terminal obeys, and give JSON that parses. kill -9 at every call that changes a file and a full disk leave the old -o or
the new one, whole."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
from asked import G, expect, run  # noqa: E402

FOLDERS = [b'new\nline', b'\r\n', b'esc\x1b[2J\x1b]0;title\x07', b'\x9b31m', b'bad\xff\xfe\xc3', b'\xc0\xaf', b'\xed\xa0\x80', b'x' * 1000,
           b'q"q""', b'com,ma;semi\ttab|bar', b'=cmd|calc', b"'=1+1", b"''@x", b'-2', b'+3', b' lead', b'trail ', b'\xef\xbb\xbfmark', b'%41%00',
           b'a+b', '\u202egnp.exe'.encode(), b'..', b'$(reboot)', b'\\n\\', b'\x7f', b'{"a":[', b'<script>', b"'"]


def prefixes(path, *args):
    """prefix -> objects, of the bytes that -o writes, read by this program."""
    out = path.parent / 'out.csv'
    run('inventory', 'aggregate', path, '--depth', '1', '-o', out, *args)
    text = out.read_bytes().decode('utf-8', 'surrogateescape')
    got = {}
    for r in list(csv.reader(io.StringIO(text, newline='')))[1:]:
        name = r[0].encode('utf-8', 'surrogateescape')
        rest = name.lstrip(b"'")
        name = name[1:] if name[:1] == b"'" and rest[:1] and rest[:1] in b'=+-@\t\r' else name
        got[name] = got.get(name, 0) + int(r[6])
    again = path.parent / 'again.csv'
    run('inventory', 'aggregate', out, '--depth', '1', '-o', again)
    expect(again.read_bytes() == out.read_bytes(), f'{path.name}: the histogram changes when it is read again')
    return got


def shown(path, *args):
    doc = json.loads(run('inventory', 'aggregate', path, '--depth', '1', '--format', 'json', *args).stdout.decode('utf-8'))
    expect(sum(r['objects'] for r in doc['rows']) == doc['objects'] > 0, f'{path.name}: JSON')
    for more in ((), ('--plain',)):
        text = run('inventory', 'aggregate', path, '--depth', '1', *more, *args).stdout
        bad = [c for c in text.decode('utf-8') if (ord(c) < 32 and c != '\n') or 0x7f <= ord(c) < 0xa0 or ord(c) in (0x202e, 0xfeff)]
        expect(not bad, f'{path.name} {more}: a terminal is sent {bad[:5]}')
    tier = run('tier', path, '--depth', '1', *args)
    expect(b'\x1b' not in tier.stdout + tier.stderr and b'\x9b31' not in tier.stdout, f'{path.name}: tier sends escapes')


def names(tmp):
    want = {f + b'/': 1 for f in FOLDERS}
    key_end = b'/' + b'k' * 23  # with the longest folder a key of 1,024 bytes
    find, s3 = tmp / 'find', tmp / 's3.csv'
    find.write_bytes(b''.join(b'5\t1790000000.0\tf\t' + f + key_end + b'\0' for f in FOLDERS))
    expect(prefixes(find) == want, f'find: {set(prefixes(find).items()) ^ set(want.items())}')
    s3.write_text(''.join(f'"b","{urllib.parse.quote_plus(f + key_end, safe="/")}","5","2026-01-01T00:00:00.000Z"\n' for f in FOLDERS))
    args = ('--columns', 'Bucket, Key, Size, LastModifiedDate')
    expect(prefixes(s3, *args) == want, f's3: {set(prefixes(s3, *args).items()) ^ set(want.items())}')
    azure = tmp / 'azure.csv'
    azure.write_bytes(b'Name,Last-Modified,Content-Length\n' + b''.join(
        b'"' + f.replace(b'"', b'""') + key_end + b'",2026-01-01T00:00:00Z,5\n' for f in FOLDERS))
    expect(prefixes(azure) == want, f'azure: {set(prefixes(azure).items()) ^ set(want.items())}')
    text = {f for f in FOLDERS if f.decode('utf-8', 'replace').encode() == f}
    rclone = tmp / 'rclone.json'
    rclone.write_text(json.dumps([{'Path': (f + key_end).decode(), 'Size': 5, 'ModTime': '2026-01-01T00:00:00Z'} for f in text]))
    expect(prefixes(rclone) == {f + b'/': 1 for f in text}, 'rclone')
    s3api = tmp / 's3api.json'
    s3api.write_text(json.dumps({'Contents': [{'Key': (f + key_end).decode(), 'Size': 5, 'LastModified': '2026-01-01T00:00:00+00:00'} for f in text]}))
    expect(prefixes(s3api) == {f + b'/': 1 for f in text}, 's3api')
    gcs = tmp / 'gcs.csv'
    gcs.write_bytes(b'project,bucket,name,size,timeCreated,storageClass\n' + b''.join(
        b'p,b,"' + f.replace(b'"', b'""') + key_end + b'",5,2026-01-01T00:00:00Z,STANDARD\n' for f in FOLDERS))
    expect(prefixes(gcs) == want, f'gcs: {set(prefixes(gcs).items()) ^ set(want.items())}')
    for path, more in ((find, ()), (s3, args), (azure, ()), (rclone, ()), (s3api, ()), (gcs, ())):
        shown(path, *more)
    rclone.write_bytes(b'[{"Path":"a\xff","Size":1,"ModTime":"2026-01-01T00:00:00Z"}]')
    run('inventory', 'aggregate', rclone, code=4)
    s3.write_text('"b","a%00b","5","2026-01-01T00:00:00.000Z"\n"b","a%4","5","2026-01-01T00:00:00.000Z"\n"b","ok","5","2026-01-01T00:00:00.000Z"\n')
    doc = json.loads(run('inventory', 'aggregate', s3, '--format', 'json', *args).stdout)
    expect(doc['bad_rows'] == 2 and doc['objects'] == 1, f'a NUL and a broken escape in keys: {doc}')
    find.write_bytes(b'5\t1790000000.0\tf\tbad\x1b[31m\0x\x1b[31m\t5\0')
    r = run('inventory', 'aggregate', find)
    expect(b'\x1b' not in r.stderr, f'escapes on stderr: {r.stderr!r}')


def ends(tmp):
    """Inside any call that changes a file."""
    shim = tmp / 'crash_at.so'
    source = Path(__file__).resolve().parent.parent / 'support/crash_at.c'
    subprocess.run(['cc', '-shared', '-fPIC', '-O1', '-o', shim, source, '-ldl'], check=True)
    folder = tmp / 'ends'
    folder.mkdir()
    listing, out = tmp / 'list', folder / 'out.csv'
    listing.write_bytes(b''.join(b'5\t1790000000.0\tf\t%d/x\0' % i for i in range(3000)))
    command = ('inventory', 'aggregate', listing, '-o', out)
    run(*command)
    new, old = out.read_bytes(), b'old\n'

    def once(code, **variables):
        for f in folder.iterdir():
            f.unlink()
        out.write_bytes(old)
        return run(*command, code=code, env=dict(os.environ, LD_PRELOAD=str(shim), **variables))
    count = tmp / 'count'
    p = once(None, CRASH_COUNT=str(count))
    if p.returncode != 0 or not count.exists():
        print(f'not ended inside writes: the shim does not load here: {p.stderr[-100:]}')
        return
    total = int(count.read_text())
    expect(total >= 3, f'only {total} calls change files')
    states = set()
    for n in range(1, total + 1):
        once(None, CRASH_AT=str(n))
        states.add(out.read_bytes())
        expect(out.read_bytes() in (old, new), f'killed at call {n} of {total}: -o is neither old nor new')
    expect(states == {old, new} or states == {old}, 'no call was before the new file is in its place')
    for n in range(1, total + 1):
        p = once(None, FULL_AT=str(n))
        expect(out.read_bytes() in (old, new), f'disk full at call {n}: -o is neither old nor new')
        expect((p.returncode == 0) == (out.read_bytes() == new), f'disk full at call {n}: exit {p.returncode}')
        expect(p.returncode == 0 or b'No space' in p.stderr, f'disk full at call {n}: {p.stderr!r}')
        expect([f.name for f in folder.iterdir()] == ['out.csv'], f'disk full at call {n}: {list(folder.iterdir())}')
    shutil.rmtree(folder)
    run('inventory', 'aggregate', listing, '-o', folder / 'no/such', code=1)


def main():
    with tempfile.TemporaryDirectory() as d:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW='2026-12-01T00:00:00Z')
        names(tmp)
        ends(tmp)
    return asked.verdict()


sys.exit(main())
