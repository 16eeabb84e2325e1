#!/usr/bin/env python3
"""`inventory sql --engine clickhouse --run` against a loopback server that does what servers and those between do wrong:
silence, answers that are cut, errors behind rows, redirects, a password sent back. Ctrl-C ends the query in the server."""
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import inventory_sql_run as run  # noqa: E402
from asked import G, expect  # noqa: E402

SECRET = 'p4ss&word/+ %41'
OK = 'HTTP/1.1 200 OK\r\n'


def whole(body, head=OK):
    return f'{head}Content-Length: {len(body.encode())}\r\n\r\n{body}'.encode()


def chunks(*pieces, end=True):
    return (OK + 'Transfer-Encoding: chunked\r\n\r\n').encode() + b''.join(b'%x\r\n%s\r\n' % (len(p.encode()), p.encode()) for p in pieces) + (
        b'0\r\n\r\n' if end else b'')


class Server(threading.Thread):
    """Answers each request with the bytes set for it, then does `then`: close, reset, wait."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.at = f'http://127.0.0.1:{self.socket.getsockname()[1]}'
        self.answer, self.then, self.asked = whole(run.GOOD), 'close', []

    def run(self):
        while True:
            threading.Thread(target=self.serve, args=(self.socket.accept()[0],), daemon=True).start()

    def serve(self, s):
        data = b''
        while b'\r\n\r\n' not in data:
            piece = s.recv(65536)
            if not piece:
                return
            data += piece
        head, body = data.split(b'\r\n\r\n', 1)
        first, *lines = head.decode().split('\r\n')
        headers = {k.lower(): v for k, v in (line.split(': ', 1) for line in lines if ': ' in line)}
        while len(body) < int(headers.get('content-length', 0)):
            body += s.recv(65536)
        method, path, _ = first.split(' ')
        url = urlsplit(path)
        kill = body.startswith(b'KILL')
        self.asked.append((method, url.path, parse_qs(url.query), headers, body.decode()))
        pieces = [whole('')] if kill else self.answer(self) if callable(self.answer) else [self.answer]
        try:
            for piece in pieces:
                s.sendall(piece)
            if self.then == 'reset' and not kill:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
            elif self.then == 'wait' and not kill:
                s.settimeout(60)
                s.recv(1)
        except OSError:
            pass
        s.close()


def command(server, *more):
    return ('inventory', 'sql', '--engine', 'clickhouse', '--run', server.at + '/?database=lake', *more)


def killed(server, name):
    for _ in range(40):
        kills = [a for a in server.asked if a[4].startswith('KILL')]
        if kills:
            ids = {a[2]['query_id'][0] for a in server.asked if not a[4].startswith('KILL')}
            expect(any(f"query_id = '{i}'" in kills[-1][4] for i in ids), f'{name}: {kills[-1][4]} for {ids}')
            return
        time.sleep(.1)
    expect(False, f'{name}: the server is not told to end the query')


def good(server, tmp):
    want = None
    for answer in (whole(run.GOOD), chunks(run.GOOD[:7], run.GOOD[7:100], run.GOOD[100:]), chunks(*run.GOOD)):
        server.asked.clear()
        server.answer = answer
        text = asked.run(*command(server, '--format', 'csv')).stdout
        want = want or text
        expect(text == want and text.count(b'\n') == 5, f'{answer[:60]}: {text}')
        (method, path, query, headers, body), = server.asked
        expect((method, path) == ('POST', '/') and query['database'] == ['lake'] and query['wait_end_of_query'] == ['1'], f'asked {query}')
        expect(body.startswith('SELECT prefix') and body.endswith('FORMAT CSVWithNames\n'), f'asked {body[:50]}')
        expect(headers['x-clickhouse-user'] == 'ann' and headers['x-clickhouse-key'] == SECRET, f'asked by {headers}')
    server.asked.clear()  # who may not change settings is asked for none
    server.answer = lambda s: [whole("Code: 164, e.displayText() = DB::Exception: Cannot modify 'x' setting in readonly mode",
                                     'HTTP/1.1 500 Oops\r\n') if len(s.asked) == 1 else whole(run.GOOD)]
    expect(asked.run(*command(server, '--format', 'csv')).stdout == want, 'reader')
    expect([('max_execution_time' in a[2]) for a in server.asked] == [True, False], 'reader: settings')


def bad(server, tmp):
    out = tmp / 'kept.csv'
    out.write_text('old\n')
    half, error = run.GOOD[:-60], 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)'
    cases = [('cut in a row', whole(run.GOOD)[:-60], 'close', 1, b''), ('cut between rows', whole(run.GOOD + run.ROW)[:-len(run.ROW)], 'close', 1, b''),
             ('reset', whole(run.GOOD)[:-60], 'reset', 1, b''), ('chunks cut', chunks(half, end=False), 'close', 1, b''),
             ('chunks end in rows', chunks(half), 'close', 4, b'clickhouse'), ('no end told', (OK + '\r\n' + run.GOOD).encode(), 'close', 1, b'cut'),
             ('error behind rows', chunks(run.GOOD, error), 'close', 4, b'Memory limit'), ('error', whole(error, 'HTTP/1.1 500 X\r\n'), 'close', 1, b'Memory limit'),
             ('no words', whole('', 'HTTP/1.1 503 X\r\n'), 'close', 1, b'503'), ('redirect', whole('', f'HTTP/1.1 302 X\r\nLocation: {server.at}/x\r\n'), 'close', 1, b'302'),
             ('nothing', b'', 'close', 1, b''), ('no HTTP', b'220 ready\r\n', 'close', 1, b''), ('a page', whole('<html><p>log in\x1b[31m'), 'close', 4, b'log in'),
             ('columns', whole(run.HEADER.replace('bytes,', 'octets,') + run.ROW), 'close', 4, b'expected the header'), ('empty', whole(''), 'close', 4, b'answered nothing'),
             ('header alone of 204', b'HTTP/1.1 204 X\r\n\r\n', 'close', 1, b'204'),
             ('password', whole(f'Code: 516, no {SECRET} for ann', 'HTTP/1.1 403 X\r\n'), 'close', 1, b'for ann'),
             ('password in rows', whole(run.HEADER + f'{SECRET}\n'), 'close', 4, b'clickhouse')]
    for name, answer, then, code, words in cases:
        server.answer, server.then = answer, then
        p = asked.run(*command(server, '-o', out), code=code)
        expect(p.stdout == b'' and out.read_text() == 'old\n' and len(list(tmp.glob('kept*'))) == 1, f'{name}: something is kept')
        expect(words in p.stderr and b'\x1b' not in p.stderr and SECRET.encode() not in p.stderr, f'{name}: {p.stderr}')
    server.answer, server.then = whole(run.GOOD), 'close'
    for where in ('ftp://127.0.0.1/', '127.0.0.1', f'{server.at}/#x', server.at.replace('//', '//ann:pw@'), f'{server.at}/?user=ann', f'{server.at}/?a=b&PassWord=x'):
        p = asked.run('inventory', 'sql', '--engine', 'clickhouse', '--run', where, code=2)
        expect(b'CLICKHOUSE_PASSWORD' in p.stderr, f'{where}: {p.stderr}')
    expect(b'--offline' in asked.run(*command(server, '--offline'), code=2).stderr, 'offline')
    for name in ('CLICKHOUSE_USER', 'CLICKHOUSE_PASSWORD'):
        p = asked.run(*command(server), code=2, env=dict(os.environ, **{name: 'a\r\nX-Evil: 1'}))
        expect(name.encode() in p.stderr and b'Evil' not in p.stderr, f'{name}: {p.stderr}')
    with socket.create_server(('127.0.0.1', 0)) as s:
        nobody = f'http://127.0.0.1:{s.getsockname()[1]}'
    asked.run('inventory', 'sql', '--engine', 'clickhouse', '--run', nobody, code=1)


def endless(server):
    row = 0
    yield chunks(run.HEADER, end=False)
    while True:
        text = ''.join(f'{row + i}/,STANDARD,true,1,0,0,1,5,131072\n' for i in range(20000))
        row += 20000
        yield b'%x\r\n%s\r\n' % (len(text), text.encode())


def stops(server, tmp):
    """Silence before the answer and inside of it, an answer without end: a limit and Ctrl-C."""
    out = tmp / 'stopped.csv'
    server.then = 'wait'
    for name, answer in (('silence', b''), ('silence behind rows', chunks(run.GOOD, end=False))):
        server.answer = answer
        server.asked.clear()
        begin = time.monotonic()
        p = asked.run(*command(server, '-o', out, '--max-time', '1s'), code=1)
        expect(b'--max-time' in p.stderr and not out.exists() and time.monotonic() - begin < 20, f'{name}: {p.stderr}')
        killed(server, name)
        server.asked.clear()
        p = subprocess.Popen([G, *map(str, command(server, '-o', out))], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not server.asked:
            time.sleep(.02)
        expect(SECRET.encode() not in Path(f'/proc/{p.pid}/cmdline').read_bytes(), 'the password stands in the arguments')
        time.sleep(.2)
        p.send_signal(signal.SIGINT)
        text, err = p.communicate(timeout=20)
        expect(p.returncode == 130 and text == b'' and not out.exists(), f'{name}: interrupted: {p.returncode} {err}')
        killed(server, name)
    server.asked.clear()
    server.answer = endless
    p = asked.run(*command(server, '-o', out), code=1)
    expect(b'more than 1000000 cells' in p.stderr and not out.exists(), f'endless: {p.stderr}')
    killed(server, 'endless')


def progress(server, tmp):
    """What the server tells in its head, on a terminal; -vv shows no key either."""
    def slow(_):
        yield OK.encode()
        for i in range(1, 8):
            yield (f'X-ClickHouse-Progress: {{"read_rows":"{i}000000","read_bytes":"{i * 64 << 20}","total_rows_to_read":"8000000"}}\r\n').encode()
            time.sleep(.1)
        yield whole(run.GOOD)[len(OK):]
    server.answer, server.then = slow, 'close'
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(G, [G, '-vv', *command(server, '-o', str(tmp / 'p.csv'))])
    text = asked.read_terminal(fd)
    expect(os.waitpid(pid, 0)[1] == 0 and (tmp / 'p.csv').exists(), 'on a terminal')
    expect(b'000000 rows, ' in text and b' of 512 MiB, ' in text and SECRET.encode() not in text, f'progress: {text[-300:]}')


def main():
    with tempfile.TemporaryDirectory() as d:
        tmp = Path(d)
        os.environ.update(GPUTIER_DB=str(tmp / 'db'), GPUTIER_NOW='2026-12-01T00:00:00Z', CLICKHOUSE_USER='ann', CLICKHOUSE_PASSWORD=SECRET)
        server = Server()
        server.start()
        for part in (good, bad, stops, progress):
            part(server, tmp)
    return asked.verdict()


if __name__ == '__main__':
    sys.exit(main())
