#!/usr/bin/env python3
"""`inventory sql` in DuckDB (the command `duckdb`, or npm's @duckdb/node-api by support/duckdb.js) and ClickHouse
(`clickhouse-local`, or npm's chdb by support/clickhouse.js): S3's CSV and Parquet as files, tables of reads; the rows of
`inventory aggregate`, in its order."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import inventory_inputs as inputs  # noqa: E402
import inventory_sql as common  # noqa: E402


def engine(command, script):
    """The command line of an engine that reads statements and writes CSV; None where there is none."""
    if shutil.which(command[0]):
        return command
    node = ['node', str(Path(__file__).resolve().parent.parent / 'support' / script)]
    p = subprocess.run(node, input=b'SELECT 1', check=False, capture_output=True) if shutil.which('node') else None
    return node if p and p.returncode == 0 else None


def execute(command, text):
    p = subprocess.run(command, input=text.encode(), check=False, capture_output=True, timeout=120)
    asked.expect(p.returncode == 0, f'{command[0]}: {p.stderr.decode()[-500:]}')
    return p.stdout.decode()


def in_duckdb(command, tmp):
    subprocess.run(['gzip', '-k', tmp / 'data.csv'], check=True)
    for path in (tmp / 'data.csv', tmp / 'data.csv.gz'):
        text = common.query('duckdb', '--from', path, '--columns', common.SCHEMA)[0].decode()
        common.compare(f'duckdb {path.name}', execute(command, text), common.aggregate(tmp))
    reads = (f"CREATE TABLE reads AS SELECT * FROM read_csv('{tmp}/access.csv', header = true, "
             "columns = {'key': 'VARCHAR', 'last_access': 'TIMESTAMPTZ'});\n")
    text = common.query('duckdb', '--from', tmp / 'data.csv', '--columns', common.SCHEMA, '--access', 'reads')[0].decode()
    common.compare('duckdb access', execute(command, reads + text), common.aggregate(tmp, '--access', tmp / 'access.csv'))
    make = (f"COPY (SELECT url_decode(replace(k, '+', '%20')) AS key, v AS version_id, l AS is_latest, m AS is_delete_marker, "
            f"TRY_CAST(s AS BIGINT) AS size, CAST(t AS TIMESTAMPTZ) AS last_modified_date, c AS storage_class FROM read_csv('{tmp}/data.csv', "
            "header = false, columns = {'b': 'VARCHAR', 'k': 'VARCHAR', 'v': 'VARCHAR', 'l': 'BOOLEAN', 'm': 'BOOLEAN', 's': 'VARCHAR', "
            f"'t': 'VARCHAR', 'e': 'VARCHAR', 'c': 'VARCHAR'}})) TO '{tmp}/part.parquet' (FORMAT parquet);\n")
    execute(command, make)
    for depth in ('1', '3'):
        text = common.query('duckdb', '--from', tmp / '*.parquet', '--depth', depth)[0].decode()
        common.compare(f'duckdb parquet {depth}', execute(command, text), common.aggregate(tmp, '--depth', depth))


def run_duckdb(command, tmp):
    """--run, by a command named duckdb: files without a database, and a database that is only read."""
    path = os.environ['PATH']
    if command[0] == 'node':
        (tmp / 'bin').mkdir()
        (tmp / 'bin/duckdb').write_text(f'#!/bin/sh\nexec node {command[1]} "$@"\n')
        (tmp / 'bin/duckdb').chmod(0o755)
        os.environ['PATH'] = f'{tmp}/bin:{path}'
    make = (f"CREATE TABLE lake AS SELECT * FROM '{tmp}/part.parquet';\nCREATE TABLE reads AS SELECT * FROM read_csv('{tmp}/access.csv', "
            "header = true, columns = {'key': 'VARCHAR', 'last_access': 'TIMESTAMPTZ'});\n")
    subprocess.run(['duckdb', tmp / 'lake.db'], input=make.encode(), check=True, capture_output=True)
    out = tmp / 'run.csv'
    for args in (('--from', tmp / 'data.csv.gz', '--columns', common.SCHEMA, '--run', ':memory:'), ('--from', tmp / '*.parquet', '--run', ':memory:'),
                 ('--from', 'lake', '--run', tmp / 'lake.db')):
        common.same_run('duckdb', tmp, out, *args)
    common.same_run('duckdb', tmp, out, '--from', 'lake', '--access', 'reads', '--run', tmp / 'lake.db', access=True, tier=True)
    p = asked.run('inventory', 'sql', '--engine', 'duckdb', '--from', 'nothing', '--run', tmp / 'lake.db', code=1)
    asked.expect(b'nothing' in p.stderr and p.stdout == b'', f'duckdb: no such table: {p.stderr}')
    os.environ['PATH'] = path


def in_clickhouse(command, tmp):
    text = common.query('clickhouse', '--from', tmp / 'data.csv', '--columns', common.SCHEMA)[0].decode()
    common.compare('clickhouse csv', execute(command, text), common.aggregate(tmp))
    reads = ("CREATE TABLE reads ENGINE = Memory AS SELECT key, parseDateTime64BestEffort(last_access, 3, 'UTC') AS last_access "
             f"FROM file('{tmp}/access.csv', 'CSVWithNames', 'key String, last_access String');\n")
    text = common.query('clickhouse', '--from', tmp / 'data.csv', '--columns', common.SCHEMA, '--access', 'reads')[0].decode()
    common.compare('clickhouse access', execute(command, reads + text), common.aggregate(tmp, '--access', tmp / 'access.csv'))
    if (tmp / 'part.parquet').exists():
        text = common.query('clickhouse', '--from', tmp / '*.parquet')[0].decode()
        common.compare('clickhouse parquet', execute(command, text), common.aggregate(tmp))


def main():
    duck = engine(['duckdb', '-csv', ':memory:'], 'duckdb.js')
    click = engine(['clickhouse-local', '--format', 'CSVWithNames'], 'clickhouse.js')
    if not duck and not click:
        print('SKIP: neither duckdb nor clickhouse-local is installed (make check-engines brings npm\'s of them)')
        return 77
    with tempfile.TemporaryDirectory() as d:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW=inputs.iso(inputs.NOW))
        common.data(tmp)
        if duck:
            in_duckdb(duck, tmp)
            run_duckdb(duck, tmp)
        if click:
            in_clickhouse(click, tmp)
    print(f'duckdb {"run" if duck else "NOT RUN"}, clickhouse {"run" if click else "NOT RUN"}')
    return asked.verdict()


if __name__ == '__main__':
    sys.exit(main())
