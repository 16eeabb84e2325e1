#!/usr/bin/env python3
"""Long inventories: files that are cut, damaged or half copied, an interrupt, a terminal that watches, one or all
cores, much input in little memory. Nothing is told of half an inventory, and -o is not written."""
import gzip
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
from asked import G, expect  # noqa: E402

NOW = '2026-12-01T00:00:00Z'


def run(*args, code=0, prefix=()):
    p = asked.run(*args, code=code, prefix=prefix)
    return p.stdout, p.stderr.decode(errors='replace')


def rows(r, n):
    return ''.join('"b","p%d/q%d/%d%%2Fx","%d","20%02d-0%d-03T00:00:00.000Z","STANDARD"\n' % (
        r.randrange(5), r.randrange(5), i, r.randrange(1 << 31), r.randrange(20, 26), r.randrange(1, 10)) for i in range(n)).encode()


def manifest(folder, files):
    (folder / 'data').mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / 'data' / name).write_bytes(data)
    path = folder / 'manifest.json'
    path.write_text(json.dumps({'fileFormat': 'CSV', 'fileSchema': 'Bucket, Key, Size, LastModifiedDate, StorageClass', 'files': [
        {'key': f'data/{n}', 'size': len(d), 'MD5checksum': ''} for n, d in files.items()]}))
    return path


def damage(tmp):
    """Each of the files of a manifest in turn; which one is told, whatever the thread that met it."""
    r = random.Random(1)
    whole = {f'{i}.csv.gz': gzip.compress(rows(r, 3000)) for i in range(4)}
    out = tmp / 'out.csv'
    for i, (name, data) in enumerate(whole.items()):
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 0x10
        for what, now in (('cut', data[:len(data) - 1 - i]), ('half', data[:len(data) // 2]), ('head', data[:5 + i]),
                          ('flipped', bytes(flipped)), ('trailer', data[:-4] + b'\0\0\0\0'), ('behind', data + b'rubbish')):
            path = manifest(tmp / 'damaged', dict(whole, **{name: now}))
            text, err = run('inventory', 'aggregate', path, '-o', out, code=4)
            expect(text == b'' and name in err, f'{what} {name}: {err[:200]}')
            expect(not out.exists(), f'{what}: written in spite of it')
    plain = tmp / 'cut.csv.zst'
    data = subprocess.run(['zstd', '-q', '-c'], input=rows(r, 3000), capture_output=True, check=True).stdout
    schema = ('--columns', 'Bucket, Key, Size, LastModifiedDate, StorageClass')
    for what, now in (('cut', data[:-1]), ('half', data[:len(data) // 2]), ('head', data[:6]), ('behind', data + b'rubbish')):
        plain.write_bytes(now)
        text, err = run('inventory', 'aggregate', plain, '-o', out, *schema, code=4)
        expect(text == b'' and plain.name in err and not out.exists(), f'{what} zstd: {err[:200]}')
    plain.write_bytes(data)
    expect(run('inventory', 'aggregate', plain, *schema)[0] != b'', 'whole zstd')
    path = manifest(tmp / 'twice', {'a.csv.gz': whole['0.csv.gz'] + whole['1.csv.gz'], 'b.csv.gz': gzip.compress(b'')})
    doc = json.loads(run('inventory', 'aggregate', path, '--format', 'json')[0])
    expect(doc['objects'] == 6000, f'two members of gzip: {doc["objects"]}')
    (tmp / 'twice/data/a.csv.gz').write_bytes(whole['0.csv.gz'])  # whole, but not what the manifest speaks of
    _, err = run('inventory', 'aggregate', path, '-o', out, code=4)
    expect('manifest says' in err and 'a.csv.gz' in err and not out.exists(), f'another size: {err}')


def cores(tmp):
    if not shutil.which('taskset') or len(os.sched_getaffinity(0)) < 2:
        return
    r = random.Random(2)
    path = manifest(tmp / 'cores', {f'{i}.csv': rows(r, 2000 + 500 * i) for i in range(7)})
    core = str(min(os.sched_getaffinity(0)))
    every = ('inventory', 'aggregate', path, '--format', 'json', '--as-of', NOW)
    expect(run(*every)[0] == run(*every, prefix=('taskset', '-c', core))[0], 'one core tells other rows than all')


def interrupt(tmp):
    """While it waits for more of a pipe, after what it had was read."""
    out = tmp / 'interrupted.csv'
    p = subprocess.Popen([G, 'inventory', 'import', '-', '-o', out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write(b'10\t1790000000.5\t1790000000.5\tf\t/a/b/c\n' * 50000)
    p.stdin.flush()
    time.sleep(.3)
    p.send_signal(signal.SIGINT)
    time.sleep(.1)
    text, err = p.communicate(timeout=20)
    expect(p.returncode == 130 and text == b'', f'interrupted: exit {p.returncode}, {err[:200]}')
    expect(not out.exists() and not list(tmp.glob('interrupted*')), 'interrupted: something was left')


def terminal(tmp):
    """A slow listing on a terminal: rows, rate and bytes, gone at the end. In a pipe: nothing of it."""
    for flags, shown in (((), True), (('-q',), False)):
        ours, theirs = os.pipe()
        pid, fd = pty.fork()
        if pid == 0:
            os.dup2(ours, 0)
            os.close(theirs)
            os.execv(G, [G, 'inventory', 'import', '-', *flags])
        os.close(ours)
        for _ in range(8):
            os.write(theirs, b'10\t1790000000.5\t1790000000.5\tf\t/a/b/c\n' * 1500)
            time.sleep(.1)
        os.close(theirs)
        text = asked.read_terminal(fd)
        os.waitpid(pid, 0)
        os.close(fd)
        expect((b'million a second' in text) == shown, f'terminal {flags}: {text[:300]}')
        expect(not shown or b'\r\x1b[K12000 objects' in text, f'terminal: the line stays: {text[-200:]}')
    _, err = run('inventory', 'import', manifest(tmp / 'quiet', {'a.csv': rows(random.Random(3), 1000)}))
    expect(err == '', f'progress in a pipe: {err}')


def places(tmp):
    """A bad entry far into a listing is told by its line, one entry a line or a member a line."""
    for what, head, end, layout in (('lsjson', '[\n', '\n]\n', None), ('s3api', '{"Contents": [\n', '\n]}\n', 4)):
        name = 'Path' if what == 'lsjson' else 'Key'
        when = 'ModTime' if what == 'lsjson' else 'LastModified'
        entries = [json.dumps({name: f'a/{i}', 'Size': i if i != 25000 else 'much', when: '2025-01-02T03:04:05Z'}, indent=layout)
                   for i in range(30000)]
        path = tmp / f'{what}.json'
        path.write_text(head + ',\n'.join(entries) + end)
        line = 2 + 25000 * (1 + entries[0].count('\n'))
        _, err = run('inventory', 'import', path)
        expect(f'{what}.json:{line}:' in err, f'{what}: expected line {line}: {err[:200]}')


def memory(tmp):
    piece = b''.join(b'%d\t1790000000.5\t1790000000.5\tf\t/a/b%d/%d\n' % (i, i % 50, i) for i in range(20000))
    p = subprocess.Popen([G, 'inventory', 'import', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(100):
        p.stdin.write(piece)
    p.stdin.close()
    text = p.stdout.read()
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = status
    expect(status == 0 and text.startswith(b'2000000 objects'), f'much input: {text[:100]}')
    expect(use.ru_maxrss < 64 * 1024 or 'asan' in G, f'much input: {use.ru_maxrss} KiB')


def main():
    with tempfile.TemporaryDirectory() as name:
        tmp = Path(name)
        for part in (damage, cores, interrupt, terminal, places, memory):
            part(tmp)
    return asked.verdict()


sys.exit(main())
