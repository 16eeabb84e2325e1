#!/usr/bin/env python3
"""`inventory sql` gives the rows of `inventory aggregate`, in the same order: PostgreSQL is started here on a socket of
its own and stopped after. Texts for the other engines are parsed where python3-sqlglot is installed; inventory_sql_engines.py
runs DuckDB and ClickHouse."""
import csv
import io
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import inventory_inputs as inputs  # noqa: E402
from asked import expect  # noqa: E402

ENGINES = ('duckdb', 'clickhouse', 'athena', 'spark', 'trino', 'postgresql')
SCHEMA = 'Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass'


FOLDERS = ['new\nline', '\r\n', 'esc\x1b[2J', '\x9b31m', 'q"q""', 'com,ma;semi\ttab|bar', '=cmd|calc', "'=1+1", "''@x", '-2', '+3', ' lead',
           'trail ', '\ufeffmark', '%41', 'a+b', '\u202egnp.exe', '..', '\\n\\', '\x7f', '<script>', "'", '\\N', 'NULL', 'x' * 900]


def instant(t, part):
    return inputs.iso(t, '%Y-%m-%dT%H:%M:%S.') + f'{part:03d}Z'


def data(tmp):
    """One inventory as S3's CSV and as rows of a table, edges hit to the millisecond, and accesses."""
    r = random.Random(21)
    objects = inputs.some(20, ['STANDARD', 'GLACIER', 'STANDARD_IA'], 1500)
    for i, o in enumerate(objects[:20]):
        o.key = './' * (i % 3) + '/' * (i % 4) + o.key.replace('/', '//' if i % 5 == 0 else '/')
    for i, o in enumerate(objects[20:320]):
        o.key = f'{FOLDERS[i % len(FOLDERS)]}/{o.key}'
    rows, lines, access = [], [], []
    for i, o in enumerate(objects):
        latest, marker = r.random() < .8, r.random() < .05
        when = instant(o.modified, r.choice([0, 0, 1, 999]))
        rows.append(['bucket', o.key, 'v', latest, marker, '' if marker else o.size, when, 'e', '' if marker else o.storage_class])
        lines.append(inputs.quoted(['bucket', urllib.parse.quote_plus(o.key, safe='/'), 'v', str(latest).lower(), str(marker).lower(),
                                    '' if marker else o.size, when, 'e', '' if marker else o.storage_class]))
        if r.random() < .3:
            access += [[o.key, instant(inputs.NOW - r.choice([30, 60, 90, 365]) * 86400 - r.choice([0, 1]), r.choice([0, 1]))]] * r.choice([1, 2])
    (tmp / 'data.csv').write_text(''.join(lines))
    (tmp / 'access.csv').write_text('key,last_access\n' + ''.join(inputs.quoted(a) for a in access))
    return rows, access


def aggregate(tmp, *args):
    out, _ = inputs.run('inventory', 'aggregate', tmp / 'data.csv', '--columns', SCHEMA, '--format', 'csv', *args)
    return list(csv.reader(io.StringIO(out.decode(), newline='')))


def query(engine, *args, code=0):
    return inputs.run('inventory', 'sql', '--engine', engine, *args, code=code)


def unguarded(rows):
    """Without the writer's guard against spreadsheets that run formulas."""
    return [[f[1:] if f[:1] == "'" and f.lstrip("'")[:1] in tuple('=+-@\t\r') else f for f in row] for row in rows]


def compare(name, text, want):
    got = list(csv.reader(io.StringIO(text, newline='')))
    want = unguarded(want)
    expect(got == want, f'{name}: {len(got)} rows for {len(want)}; the first that differs: '
           f'{next(((a, b) for a, b in zip(got, want) if a != b), None)}')
    expect(len(want) > 200, f'{name}: only {len(want)} rows are compared')


def same_run(engine, tmp, out, *args, access=False, tier=False):
    """--run gives what `aggregate` gives, byte for byte, on standard output and in -o, and `tier` takes it."""
    mine = ('--access', tmp / 'access.csv') if access else ()
    want = inputs.run('inventory', 'aggregate', tmp / 'data.csv', '--columns', SCHEMA, '--format', 'csv', *mine)[0]
    got = query(engine, *args, '--format', 'csv')[0]
    expect(got == want and want.count(b'\n') > 200, f'{engine} {args}: --run: {len(got)} bytes for {len(want)}')
    query(engine, *args, '-o', out)
    expect(out.read_bytes() == want, f'{engine} {args}: -o')
    if not tier:
        return
    mine = asked.run('tier', tmp / 'data.csv', '--columns', SCHEMA, '--format', 'json', *mine).stdout
    expect(asked.run('tier', '-', '--format', 'json', input=got).stdout == mine, f'{engine} {args}: tier answers otherwise')


class Postgres:
    """A cluster of its own on a socket in a folder of its own, which user postgres can reach where this is root."""

    def __init__(self, tmp):
        self.tmp = tmp
        self.user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] if os.getuid() == 0 else []
        found = shutil.which('initdb') or next(iter(sorted(Path('/usr/lib/postgresql').glob('*/bin/initdb'))), None)
        self.bin = Path(found).resolve().parent if found else None

    def usable(self):
        return self.bin and (self.bin / 'psql').exists() and subprocess.run([*self.user, 'true'], check=False, capture_output=True).returncode == 0

    def call(self, *args, **kw):
        return subprocess.run([*self.user, *map(str, args)], check=True, capture_output=True, timeout=120, cwd='/', **kw)

    def __enter__(self):
        if self.user:
            shutil.chown(self.tmp, 'postgres')
        self.call(self.bin / 'initdb', '-D', self.tmp / 'db', '-E', 'UTF8', '--no-locale', '-A', 'trust', '--no-sync', '-U', 'postgres')
        self.call(self.bin / 'pg_ctl', '-D', self.tmp / 'db', '-w', '-l', self.tmp / 'log', 'start', '-o',
                  f"-c listen_addresses='' -c unix_socket_directories={self.tmp} -c fsync=off -c timezone=Asia/Kolkata")
        return self

    def __exit__(self, *_):
        self.call(self.bin / 'pg_ctl', '-D', self.tmp / 'db', '-w', '-m', 'immediate', 'stop')

    def sql(self, text):
        return self.call(self.bin / 'psql', '-h', self.tmp, '-U', 'postgres', '-X', '-q', '--csv', '-v', 'ON_ERROR_STOP=1', '-f', '-',
                         input=text.encode()).stdout.decode()


def copy(value):
    return '\\N' if value == '' else str(value).replace('\\', '\\\\').replace('\n', '\\n').replace('\t', '\\t').replace('\r', '\\r')


def postgres(pg, rows, access, tmp):
    for kind in ('timestamptz', 'timestamp'):
        pg.sql(f'DROP TABLE IF EXISTS inventory; CREATE TABLE inventory (bucket text, key text, version_id text, is_latest boolean, '
               f'is_delete_marker boolean, size bigint, last_modified_date {kind}, e_tag text, storage_class text);\n'
               'COPY inventory FROM STDIN;\n' + ''.join('\t'.join(map(copy, r)) + '\n' for r in rows) + '\\.\n' +
               f'DROP TABLE IF EXISTS reads; CREATE TABLE reads (key text, last_access {kind});\nCOPY reads FROM STDIN;\n' +
               ''.join('\t'.join(map(copy, a)) + '\n' for a in access) + '\\.\n')
        for depth in ('0', '1', '2', '5'):
            compare(f'postgresql {kind} depth {depth}', pg.sql(query('postgresql', '--depth', depth)[0].decode()),
                    aggregate(tmp, '--depth', depth))
        compare(f'postgresql {kind} access', pg.sql(query('postgresql', '--access', 'reads')[0].decode()),
                aggregate(tmp, '--access', tmp / 'access.csv'))
    pg.sql('CREATE SCHEMA s; CREATE TABLE s.mine AS SELECT key AS "Name of it", size AS bytes, last_modified_date AS t FROM inventory '
           'WHERE NOT is_delete_marker')
    out = pg.sql(query('postgresql', '--from', 's.mine', '--columns', 'key="Name of it",size=bytes,last_modified=t,storage_class='
                       "'STANDARD',is_latest=true,is_delete_marker=false")[0].decode())
    got, want = {}, {}
    for r in list(csv.reader(io.StringIO(out, newline='')))[1:]:
        got[r[0]] = got.get(r[0], 0) + int(r[7])
    for r in unguarded(aggregate(tmp))[1:]:
        want[r[0]] = want.get(r[0], 0) + int(r[7])
    expect(got == want, 'columns of other names')


def runs(pg, tmp):
    """--run by libpq, on the table that `postgres` left."""
    at, out = f'postgresql://postgres@/postgres?host={pg.tmp}', tmp / 'run.csv'
    same_run('postgresql', tmp, out, '--run', at)
    same_run('postgresql', tmp, out, '--run', f'host={pg.tmp} user=postgres dbname=postgres', '--access', 'reads', access=True, tier=True)
    os.environ.update(PGHOST=str(pg.tmp), PGUSER='postgres', PGCLIENTENCODING='LATIN1')
    same_run('postgresql', tmp, out, '--run', 'postgresql://')
    for where, args, code, words in ((at, ('--from', 'nothing'), 1, b'"nothing" does not exist'), (at, ('--columns', 'size=1/(size-size)'), 1, b'division by zero'),
                                     (f'{at}&dbname=no_such', (), 1, b'no_such'), ('host=/nowhere', (), 1, b'/nowhere'), (at, ('--offline',), 2, b'--offline'),
                                     (at.replace('@', ':pw123@'), (), 2, b'PGPASSWORD'), (at + '&password=pw123', (), 2, b'PGPASSWORD'), ('no=such', (), 2, b'PGPASSWORD')):
        p = asked.run('inventory', 'sql', '--engine', 'postgresql', '--run', where, '-o', tmp / 'none', *args, code=code)
        expect(words in p.stderr and b'pw123' not in p.stderr and p.stdout == b'' and not (tmp / 'none').exists(), f'{where} {args}: {p.stderr}')
    with socket.create_server(('127.0.0.1', 0)) as deaf:
        where = f'postgresql://127.0.0.1:{deaf.getsockname()[1]}/x'
        p = asked.run('inventory', 'sql', '--engine', 'postgresql', '--run', where, '--max-time', '1s', code=1)
        expect(b'--max-time' in p.stderr, f'no answer: {p.stderr}')


def stops(pg, tmp):
    """Ctrl-C and --max-time end the query in the server, within seconds even where that does not answer."""
    pg.sql("CREATE VIEW slow AS SELECT key, (SELECT 1 FROM pg_sleep(600)) AS size, last_modified_date, storage_class, is_latest, is_delete_marker FROM inventory")
    at, out = f'postgresql://postgres@/postgres?host={pg.tmp}', tmp / 'stopped.csv'
    command = ('inventory', 'sql', '--engine', 'postgresql', '--from', 'slow', '--run', at, '-o', str(out))
    state = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gputier' AND state = 'active'"

    def active(wanted):
        for _ in range(100):
            if (pg.sql(state).split()[1] == '1') == wanted:
                return True
            time.sleep(.1)
        return False
    p = asked.run(*command, '--max-time', '1s', code=1)
    expect(b'--max-time' in p.stderr and active(False), f'late: {p.stderr}')
    postmaster = int((pg.tmp / 'db/postmaster.pid').read_text().split()[0])
    for frozen in (False, True):
        p = subprocess.Popen([asked.G, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect(active(True), 'the query does not begin')
        if frozen:
            os.kill(postmaster, signal.SIGSTOP)
        try:
            p.send_signal(signal.SIGINT)
            text, err = p.communicate(timeout=20)
        finally:
            os.kill(postmaster, signal.SIGCONT)
        expect(p.returncode == 130 and text == b'' and not out.exists(), f'interrupted: {p.returncode} {err}')
        expect(active(False), f'frozen {frozen}: the query goes on in the server')


def texts():
    for engine in ENGINES:
        out, _ = query(engine, '--access', 'db.reads', '--from', 'db.inventory')
        expect(out == query(engine, '--access', 'db.reads', '--from', 'db.inventory')[0] and b'db.inventory' in out, f'{engine}: text')
    for args in (('oracle',), ('trino', '--from', 'x.parquet'), ('spark', '--from', 'a b'), ('postgresql', '--columns', 'size=a,colour=b'),
                 ('duckdb', '--from', 'x.csv'), ('duckdb', '--from', "a'/b.parquet"), ('duckdb', '--access', 'x; DROP TABLE y'),
                 ('duckdb', '--from', 'x.csv', '--columns', 'Key, Size')):
        query(*args, code=2)
    inputs.run('inventory', 'sql', code=2)
    check = ('import sys, sqlglot\n'
             'for e in sys.argv[1:]:\n'
             '    name, path = e.split("=", 1)\n'
             '    n = len(sqlglot.parse(open(path).read(), read=name))\n'
             '    assert n == 1, (name, n)\n')
    if subprocess.run(['/usr/bin/python3', '-c', 'import sqlglot'], check=False, capture_output=True).returncode != 0:
        print('not parsed: python3-sqlglot is not installed')
        return
    with tempfile.TemporaryDirectory() as d:
        args = []
        for engine in (e for e in ENGINES if e != 'clickhouse'):  # whose extract() it takes for the standard's
            path = Path(d) / engine
            path.write_bytes(query(engine, '--access', 'reads')[0])
            args.append(f"{ {'athena': 'trino', 'postgresql': 'postgres'}.get(engine, engine)}={path}")
        p = subprocess.run(['/usr/bin/python3', '-c', check, *args], check=False, capture_output=True)
        expect(p.returncode == 0, f'sqlglot: {p.stderr.decode()[-400:]}')
    print('athena, spark, trino: parsed, not run here')


def main():
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory(dir='/tmp') as server:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW=inputs.iso(inputs.NOW))
        texts()
        rows, access = data(tmp)
        pg = Postgres(Path(server))
        if pg.usable():
            with pg:
                postgres(pg, rows, access, tmp)
                version = asked.run('--version').stdout
                if b'by libpq' in version:
                    runs(pg, tmp)
                    stops(pg, tmp)
                else:
                    print('--run: not asked: built without libpq')
    status = asked.verdict()
    if not status and not pg.usable():
        print('SKIP: no PostgreSQL server is installed (postgresql)')
        return 77
    return status


if __name__ == '__main__':
    sys.exit(main())
