#!/usr/bin/env python3
"""`watch` against vendors on loopback: rounds and what they record, conditional requests, a network that goes away, a
machine that sleeps, a restart, a kill, a second recorder, signals, intervals and jitter."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import json_schema  # noqa: E402

GPUTIER = os.environ['GPUTIER']
work = Path(tempfile.mkdtemp())
(work / 'empty' / 'snapshot').mkdir(parents=True)
failures = []
asked = []       # (time, path, status) of each request
regions = {'gpu_1x_a10': ['us-east-1', 'us-west-1'], 'gpu_8x_h100_sxm5': ['us-east-1']}
broken = set()   # paths that answer 500
slow = set()     # paths that answer after 8 s
STOCK = {'secureStock': {'stockStatus': 'High'}, 'communityStock': {'stockStatus': None}}


def expect(what, got, want):
    if got != want:
        failures.append(f'{what}: {got!r}, expected {want!r}')


def body(path):
    if path == '/lambda':
        return {'data': {t: {'instance_type': {
            'gpu_description': 'A10 (24 GB PCIe)', 'price_cents_per_hour': 75,
            'specs': {'gpus': 1, 'vcpus': 30, 'memory_gib': 200}},
            'regions_with_capacity_available': [{'name': r} for r in names]} for t, names in regions.items()}}
    return {'data': {'gpuTypes': [{'id': 'NVIDIA A30', 'displayName': 'A30', 'memoryInGb': 24, 'maxGpuCount': 2,
                                   'secureCloud': True, 'communityCloud': True, 'securePrice': 0.41,
                                   'communityPrice': 0.3, **STOCK}]}}


class Vendor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def serve(self):
        sent = self.rfile.read(int(self.headers.get('Content-Length') or 0)).decode()
        data = json.dumps(body(self.path)).encode()
        tag = f'"{hash(data)}"'
        status = 500 if self.path in broken else 304 if self.headers.get('If-None-Match') == tag else 200
        if self.path == '/runpod' and 'stockStatus' not in sent:
            status = 400
        asked.append((time.monotonic(), self.path, status))
        time.sleep(8 if self.path in slow else 0)
        self.send_response(status)
        self.send_header('ETag', tag)
        self.send_header('Content-Length', str(len(data) if status == 200 else 0))
        self.end_headers()
        if status == 200:
            try:
                self.wfile.write(data)
            except OSError:
                self.close_connection = True  # the client has ended

    do_GET = do_POST = serve


class Server(ThreadingHTTPServer):
    daemon_threads = True


def start_server(port=0):
    server = Server(('127.0.0.1', port), Vendor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


server = start_server()
PORT = server.server_port


def env(db, now=None, own=True):
    e = dict(os.environ, GPUTIER_DB=str(work / db), GPUTIER_DATA=str(work / 'empty'), GPUTIER_KEY_LAMBDA='k',
             XDG_CACHE_HOME=str(work / 'cache'))
    if own:
        for s in ('lambda', 'runpod'):
            e['GPUTIER_URL_' + s.upper()] = f'http://127.0.0.1:{PORT}/{s}'
    if now:
        e['GPUTIER_NOW'] = now
    return e


def run(db, now, *args, status=0, own=True):
    p = subprocess.run([GPUTIER, *args], env=env(db, now, own), capture_output=True, text=True, timeout=60, check=False)
    if p.returncode != status:
        failures.append(f'{args}: exit {p.returncode}, expected {status}: {p.stderr[-400:]}')
    return p


class Watch:
    """A watch in the background; its lines as they come."""

    def __init__(self, db, *args, **more):
        self.p = subprocess.Popen([GPUTIER, 'watch', *args], env=dict(env(db), **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.p.stdout.readline, '')), daemon=True)
        self.reader.start()

    def wait(self, n, what, most=30):
        end = time.monotonic() + most
        while len(self.lines) < n and time.monotonic() < end:
            time.sleep(0.05)
        if len(self.lines) < n:
            failures.append(f'{what}: {len(self.lines)} lines in {most} s: {self.lines}')

    def end(self, sig, status, what):
        self.p.send_signal(sig)
        try:
            expect(what, self.p.wait(15), status)
        except subprocess.TimeoutExpired:
            failures.append(f'{what}: does not end')
            self.p.kill()
        self.reader.join(5)
        return self.p.stderr.read()


def rows(db, sql):
    return sqlite3.connect(work / db).execute(sql).fetchall()


SERIES = ("SELECT t.name, p.region, x.available FROM spot_point x JOIN place p ON p.id = x.place"
          " JOIN instance_type t ON t.id = x.instance_type ORDER BY x.time, 1, 2")


def rounds():
    first = json.loads(run('r.db', '2026-12-02T10:00:00Z', 'watch', 'lambda', 'runpod', '--once', '--format', 'json').stdout)
    wrong = json_schema.validate(first, json_schema.load('watch'))
    expect('schema', wrong, [])
    expect('first round', (first['when'], first['sources']['done'], first['next']), ('2026-12-02T10:00:00Z', 2, None))
    expect('stock of one GPU', rows('r.db', SERIES), [
        ('1x NVIDIA A30', 'community', 0), ('1x NVIDIA A30', 'secure', 1), ('gpu_1x_a10', 'us-east-1', 1),
        ('gpu_1x_a10', 'us-west-1', 1), ('gpu_8x_h100_sxm5', 'us-east-1', 1), ('gpu_8x_h100_sxm5', 'us-west-1', 0)])
    again = json.loads(run('r.db', '2026-12-02T10:10:05Z', 'watch', 'lambda', 'runpod', '--once', '--format', 'json').stdout)
    expect('nothing new (a POST has no conditions)', (again['sources'], again['changed_rows']),
           ({'done': 1, 'unchanged': 1, 'failed': 0, 'quarantined': 0}, 0))
    expect('a conditional request each', [s for _, p, s in asked if p == '/lambda'], [200, 304])
    regions['gpu_1x_a10'] = []
    regions['gpu_8x_h100_sxm5'] = []
    text = run('r.db', '2026-12-02T10:20:00Z', 'watch', 'lambda', 'runpod', '--once').stdout
    if not text.startswith('2026-12-02T10:20:00Z  2 of 2 sources, 8 rows changed, ') or text.count('\n') != 1:
        failures.append(f'line: {text!r}')
    expect('every region is sold out', rows('r.db', SERIES)[6:], [
        ('gpu_1x_a10', 'us-east-1', 0), ('gpu_1x_a10', 'us-west-1', 0), ('gpu_8x_h100_sxm5', 'us-east-1', 0)])
    expect('one observed time', rows('r.db', 'SELECT last - first, step, rounds FROM observed'), [(1200, 600, 3)] * 2)
    early = run('r.db', '2026-12-02T10:23:00Z', 'watch', 'lambda', 'runpod', '--once').stdout
    if 'nothing is due' not in early:
        failures.append(f'too early: {early!r}')
    run('r.db', '2026-12-02T11:00:00Z', 'watch', 'lambda', 'runpod', '--once')
    expect('a gap is seen', rows('r.db', 'SELECT count(*) FROM observed'), [(4,)])
    regions['gpu_1x_a10'] = ['us-east-1']


def refusals():
    for args, own in ((['lambda', '--every', '10s'], False), (['lambda', '--every', '10min', '--once', '--for', '1d'], True),
                      (['lambda', '--every', 'soon'], True), (['verda'], True), (['nobody'], True),
                      (['lambda', '--offline'], True), (['ecb-fx', '--every', '59s'], True)):
        p = run('x.db', None, 'watch', *args, status=2, own=own)
        if p.stdout or not p.stderr:
            failures.append(f'{args}: {p.stdout!r} {p.stderr!r}')


def jitter():
    seen = set()
    for seed in ('1', '1', '2', '3', '4'):
        w = Watch(f'j{len(seen)}{time.monotonic_ns()}.db', 'lambda', '--every', '1000s', '--seed', seed, '--format', 'json')
        w.wait(1, 'jitter')
        w.end(signal.SIGTERM, 0, 'SIGTERM ends it well')
        d = json.loads(w.lines[0])
        gap = datetime.fromisoformat(d['next'][:-1]) - datetime.fromisoformat(d['when'][:-1])
        seen.add((seed, gap.total_seconds()))
    if len(seen) != 4 or not all(900 <= g <= 1100 for _, g in seen) or len({g for _, g in seen}) < 3:
        failures.append(f'jitter: {seen}')


def a_day_of_trouble():
    global server
    w = Watch('d.db', 'lambda', 'runpod', '--every', '1s')
    w.wait(2, 'rounds')
    second = run('d.db', None, 'watch', 'lambda', '--every', '1s', status=1)
    if f'another gputier watch (process {w.p.pid}) records into this database' not in second.stderr:
        failures.append(f'second recorder: {second.stderr}')
    # the machine sleeps: one round when it wakes, not those it missed
    w.p.send_signal(signal.SIGSTOP)
    time.sleep(5)
    before, asleep = len(w.lines), len(asked)
    woken = time.monotonic()
    w.p.send_signal(signal.SIGCONT)
    w.wait(before + 1, 'after sleep')
    time.sleep(max(0, woken + 0.8 - time.monotonic()))
    burst = [p for t, p, _ in asked[asleep:] if t < woken + 0.8 and p == '/lambda']
    if len(burst) > 1:
        failures.append(f'a burst of {len(burst)} rounds after sleep')
    # the network goes away and comes back
    server.shutdown()
    server.server_close()
    before = len(w.lines)
    while time.monotonic() < woken + 40 and not any('nobody answers' in x for x in w.lines[before:]):
        time.sleep(0.1)
    lost = [x for x in w.lines[before:] if 'nobody answers' in x]
    if not lost or 'lambda failed: ' not in lost[0] or '; next 2' not in lost[0]:
        failures.append(f'no network: {w.lines[before:]}')
    server = start_server(PORT)
    before = len(w.lines)
    while time.monotonic() < woken + 60 and not any(' 2 of 2 sources' in x for x in w.lines[before:]):
        time.sleep(0.1)
    if not any(' 2 of 2 sources' in x for x in w.lines[before:]):
        failures.append(f'does not recover: {w.lines[before:]}')
    # killed and started again
    w.p.kill()
    w.p.wait()
    w = Watch('d.db', 'lambda', 'runpod', '--every', '1000s')
    time.sleep(1)
    told = w.end(signal.SIGINT, 130, 'SIGINT is 130')
    expect('no round before its time', w.lines, [])
    if 'going on where the last round was' not in told:
        failures.append(f'restart: {told}')
    expect('gaps stay visible', rows('d.db', 'SELECT count(DISTINCT first) > 1 FROM observed'), [(1,)])
    expect('whole database', rows('d.db', 'PRAGMA integrity_check'), [('ok',)])


def wrong_clocks():
    """A clock that is set back, or was years ahead for a while: each round is kept at the time that was told, the
    times of looking stay apart, nothing stops, and a trace ends where the clock is now."""
    free = [['us-east-1', 'us-west-1'], ['us-east-1', 'us-west-1'], [], [], ['us-east-1'], ['us-east-1'], ['us-west-1'], ['us-east-1']]
    told = ['2026-12-02T10:00', '2026-12-02T10:10', '2026-12-02T09:00', '2026-12-02T09:10', '2026-12-02T09:20', '2036-12-02T10:20',
            '2026-12-02T10:20', '2026-12-02T10:30']
    before = dict(regions)
    regions['gpu_8x_h100_sxm5'] = ['us-east-1']
    for now, names in zip(told, free):
        regions['gpu_1x_a10'] = names
        line = run('w.db', now + ':00Z', 'watch', 'lambda', '--once', '--every', '10min').stdout
        expect(f'the round of {now}', (line.startswith(now), line.count('\n'), '1 of 1 sources' in line), (True, 1, True))
    regions.update(before)
    expect('times of looking', rows('w.db', "SELECT strftime('%Y %H:%M', first, 'unixepoch'), rounds FROM observed ORDER BY first"),
           [('2026 09:00', 3), ('2026 10:00', 4), ('2036 10:20', 1)])
    p = run('w.db', '2026-12-02T10:35:00Z', 'spot', 'trace', '-i', 'gpu_1x_a10', '-r', 'lambda/us-east-1', '--gaps', 'unavailable')
    samples = [x for x in p.stdout.splitlines() if x[0].isdigit()]
    expect('a trace ends by now', (samples, '# gap=2026-12-02T09:30:00Z/2026-12-02T10:00:00Z' in p.stdout),
           (['0,0', '1200,1', '2400,0', '3600,1', '4800,0', '5400,1', '6000,-1'], True))


SHIM = """#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
time_t time(time_t *out)
{
    struct timespec t;
    long jump = 0;
    FILE *f = fopen(getenv("CLOCK_JUMP"), "r");
    if (f) {
        if (fscanf(f, "%ld", &jump) != 1) {
            jump = 0;
        }
        fclose(f);
    }
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += jump;
    if (out) {
        *out = t.tv_sec;
    }
    return t.tv_sec;
}
"""


def jumping_clock():
    """A watch that runs while the wall clock jumps keeps its pace: neither a burst nor a pause of a day."""
    (work / 'shim.c').write_text(SHIM)
    subprocess.run(['cc', '-shared', '-fPIC', '-o', work / 'shim.so', work / 'shim.c'], check=True)
    (work / 'jump').write_text('0')
    # A build with AddressSanitizer refuses to start behind another library unless told.
    sanitizer = ':'.join(filter(None, [os.environ.get('ASAN_OPTIONS'), 'verify_asan_link_order=0']))
    w = Watch('jump.db', 'lambda', '--every', '1s', LD_PRELOAD=str(work / 'shim.so'), CLOCK_JUMP=str(work / 'jump'),
              ASAN_OPTIONS=sanitizer)
    w.wait(2, 'before the jump')
    for jump in (86400, -86400, 0):
        (work / 'jump').write_text(str(jump))
        before, at = len(w.lines), time.monotonic()
        w.wait(before + 3, f'after a jump of {jump} s', 15)
        lines, took = len(w.lines) - before, time.monotonic() - at
        if lines > took + 2:
            failures.append(f'a burst of {lines} rounds in {took:.1f} s after a jump of {jump} s')
    w.end(signal.SIGTERM, 0, 'SIGTERM after jumps')
    days = {x[:10] for x in w.lines}
    expect('the times are those told', len(days), 3)


def sigterm_in_a_round():
    """SIGTERM while a vendor keeps a round waiting: it ends at once and well, and keeps what was recorded before."""
    slow.add('/lambda')
    w = Watch('t.db', 'lambda', '--every', '1s')
    time.sleep(1)
    began = time.monotonic()
    told = w.end(signal.SIGTERM, 0, 'SIGTERM in a round')
    slow.clear()
    expect('at once', (time.monotonic() - began < 3, w.lines, 'failed' in told), (True, [], False))
    expect('whole database', rows('t.db', 'PRAGMA integrity_check'), [('ok',)])


def one_vendor_fails():
    """It is asked less and less often, the others as before."""
    broken.add('/runpod')
    asked.clear()
    w = Watch('b.db', 'lambda', 'runpod', '--every', '1s', '--for', '14s')
    expect('--for ends it', w.p.wait(40), 0)
    w.reader.join(5)
    broken.clear()
    good = len({round(t) for t, p, _ in asked if p == '/lambda'})
    bad = [t for t, p, _ in asked if p == '/runpod']
    trials = sum(1 for i, t in enumerate(bad) if i == 0 or t - bad[i - 1] > 0.3)
    if good < 4 or not any('runpod failed: ' in x and 'HTTP 500' in x for x in w.lines):
        failures.append(f'one vendor fails: {good} good rounds, {w.lines}')
    if trials > 2 * good:
        failures.append(f'a failing vendor is asked {trials} times in {good} rounds')
    if 'next' in w.lines[-1].split(';')[-1] and len(w.lines) < 3:
        failures.append(f'lines: {w.lines}')


def block(mark):
    """The code block behind a mark in the README."""
    text = (Path(__file__).resolve().parents[2] / 'README.md').read_text(encoding='utf-8')
    return text.split(f'<!-- {mark} -->\n```\n')[1].split('\n```')[0]


def readme():
    """The cron line's command runs; the unit is one that systemd takes, its command one of ours."""
    command = block('cron').split(maxsplit=5)
    expect('cron line', len(command[:5]), 5)
    words = command[5].split()
    p = run('c.db', '2026-12-02T10:00:00Z', words[1], 'lambda', *words[2:])
    expect('cron is quiet', (words[0], p.stdout, p.stderr), ('gputier', '', ''))
    unit = block('unit')
    start = [x for x in unit.splitlines() if x.startswith('ExecStart=')]
    expect('unit command', [x.split('/')[-1].split()[:2] for x in start], [['gputier', 'watch']])
    run('c.db', None, *start[0].split()[1:], '--for', '1s', 'lambda')
    if not shutil.which('systemd-analyze'):
        sections = {s: [x.split('=')[0] for x in part.splitlines()[1:] if x] for s, part in
                    ((part.split(']')[0], part) for part in unit.split('[')[1:])}
        known = {'Unit': {'Description', 'Wants', 'After'}, 'Install': {'WantedBy'},
                 'Service': {'ExecStart', 'Restart', 'RestartSec', 'Nice'}}
        expect('sections and keys', {s: set(k) for s, k in sections.items()}, known)
        return
    (work / 'gputier-watch.service').write_text(unit.replace('/usr/local/bin/gputier', GPUTIER))
    p = subprocess.run(['systemd-analyze', '--user', 'verify', work / 'gputier-watch.service'], capture_output=True,
                       text=True, check=False, env=dict(os.environ, XDG_RUNTIME_DIR=str(work)))
    expect('systemd-analyze verify', 'gputier-watch.service' in p.stderr, False)


rounds()
readme()
refusals()
jitter()
wrong_clocks()
jumping_clock()
sigterm_in_a_round()
a_day_of_trouble()
one_vendor_fails()
for f in failures:
    print('FAIL', f)
sys.exit(1 if failures else 0)
