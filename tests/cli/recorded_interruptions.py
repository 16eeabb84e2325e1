#!/usr/bin/env python3
"""`interruption: auto` rests on the series that was recorded: rounds of `watch` against RunPod on loopback, then `plan`."""
import json
import os
import subprocess
import sys
import tempfile
import threading
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

GPUTIER = os.environ['GPUTIER']
work = Path(tempfile.mkdtemp())
(work / 'empty' / 'snapshot').mkdir(parents=True)
failures = []
stock = {'secureStock': None}


def expect(what, got, want):
    if got != want:
        failures.append(f'{what}: {got!r}, expected {want!r}')


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        data = json.dumps({'data': {'gpuTypes': [{
            'id': 'NVIDIA A30', 'displayName': 'A30', 'memoryInGb': 24, 'maxGpuCount': 1, 'secureCloud': True,
            'communityCloud': False, 'securePrice': 0.41, 'secureSpotPrice': 0.2,
            'secureStock': {'stockStatus': stock['secureStock']}}]}}).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
START = datetime(2026, 11, 1)


def run(now, *args):
    env = dict(os.environ, GPUTIER_DB=str(work / 'i.db'), GPUTIER_DATA=str(work / 'empty'), GPUTIER_NOW=now.isoformat() + 'Z',
               GPUTIER_URL_RUNPOD=f'http://127.0.0.1:{server.server_port}/')
    p = subprocess.run([GPUTIER, *args], env=env, capture_output=True, text=True, timeout=60, check=False)
    if p.returncode:
        failures.append(f'{args}: exit {p.returncode}: {p.stderr[-400:]}')
    return p.stdout


def plan(now, *more):
    d = json.loads(run(now, 'plan', '--gpu', 'A30', '--gpus', '1', '--gpu-hours', '10', '--setup', '1min', '--purchase', 'spot',
                       '--format', 'json', *more))
    first = d['plans'][0]
    return first['interruption']['per_hour'], first['interruption']['basis'], ' '.join(first['notes'])


rate, basis = None, None
for i, up in enumerate([1, 1, 0, 1, 1, 1, 0, 1, 1, 1]):
    stock['secureStock'] = 'High' if up else None
    now = START + timedelta(hours=12 * i)
    run(now, 'watch', 'runpod', '--once', '--every', '12h')
    if i == 1:
        rate, basis, notes = plan(now)
        expect('a day is too little', (rate, 'assumed' in basis, 'no series of it recorded' in notes), (0.05, True, True))
rate, basis, notes = plan(now)
expect('2 drops in 96 h up', (round(rate, 9), basis.startswith('0.026/h per machine, recorded series of runpod: 2 drops in 96 h up')),
       (round(2.5 / 96, 9), True))
expect('and says what it is', 'counted from the series of runpod' in notes and 'rather too high' in notes, True)
rate, basis, _ = plan(now, '--set', 'spot.interruption=0.2')
expect('the scenario wins', (rate, 'from the scenario' in basis), (0.2, True))
rate, basis, _ = plan(now, '--as-of', '2026-11-02')
expect('what was recorded then', (rate, 'assumed' in basis), (0.05, True))
for f in failures:
    print('FAIL', f)
sys.exit(1 if failures else 0)
