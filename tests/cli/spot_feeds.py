#!/usr/bin/env python3
"""The spot feeds of AWS side by side in one database: advisor bands, prices of regions, histories of
zones. None overwrites another, whatever the order, each keeps its own time. The price feed over HTTP
with its strong ETag. Needs ../shared (skips loudly without it)."""
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

GPUTIER = os.environ['GPUTIER']
SAMPLES = Path(os.environ.get('GPUTIER_SHARED', '../shared')) / 'samples/aws'
if not SAMPLES.is_dir():
    print(f'SKIPPED: {SAMPLES} is missing')
    sys.exit(77)
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
failures, asked = [], []
PAGE = json.dumps({'config': {'rate': 'perhr', 'valueColumns': ['linux', 'mswin'], 'regions': [
    {'region': 'us-east', 'instanceTypes': [{'sizes': [
        {'size': t, 'valueColumns': [{'name': 'linux', 'prices': {'USD': p}}, {'name': 'mswin', 'prices': {'USD': 'N/A*'}}]}
        for t, p in (('g5.xlarge', '0.42'), ('p4d.24xlarge', 'N/A*'))]}]}]}}).encode()
ETAG = '"0123456789abcdef0123456789abcdef"'


class Feed(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        asked.append(self.headers.get('If-None-Match'))
        same = asked[-1] == ETAG
        self.send_response(304 if same else 200)
        self.send_header('ETag', ETAG)
        self.send_header('Content-Length', '0' if same else str(len(PAGE)))
        self.end_headers()
        self.wfile.write(b'' if same else PAGE)


server = HTTPServer(('127.0.0.1', 0), Feed)
threading.Thread(target=server.serve_forever, daemon=True).start()


def run(db, *args, now='2026-12-02T10:00:00Z', status=0):
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith('_proxy')}
    env.update(GPUTIER_DB=str(work / db), GPUTIER_DATA=str(work / 'empty'), GPUTIER_NOW=now,
               GPUTIER_URL_AWS_SPOT_PRICE=f'http://127.0.0.1:{server.server_port}/spot.json')
    p = subprocess.run([GPUTIER, *map(str, args)], env=env, capture_output=True, text=True, timeout=60, check=False)
    if p.returncode != status:
        failures.append(f'{args}: exit {p.returncode}: {p.stderr[-400:]}')
    return p.stdout


def check(name, found, wanted):
    print(('ok   ' if found == wanted else 'FAIL ') + name, flush=True)
    if found != wanted:
        failures.append(f'{name}: found {found}, expected {wanted}')


FILES = ['spot-advisor-data.trimmed.json', 'website-spot.jsonp.us-east.excerpt.js',
         'describe-spot-price-history.response.xml', 'spot-history.azid.2023.excerpt.tsv']


def everything(db):
    bands = json.loads(run(db, 'prices', 'interruption', '--format', 'json', '--vendor', 'aws'))
    prices = json.loads(run(db, 'prices', '--purchase', 'spot', '--format', 'json'))['offers']
    points = []
    for kind, region in (('g5.xlarge', 'us-east-1'), ('p4d.24xlarge', 'us-west-2-lax-1'), ('i4i.8xlarge', 'eu-central-1')):
        points += json.loads(run(db, 'history', '-i', kind, '-r', f'aws/{region}', '-p', 'spot', '--format', 'json'))['points']
    return (bands, sorted((p['region'], p['zone'], p['instance_type'], p['price_per_hour']) for p in prices),
            sorted((p['when'], p['price_per_hour'], p['source_id']) for p in points))


answers = []
for n, order in enumerate((FILES, FILES[::-1], FILES[2:] + FILES[:2] + FILES)):
    for f in order:
        run(f'{n}.db', 'import', 'auto', SAMPLES / f)
    answers.append(everything(f'{n}.db'))
check('the order of the feeds does not matter', answers[1:], answers[:1] * 2)
bands, prices, points = answers[0]
BAND = [(0, 5), (5, 10), (10, 15), (15, 20), (20, None)]
advisor = json.loads((SAMPLES / FILES[0]).read_text())['spot_advisor']
check('the advisor sample, row by row', sorted((r['region'], r['instance_type'], r['band_lo_pct'], r['band_hi_pct'], r['savings_pct'])
                                               for r in bands['rates']),
      sorted((region, kind, *BAND[v['r']], v['s']) for region, by in advisor.items() for kind, v in by['Linux'].items()))
check('five prices of a region', [p[:2] for p in prices], [('us-east-1', None)] * 5)
check('histories at their own times', [p[:2] for p in points],
      [('2023-02-28T23:59:57Z', '1.2318'), ('2026-08-06T11:02:09Z', '0.4091'), ('2026-08-09T23:45:00Z', '9.87'),
       ('2026-08-10T02:17:41Z', '0.4219'), ('2026-08-10T06:31:05Z', '0.4134')])


def trap_27_vantage_spot_avg_is_no_price():
    # Vantage's spot_avg is made of a rounded saving: the file is of no known kind, nothing of it is taken
    for kind in ('auto', 'aws-spot-price', 'aws-spot-history', 'aws-spot-advisor'):
        run('0.db', 'import', kind, SAMPLES.parent / 'vantage/ec2-instance.x2iedn.32xlarge.trimmed.json', status=4)
    check('nothing of it is taken', everything('0.db'), answers[0])


def trap_59_strong_etag_verbatim():
    run('http.db', 'fetch', 'aws-spot-price')
    run('http.db', 'fetch', 'aws-spot-price', now='2026-12-02T11:00:00Z')
    check('the ETag is sent back with its quotes', asked, [None, ETAG])


trap_27_vantage_spot_avg_is_no_price()
trap_59_strong_etag_verbatim()
offers = json.loads(run('http.db', 'prices', '--purchase', 'spot', '--format', 'json'))['offers']
check('N/A* is no row', [(o['instance_type'], o['price_per_hour'], o['as_of']) for o in offers],
      [('g5.xlarge', '0.42', '2026-12-02T10:00:00Z')])
state = [s for s in json.loads(run('http.db', 'sources', '--format', 'json', now='2026-12-02T11:00:00Z'))['sources']
         if s['source_id'] == 'aws-spot-price'][0]
check('confirmed an hour later', (state['fetched_at'], state['state']), ('2026-12-02T11:00:00Z', 'fresh'))
print('\n'.join(failures))
sys.exit(bool(failures))
