#!/usr/bin/env python3
"""A recorded series as a trace: rounds of `watch` against a vendor on loopback, written with `spot trace`, read by `spot
replay`; what was not looked at is never filled in; prices in the form of the public price traces."""
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
hosts = []  # (id, bid) of free 4090s in the US


def expect(what, got, want):
    if got != want:
        failures.append(f'{what}: {got!r}, expected {want!r}')


class Vendor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        offers = [{'id': i, 'ask_contract_id': i, 'num_gpus': 2, 'gpu_name': 'RTX 4090', 'gpu_ram': 24564,
                   'dph_base': 0.5, 'min_bid': bid, 'geolocation': 'Texas, US'} for i, bid in hosts]
        offers += [{'id': i, 'ask_contract_id': i, 'num_gpus': 1, 'gpu_name': 'RTX 3090', 'gpu_ram': 24564,
                    'dph_base': 0.2, 'geolocation': 'Paris, FR'} for i in range(100, 110)]
        data = json.dumps({'offers': offers}).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
START = datetime(2026, 12, 1, 10)
TRACE = ['spot', 'trace', '--instance', '2x RTX 4090', '--region', 'vast/us']


def run(*args, now=START + timedelta(days=1), status=0):
    env = dict(os.environ, GPUTIER_DB=str(work / 't.db'), GPUTIER_DATA=str(work / 'empty'),
               GPUTIER_NOW=now.isoformat() + 'Z', GPUTIER_URL_VAST=f'http://127.0.0.1:{server.server_port}/vast')
    p = subprocess.run([GPUTIER, *map(str, args)], env=env, capture_output=True, text=True, timeout=60, check=False)
    if p.returncode != status:
        failures.append(f'{args}: exit {p.returncode}, expected {status}: {p.stderr[-400:]}')
    return p


def read(text):
    """A trace: its header, and the samples of each column."""
    head = dict(x[2:].split('=', 1) for x in text.splitlines() if x.startswith('# ') and not x.startswith('# gap='))
    gaps = [x[6:] for x in text.splitlines() if x.startswith('# gap=')]
    rows = [x.split(',') for x in text.splitlines() if not x.startswith('#')]
    step, n = int(head['gap_s']), int(head['n'])
    expect('end marker', (int(rows[-1][0]), rows[-1][1] in ('-1', '-2')), (n * step, True))
    samples = []
    for row, following in zip(rows[1:], rows[2:]):
        samples += [row[1:]] * ((int(following[0]) - int(row[0])) // step)
    expect('samples', len(samples), n)
    return head, gaps, rows[0], samples


# minutes from the start, free hosts and the lowest bid; a night without a look after minute 200
LOOKS = [(0, [(7, 0.3)]), (10, [(7, 0.3), (8, 0.25)]), (21, []), (30, []), (39, [(9, 0.31)]), (50, [(9, 0.31)]),
         (200, [(9, 0.31)])] + [(200 + 10 * k, [(9, 0.4)] if k < 4 else []) for k in range(1, 9)]
for minute, free in LOOKS:
    hosts[:] = free
    run('watch', 'vast', '--once', '--every', '10min', now=START + timedelta(minutes=minute))

p = run(*TRACE)
head, gaps, title, samples = read(p.stdout)
expect('longest stretch', (head['start'], head['n'], title), ('2026-12-01T13:20:00Z', '9', ['t_s', 'avail', 'price']))
expect('its samples', [s[0] for s in samples], ['1'] * 4 + ['0'] * 5)
expect('its prices', [s[1] for s in samples], ['0.31'] + ['0.4'] * 3 + [''] * 5)
expect('the gap is named', gaps, ['2026-12-01T11:00:00Z/2026-12-01T13:20:00Z'])
expect('header', (head['nodes_probed'], head['vendor'], head['region'], head['instance_type'], 'unknown_ticks' in head),
       ('1', 'vast', 'us', '2x RTX 4090', False))
if 'the longest of 2 stretches' not in p.stderr:
    failures.append(f'stderr: {p.stderr}')

run(*TRACE, '--gaps', 'refuse', status=3)
run(*TRACE, '--gaps', 'unavailable', '-o', work / 'all.csv')
head, gaps, title, samples = read((work / 'all.csv').read_text())
expect('all of it', (head['start'], head['n'], head['unknown_ticks'], head['nodes_probed']),
       ('2026-12-01T10:00:00Z', '29', '13', '2'))
expect('looks, and nothing where nobody looked', [s[0] for s in samples],
       ['1', '2', '2', '0', '1', '1', '1'] + ['0'] * 13 + ['1'] * 4 + ['0'] * 5)
replay = ['--work', '40min', '--deadline', '3h', '--restart', '0', '--spot-price', '0.4', '--od-price', '1', '--policy',
          'greedy']
p = run('spot', 'replay', work / 'all.csv', *replay, '--format', 'json')
expect('replay says what was not recorded', 'all.csv: 13 of 29 samples were not recorded' in p.stderr, True)
run(*TRACE, '--step', '5min', '-o', work / 'fine.csv')
expect('another step', read((work / 'fine.csv').read_text())[0]['n'], '18')
p = run('spot', 'replay', work / 'fine.csv', *replay, '--format', 'json')
first = json.loads(p.stdout)['policies'][0]
expect('round trip', (first['deadline_met'], first['spot_s'], first['od_s'], first['cost']), (True, 2400, 0, '0.266666666667'))

head, gaps, title, samples = read(run(*TRACE, '--value', 'price').stdout)
expect('prices', (title, head['unknown_ticks'], head['unit']),
       (['t_s', 'price'], str(sum(s == ['-1'] for s in samples)), 'USD per instance-hour 2x RTX 4090 spot'))
expect('price samples', [s[0] for s in samples], ['0.3', '0.25', '0.25', '-1', '0.31', '0.31', '0.31'] + ['-1'] * 13 +
       ['0.31'] + ['0.4'] * 3 + ['-1'] * 5)
head, _, _, samples = read(run(*TRACE, '--since', '2026-12-01T13:30:00Z', '--until', '2026-12-01T14:10:00Z').stdout)
expect('a part', (head['start'], head['n']), ('2026-12-01T13:30:00Z', '4'))

# a history from a file covers its own time
(work / 'h.json').write_text(json.dumps({'SpotPriceHistory': [
    {'AvailabilityZone': 'us-east-1a', 'InstanceType': 'p4d.24xlarge', 'ProductDescription': 'Linux/UNIX',
     'SpotPrice': price, 'Timestamp': f'2026-11-30T{hour:02}:00:00Z'} for hour, price in ((0, '10.0'), (2, '11.5'), (5, '9'))]}))
run('import', 'aws-spot-history', work / 'h.json')
head, _, _, samples = read(run('spot', 'trace', '--instance', 'p4d.24xlarge', '--region', 'aws/us-east-1', '--zone', 'us-east-1a',
                               '--value', 'price', '--step', '1h').stdout)
expect('history', [s[0] for s in samples], ['10', '10', '11.5', '11.5', '11.5'])
expect('its unknown ticks', 'unknown_ticks' in head, False)

p = run('spot', 'trace', '--instance', 'A100', '--region', 'vast/us', status=1)
expect('what is recorded there', 'recorded there: 2x RTX 4090' in p.stderr, True)
for args in (['--step', '2d'], ['--gaps', 'fill'], ['--value', 'both'], ['--since', 'now'], ['--format', 'json']):
    run(*TRACE, *args, status=2)
run('spot', 'trace', '--instance', 'x', status=2)
for f in failures:
    print('FAIL', f)
sys.exit(1 if failures else 0)
