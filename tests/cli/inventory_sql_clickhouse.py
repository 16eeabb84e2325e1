#!/usr/bin/env python3
"""`inventory sql --engine clickhouse` in a real server (Debian's clickhouse-server, 18.16): started here on loopback with
a configuration and folders of its own, and stopped after. The rows of `inventory aggregate`, in its order."""
import http.client
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import inventory_inputs as inputs  # noqa: E402
import inventory_sql as common  # noqa: E402

CONFIG = '''<?xml version="1.0"?>
<yandex>
    <logger><level>warning</level><log>{tmp}/log</log><errorlog>{tmp}/errors</errorlog></logger>
    <http_port>{port}</http_port>
    <listen_host>127.0.0.1</listen_host>
    <path>{tmp}/data/</path>
    <tmp_path>{tmp}/tmp/</tmp_path>
    <user_files_path>{tmp}/files/</user_files_path>
    <format_schema_path>{tmp}/schema/</format_schema_path>
    <users_config>users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <mark_cache_size>16777216</mark_cache_size>
</yandex>
'''
USER = '<{0}><password>{1}</password><networks><ip>127.0.0.1</ip></networks><profile>{2}</profile><quota>default</quota></{0}>'
USERS = ('<?xml version="1.0"?>\n<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default>'
         '<reader><readonly>1</readonly></reader></profiles><users>' + USER.format('default', '', 'default') +
         USER.format('lake', 'se<![CDATA[&]]>cret', 'default') + USER.format('reader', '', 'reader') +
         '</users><quotas><default></default></quotas></yandex>\n')
COLUMNS = ('bucket String, key String, version_id String, is_latest UInt8, is_delete_marker UInt8, size Nullable(UInt64), '
           "last_modified_date DateTime('UTC'), e_tag String, storage_class String")


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class ClickHouse:
    def __init__(self, tmp):
        self.tmp, self.port, self.process = tmp, free_port(), None

    @staticmethod
    def program():
        return shutil.which('clickhouse-server', path=os.environ.get('PATH', '') + ':/usr/sbin')

    def __enter__(self):
        for folder in ('data', 'tmp', 'files', 'schema'):
            (self.tmp / folder).mkdir()
        (self.tmp / 'config.xml').write_text(CONFIG.format(tmp=self.tmp, port=self.port))
        (self.tmp / 'users.xml').write_text(USERS)
        with open(self.tmp / 'out', 'wb') as out:
            self.process = subprocess.Popen([self.program(), f'--config-file={self.tmp}/config.xml'], cwd=self.tmp, stdout=out, stderr=out)
        for _ in range(300):
            try:
                self.sql('SELECT 1')
                return self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(.1)
        self.__exit__()
        raise RuntimeError('clickhouse-server does not start: ' + (self.tmp / 'out').read_text()[-600:])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def sql(self, text, data=None):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        c.request('POST', '/' + ('?' + urlencode({'query': text}) if data is not None else ''), body=text.encode() if data is None else data)
        r = c.getresponse()
        body = r.read().decode()
        asked.expect(r.status == 200, f'clickhouse: {r.status}: {body[-600:]}')
        return body


def escaped(value):
    return str(value).replace('\\', '\\\\').replace('\n', '\\n').replace('\t', '\\t').replace('\r', '\\r')


def fill(server, rows, access, tmp):
    """The tables, in whole seconds: 18.16 has no finer type. The files are changed to say the same."""
    def second(when):
        return f'{when[:10]} {when[11:19]}'
    server.sql(f'CREATE TABLE inventory ({COLUMNS}) ENGINE = Memory')
    server.sql("CREATE TABLE reads (key String, last_access DateTime('UTC')) ENGINE = Memory")
    server.sql('INSERT INTO inventory FORMAT TabSeparated', ''.join('\t'.join([
        b, escaped(key), v, str(int(latest)), str(int(marker)), '\\N' if size == '' else str(size), second(when), e, name]) + '\n'
        for b, key, v, latest, marker, size, when, e, name in rows).encode())
    server.sql('INSERT INTO reads FORMAT TabSeparated', ''.join(f'{escaped(k)}\t{second(t)}\n' for k, t in access).encode())
    for name in ('data.csv', 'access.csv'):
        path = tmp / name
        path.write_bytes(re.sub(rb'(T\d\d:\d\d:\d\d)\.\d{3}Z', rb'\1.000Z', path.read_bytes()))


def texts(server, tmp):
    for depth in ('0', '1', '2', '5'):
        text = common.query('clickhouse', '--depth', depth)[0].decode()
        common.compare(f'clickhouse depth {depth}', server.sql(text + 'FORMAT CSVWithNames'), common.aggregate(tmp, '--depth', depth))
    text = common.query('clickhouse', '--access', 'reads', '--from', 'default.inventory')[0].decode()
    common.compare('clickhouse access', server.sql(text + 'FORMAT CSVWithNames'), common.aggregate(tmp, '--access', tmp / 'access.csv'))


def runs(server, tmp):
    at, out = f'http://127.0.0.1:{server.port}', tmp / 'run.csv'
    for where in (at, at + '/', at + '/?database=default', at + '?max_threads=1'):
        common.same_run('clickhouse', tmp, out, '--run', where)
    common.same_run('clickhouse', tmp, out, '--run', at, '--access', 'reads', access=True, tier=True)
    os.environ.update(CLICKHOUSE_USER='lake', CLICKHOUSE_PASSWORD='se&cret')
    common.same_run('clickhouse', tmp, out, '--run', at)
    os.environ['CLICKHOUSE_PASSWORD'] = 'wrong/one'
    p = asked.run('inventory', 'sql', '--engine', 'clickhouse', '--run', at, code=1)
    asked.expect(b'assword' in p.stderr and b'wrong/one' not in p.stderr, f'wrong password: {p.stderr}')
    os.environ.update(CLICKHOUSE_USER='reader', CLICKHOUSE_PASSWORD='')  # may not change settings
    common.same_run('clickhouse', tmp, out, '--run', at)
    del os.environ['CLICKHOUSE_USER'], os.environ['CLICKHOUSE_PASSWORD']
    for args, words in ((('--from', 'nothing'), b"nothing doesn't exist"), (('--columns', 'size=no_such'), b'no_such')):
        p = asked.run('inventory', 'sql', '--engine', 'clickhouse', '--run', at, '-o', tmp / 'none', *args, code=1)
        asked.expect(words in p.stderr and p.stdout == b'' and not (tmp / 'none').exists(), f'{args}: {p.stderr}')


ENDLESS = ('inventory', 'sql', '--engine', 'clickhouse', '--from', 'system.numbers', '--columns', 'key=toString(number),size=number,'
           "last_modified=toDateTime(0),storage_class='',is_latest=1,is_delete_marker=0")


def ended(server, name):
    for _ in range(50):
        if server.sql("SELECT count() FROM system.processes WHERE query LIKE '%system.numbers%' AND query NOT LIKE '%processes%'") == '0\n':
            return
        time.sleep(.1)
    asked.expect(False, f'{name}: the query goes on in the server')


def stops(server, tmp):
    """Ctrl-C and --max-time end the query in the server; meanwhile a terminal sees that it runs."""
    at, out = f'http://127.0.0.1:{server.port}/', tmp / 'stopped.csv'
    ours, theirs = pty.openpty()
    p = subprocess.Popen([asked.G, *ENDLESS, '--run', at, '-o', out], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = b''
    while b'no answer yet, 1 s' not in seen and len(seen) < 10000:  # 18.16 does not tell how far it is
        seen += os.read(ours, 4096)
    p.send_signal(signal.SIGINT)
    text = p.communicate(timeout=20)[0]
    os.close(ours)
    asked.expect(p.returncode == 130 and text == b'' and not out.exists(), f'interrupted: exit {p.returncode}')
    ended(server, 'interrupted')
    p = asked.run(*ENDLESS, '--run', at, '-o', out, '--max-time', '1s', code=1)
    asked.expect(not out.exists() and (b'--max-time' in p.stderr or b'Timeout' in p.stderr), f'late: {p.stderr}')
    ended(server, 'late')


def main():
    if not ClickHouse.program():
        print('SKIP: no ClickHouse server is installed (clickhouse-server)')
        return 77
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory(dir='/tmp') as folder:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW=inputs.iso(inputs.NOW))
        rows, access = common.data(tmp)
        with ClickHouse(Path(folder)) as server:
            fill(server, rows, access, tmp)
            texts(server, tmp)
            runs(server, tmp)
            stops(server, tmp)
    return asked.verdict()


if __name__ == '__main__':
    sys.exit(main())
