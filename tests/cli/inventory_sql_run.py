#!/usr/bin/env python3
"""`inventory sql --run`, its faults: engines that hang, end early, say something else, answer rows that the query cannot
yield, a million of them; Ctrl-C. Nothing of such an answer is shown and -o stays as it was. Real engines run in
inventory_sql*.py."""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import G, expect  # noqa: E402

FOLDERS = [b'new\nline', b'\r\n', b'esc\x1b[2J\x1b]0;title\x07', b'\x9b31m', b'bad\xff\xfe\xc3', b'\xc0\xaf', b'\xed\xa0\x80', b'x' * 1023, b'q"q""',
           b'com,ma;semi\ttab|bar', b'=cmd|calc', b"'=1+1", b"''@x", b' lead', b'\xef\xbb\xbfmark', '\u202egnp.exe'.encode(), b'\x7f', b"'"]
HEADER = 'prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k\n'
GOOD = HEADER + ('"a ""q"",\n/",STANDARD,true,0,0,0,7,0,917504\n'
                 "'=1+1/,GLACIER,false,131072,365,30,2,262145,262145\n"
                 'b/c/,STANDARD,true,1073741824,30,30,3000000000,9223372036854775807,9223372036854775807\n')
ROW = 'p/,STANDARD,true,1,0,0,1,5,131072\n'
# each alone behind the header is no row of the histogram
BAD = ['p/,STANDARD,true,1,0,0,1,5\n', ROW[:-1] + ',9\n', 'p,STANDARD,true,1,0,0,1,5,131072\n', 'a/b/c/,STANDARD,true,1,0,0,1,5,131072\n',
       'p/,,true,1,0,0,1,5,131072\n', f'p/,{"S" * 64},true,1,0,0,1,5,131072\n', 'p/,STANDARD,TRUE,1,0,0,1,5,131072\n',
       'p/,STANDARD,t,1,0,0,1,5,131072\n', 'p/,STANDARD,true,2,0,0,1,5,131072\n', 'p/,STANDARD,true,1,1,0,1,5,131072\n',
       'p/,STANDARD,true,1,0,30,1,5,131072\n', 'p/,STANDARD,true,1,0,0,0,0,0\n', 'p/,STANDARD,true,1,0,0,1,0,131072\n',
       'p/,STANDARD,true,1,0,0,1,4096,131072\n', 'p/,STANDARD,true,1,0,0,1,5,131071\n', 'p/,STANDARD,true,1,0,0,1,5,131078\n',
       'p/,STANDARD,true,1,0,0,-1,5,131072\n', 'p/,STANDARD,true,1,0,0,1,5.0,131072\n', 'p/,STANDARD,true,1,0,0,1,1e0,131072\n',
       'p/,STANDARD,true,1,0,0,18446744073709551616,5,131072\n', 'p/,STANDARD,true,1073741824,0,0,18446744073709551615,5,131072\n',
       'p/,STANDARD,true,,0,0,1,5,131072\n', 'p\0/,STANDARD,true,1,0,0,1,5,131072\n', ROW + ROW, '"p/,STANDARD,true,1,0,0,1,5,131072\n',
       ROW + 'Code: 241. DB::Exception: Memory limit (total) exceeded\n', HEADER]


def million():
    yield HEADER
    for i in range(1000000):
        yield f'{i // 1000}/{i % 1000}/,STANDARD,true,4096,0,0,1,5000,131072\n'


FAKE = r'''#!/bin/sh
printf '%s\n' "$@" >"$FAKE_ARGS"
case $FAKE in deaf) exec 0<&- ;; *) cat >"$FAKE_TEXT" ;; esac
cat "$FAKE_OUT"
case $FAKE in
closed) exec >&- 2>&- ;;
signal) kill -9 $$ ;;
fail | deaf) printf 'Catalog Error: no \033[31mtable\n%0100000d' 0 >&2; exit 3 ;;
esac
case $FAKE in hang | closed) echo $$ >"$FAKE_TEXT.pid"; exec sleep 600 ;; esac
'''


class Program:
    """A command `duckdb` that answers what it is told to."""

    def __init__(self, tmp):
        self.tmp = tmp
        (tmp / 'bin').mkdir()
        (tmp / 'bin/duckdb').write_text(FAKE)
        (tmp / 'bin/duckdb').chmod(0o755)
        os.environ.update(PATH=f"{tmp}/bin:{os.environ['PATH']}", FAKE_ARGS=str(tmp / 'args'), FAKE_TEXT=str(tmp / 'text'),
                          FAKE_OUT=str(tmp / 'answer'))

    def set(self, answer, what='answer'):
        os.environ['FAKE'] = what
        (self.tmp / 'answer').write_bytes(answer if isinstance(answer, bytes) else ''.join(answer).encode())

    def run(self, *args, code=0, answer=GOOD, what='answer'):
        self.set(answer, what)
        return asked.run('inventory', 'sql', '--engine', 'duckdb', '--run', ':memory:', *args, code=code)


def pieces(program, tmp):
    """What a good answer comes to: the same through every format, and `tier` takes it."""
    out = tmp / 'h.csv'
    text = program.run('--format', 'csv').stdout.decode()
    rows = list(csv.reader(io.StringIO(text, newline='')))
    expect([r[0] for r in rows[1:]] == ["''=1+1/", 'a "q",\n/', 'b/c/'] and sum(int(r[6]) for r in rows[1:]) == 3000000009, f'csv: {rows}')
    expect((tmp / 'args').read_text().splitlines()[-1] == ':memory:', 'the database is the last argument')
    expect((tmp / 'text').read_text().endswith(';\n') and 'FROM inventory' in (tmp / 'text').read_text().replace('"', ''), 'the query')
    doc = json.loads(program.run('--format', 'json').stdout)
    expect(json_schema.validate(doc, json_schema.load('inventory')) == [], 'json: schema')
    expect([r['prefix'] for r in doc['rows']] == ["'=1+1/", 'a "q",\n/', 'b/c/'] and doc['objects'] == 3000000009, f'json: {doc}')
    table = program.run().stdout.decode()
    expect(table.count('\n') == 4 and 'GLACIER' in table, f'table: {table}')
    told = program.run('-o', out).stdout.decode()
    expect('3000000009 objects' in told and out.read_text() == text, f'-o: {told}')
    asked.run('tier', out)
    full = program.run('-o', '/dev/full', code=1)
    expect(b'No space' in full.stderr and full.stdout == b'', f'a full disk: {full.stderr}')
    small = HEADER + ROW
    program.run('-o', out, answer=small)
    groups = json.loads(asked.run('tier', out, '--format', 'json').stdout)['groups']
    expect([(g['prefix'], g['objects'], g['bytes']) for g in groups] == [('p/', 1, 5)], f'tier reads it: {groups}')
    expect(program.run(answer=HEADER, what='answer').returncode == 0, 'no object at all')
    for answer in (GOOD.replace('\n', '\r\n').replace('"",\r\n', '"",\n'), GOOD[:-1]):
        expect(program.run('--format', 'csv', answer=answer).stdout.decode() == text, 'line ends')
    tmp.joinpath('lake.db').write_text('x')
    asked.run('inventory', 'sql', '--engine', 'duckdb', '--run', tmp / 'lake.db', '--format', 'csv')
    expect('-readonly' in (tmp / 'args').read_text(), 'a database is only read')


def hostile(program, tmp):
    """Names that an engine holds: bytes as they were in CSV and -o, safe on a terminal, JSON that parses."""
    answer = HEADER.encode() + b''.join(b'"' + f.replace(b'"', b'""') + b'/",STANDARD,true,1,0,0,1,5,131072\n' for f in FOLDERS)
    got = set()
    for r in list(csv.reader(io.StringIO(program.run('--format', 'csv', answer=answer).stdout.decode('utf-8', 'surrogateescape'), newline='')))[1:]:
        name = r[0].encode('utf-8', 'surrogateescape')
        got.add(name[1:] if name[:1] == b"'" and name.lstrip(b"'")[:1] in tuple(b'%c' % c for c in b'=+-@\t\r') else name)
    expect(got == {f + b'/' for f in FOLDERS}, f'names: {got ^ {f + b"/" for f in FOLDERS}}')
    doc = json.loads(program.run('--format', 'json', answer=answer).stdout.decode('utf-8'))
    expect(doc['objects'] == len(FOLDERS), f'names: JSON: {doc["objects"]}')
    text = program.run(answer=answer).stdout.decode('utf-8')
    bad = [c for c in text if (ord(c) < 32 and c != '\n') or 0x7f <= ord(c) < 0xa0 or ord(c) in (0x202e, 0xfeff)]
    expect(not bad, f'names: a terminal is sent {bad[:5]}')


def refused(program, tmp):
    out = tmp / 'kept.csv'
    out.write_text('old\n')

    def bad(name, code, *words, **kw):
        p = program.run('-o', out, code=code, **kw)
        expect(p.stdout == b'' and out.read_text() == 'old\n' and [f.name for f in tmp.glob('kept*')] == ['kept.csv'], f'{name}: something is kept')
        expect(all(w in p.stderr for w in words) and b'\x1b' not in p.stderr and len(p.stderr) < 700, f'{name}: {p.stderr[:500]}')
    for i, row in enumerate(BAD):
        bad(f'{i % 3} before {row[:60]!r}', 4, b'duckdb', answer=(GOOD if i % 3 else HEADER) + row)
    for head in (HEADER.replace('bytes_min128k', 'more'), HEADER[:-1] + ',x\n', ROW, HEADER.replace('prefix,storage_class', 'storage_class,prefix'),
                 'Error: \x1b]0;x\x07no such table\n', '\0' * 100, 'x' * 3000000):
        bad(repr(head[:40]), 4, answer=head + ROW)
    bad('nothing', 4, b'answered nothing', answer='')
    for what, words in (('fail', (b'exit status 3', b'Catalog Error')), ('signal', (b'signal 9',)), ('deaf', (b'exit status 3',))):
        bad(what, 1, *words, what=what)
    for what in ('hang', 'closed'):
        begin = time.monotonic()
        p = subprocess.run([G, 'inventory', 'sql', '--engine', 'duckdb', '--run', ':memory:', '--max-time', '1s', '-o', out], check=False,
                           capture_output=True, timeout=60, env=dict(os.environ, FAKE=what))
        expect(p.returncode == 1 and b'--max-time' in p.stderr and time.monotonic() - begin < 20, f'{what}: {p.returncode} {p.stderr[:200]}')
        gone(what, int((tmp / 'text.pid').read_text()))
    for args in (('--run', '-x'), ('--run', ''), ('--run', ':memory:', '--max-time', 'never'), ('-o', out), ('--max-time', '3s')):
        asked.run('inventory', 'sql', '--engine', 'duckdb', *args, code=2)
    for engine in ('athena', 'spark', 'trino'):
        p = asked.run('inventory', 'sql', '--engine', engine, '--run', 'x', '-o', out, code=2)
        expect(b'is not run from here' in p.stderr, f'{engine}: {p.stderr}')
    p = asked.run('inventory', 'sql', '--engine', 'duckdb', '--run', ':memory:', code=None, env=dict(os.environ, PATH='/nowhere'))
    expect(p.returncode == 1 and b'installed' in p.stderr, f'no program: {p.returncode} {p.stderr}')
    expect(out.read_text() == 'old\n', '-o is written')


def gone(name, pid):
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except OSError:
            return
        time.sleep(.1)
    expect(False, f'{name}: the program goes on')


def interrupt(program, tmp):
    out = tmp / 'interrupted.csv'
    program.set(GOOD, 'hang')
    (tmp / 'text.pid').unlink()
    p = subprocess.Popen([G, 'inventory', 'sql', '--engine', 'duckdb', '--run', ':memory:', '-o', out], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    for _ in range(200):
        if (tmp / 'text.pid').exists() and (tmp / 'text.pid').read_text():
            break
        time.sleep(.05)
    p.send_signal(signal.SIGINT)
    text, err = p.communicate(timeout=20)
    expect(p.returncode == 130 and text == b'' and not list(tmp.glob('interrupted*')), f'interrupted: {p.returncode} {err}')
    gone('interrupted', int((tmp / 'text.pid').read_text()))


def much(program, tmp):
    program.set(million())
    answer = (tmp / 'answer').read_bytes()
    out = tmp / 'million.csv'
    p = subprocess.Popen([G, 'inventory', 'sql', '--engine', 'duckdb', '--run', ':memory:', '-o', out], stdout=subprocess.PIPE)
    text = p.stdout.read()
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = status
    expect(status == 0 and text.startswith(b'1000000 objects') and b'1000000 cells' in text, f'a million rows: {status} {text}')
    expect(out.read_bytes().count(b'\n') == 1000001, 'a million rows: -o')
    expect(use.ru_maxrss < 256 * 1024 or 'asan' in G, f'a million rows: {use.ru_maxrss} KiB')
    p = program.run(code=1, answer=answer + b'x/,STANDARD,true,0,0,0,1,0,131072\n')
    expect(b'--depth' in p.stderr, f'more cells than are taken: {p.stderr[:200]}')


def main():
    with tempfile.TemporaryDirectory() as d:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW='2026-12-01T00:00:00Z')
        program = Program(tmp)
        for part in (pieces, hostile, refused, interrupt, much):
            part(program, tmp)
    return asked.verdict()


if __name__ == '__main__':
    sys.exit(main())
