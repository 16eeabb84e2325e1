#!/usr/bin/env python3
"""The walks of the GPU clouds against a loopback vendor: how each sends its key (never in an address),
pages and cursors, lists in two parts, Vast's samples, a page that breaks off, a vendor that fails half
way: prices are published whole or not at all."""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

GPUTIER = os.environ['GPUTIER']
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
log = []
meeting = []  # a barrier: an answer waits until that many questions are open
faults = {}  # path -> list of faults, used up one by one
failures = []


def gcp_sku(n, text, unit, nanos):
    return {'name': f'services/X/skus/{n}', 'skuId': f'SKU-{n}', 'description': text,
            'category': {'usageType': 'OnDemand', 'resourceGroup': 'X'}, 'serviceRegions': ['us-central1'],
            'pricingInfo': [{'pricingExpression': {'usageUnit': unit, 'tieredRates': [
                {'startUsageAmount': 0, 'unitPrice': {'currencyCode': 'USD', 'nanos': nanos}}]}}]}


GCP = {'6F81-5844-456A': [
    [gcp_sku(1, 'G2 Instance Core running in Iowa', 'h', 10 ** 7)],
    [gcp_sku(2, 'G2 Instance Ram running in Iowa', 'GiBy.h', 10 ** 6),
     gcp_sku(3, 'Nvidia L4 GPU running in Iowa', 'h', 5 * 10 ** 8)]],
       '95FF-2EF5-5EA1': [[dict(gcp_sku(4, 'Archive Storage Iowa', 'GiBy.mo', 1200000),
                               category={'resourceGroup': 'ArchiveStorage', 'usageType': 'OnDemand'})]],
       'D97E-AB26-5D95': [[gcp_sku(5, 'Filestore Capacity Basic HDD (Standard) Iowa', 'GiBy.mo', 160000000)]]}
LAMBDA = {'gpu_1x_a10': ['us-east-1']}
VAST = [{'id': i, 'ask_contract_id': i, 'num_gpus': 1, 'gpu_name': 'RTX 4090', 'gpu_ram': 24564,
         'dph_base': 0.25, 'geolocation': 'Texas, US'} for i in range(1000, 40000, 4)]


def vast(body):
    ask = json.loads(body)
    ids = ask['ask_contract_id']
    rows = [o for o in VAST if ids['gte'] <= o['ask_contract_id'] < ids['lt']]
    if len(rows) > ask['limit']:  # a random sample of the range
        rows = rows[::2][:ask['limit']] + rows[1::2][:max(0, ask['limit'] - len(rows[::2]))]
    return {'offers': rows}


def size(slug):
    return {'slug': slug, 'memory': 1024, 'vcpus': 1, 'price_hourly': 0.5, 'regions': ['nyc1']}


NEBIUS = b'''InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice
gpu-h100-sxm_8gpu,H100,8,128,1600,23.60,eu-north1,,10.00
'''


def answer(path, query, body):
    vendor, _, rest = path[1:].partition('/')
    if vendor == 'gcp':
        pages = GCP[rest.split('/')[1]]
        page = int(query.get('pageToken', ['a=0'])[0][2:])
        return {'skus': pages[page], 'nextPageToken': f'a={page + 1}' if page + 1 < len(pages) else ''}
    if vendor == 'vast':
        return vast(body)
    if vendor == 'digitalocean':
        n = int(query['page'][0])
        return {'sizes': [size(f's{n}')], 'links': {'pages': {'next': 'https://elsewhere/?page=9'}} if n < 3 else {}}
    if vendor == 'vultr':
        key, kind = ('plans', 'p') if rest == 'plans' else ('plans_metal', 'm')
        cursor = query.get('cursor', [''])[0]
        return {key: [{'id': f'{kind}{cursor}', 'ram': 1024, 'hourly_cost': 1, 'monthly_cost': 9, 'locations': ['ewr']}],
                'meta': {'links': {'next': 'bmV4dA==' if key == 'plans' and not cursor else ''}}}
    if vendor == 'verda':
        if rest == 'oauth2/token':
            ask = json.loads(body)
            return {'access_token': f'{ask["client_id"]}+{ask["client_secret"]}'}
        if rest == 'instance-availability':
            return [{'location_code': 'FIN-01', 'availabilities': ['1A']}]
        return [{'instance_type': '1A', 'name': 'A100 SXM4 80GB', 'gpu': {'number_of_gpus': 1}, 'currency': 'usd',
                 'price_per_hour': '1.50', 'gpu_memory': {'size_in_gigabytes': 80}}]
    if vendor == 'oci':
        if rest == 'shapes.json':
            return {'items': [{'name': 'BM.X', 'bundleMemoryQty': 8, 'products': [
                {'partNumber': 'B1', 'qty': 2.5, 'type': {'value': 'ocpu'}}]}]}
        return {'items': [{'partNumber': 'B1', 'currencyCodeLocalizations': [
            {'currencyCode': 'USD', 'prices': [{'model': 'PAY_AS_YOU_GO', 'value': 0.1}]}]}]}
    if vendor == 'lambda':
        return {'data': {t: {'instance_type': {
            'gpu_description': 'A10 (24 GB PCIe)', 'price_cents_per_hour': 75,
            'specs': {'gpus': 1, 'vcpus': 30, 'memory_gib': 200}},
            'regions_with_capacity_available': [{'name': r} for r in regions]} for t, regions in LAMBDA.items()}}
    if vendor == 'runpod':
        assert 'gpuTypes' in json.loads(body)['query']
        return {'data': {'gpuTypes': [{'id': 'NVIDIA A30', 'displayName': 'A30', 'memoryInGb': 24, 'maxGpuCount': 1,
                'secureCloud': True, 'communityCloud': False, 'securePrice': 0.41, 'communityPrice': 0}]}}
    if vendor == 'hyperstack':
        return [{'id': 1, 'name': 'L40', 'value': '1.00', 'original_value': '1.00', 'discount_applied': False}]
    if vendor == 'fluidstack':
        return [{'gpu_type': 'L40_48GB', 'gpu_counts': [1], 'price_per_gpu_hr': '1.10', 'regions': ['x']}]
    return None


class Vendor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def serve(self):
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        log.append((self.command, self.path, dict(self.headers)))
        if meeting:
            try:
                meeting[0].wait(20)
            except threading.BrokenBarrierError:
                failures.append(f'{url.path} was asked alone: sources are not fetched at once')
        fault = faults[url.path].pop(0) if faults.get(url.path) else ''
        data = NEBIUS if url.path == '/nebius' else json.dumps(answer(url.path, parse_qs(url.query), body)).encode()
        if fault == 'bad':
            data = b'{"skus": 7'
        self.send_response(int(fault) if fault.isdigit() else 200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data[:len(data) // 2] if fault == 'cut' else data)
        if fault == 'cut':
            self.close_connection = True

    do_GET = do_POST = serve


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f'http://127.0.0.1:{server.server_port}'
KEYS = {'lambda': 'K1', 'gcp-skus': 'K2', 'digitalocean': 'K3', 'verda': 'me:se"cret', 'hyperstack': 'K4',
        'fluidstack': 'K5', 'vast': 'K6'}


def fetch(*sources, status=0, **change):
    log.clear()
    env = dict(os.environ, GPUTIER_DB=str(work / 'f.db'), GPUTIER_DATA=str(work / 'empty'),
               GPUTIER_NOW='2026-12-02T10:00:00Z')
    for s in ('lambda', 'runpod', 'vast', 'oci', 'gcp-skus', 'digitalocean', 'vultr', 'verda', 'hyperstack',
              'fluidstack', 'nebius'):
        env['GPUTIER_URL_' + s.upper().replace('-', '_')] = f"{base}/{s.replace('-skus', '')}"
        if s in KEYS and change.get('keys', True):
            env['GPUTIER_KEY_' + s.upper().replace('-', '_')] = KEYS[s]
    p = subprocess.run([GPUTIER, 'fetch', *sources], env=env, capture_output=True, text=True, timeout=120, check=False)
    if p.returncode != status:
        failures.append(f'fetch {sources}: exit {p.returncode}, expected {status}: {p.stderr[-600:]}')
    for key in KEYS.values():
        if key in p.stdout + p.stderr or any(key in path for _, path, _ in log):
            failures.append(f'{sources}: a key shows')
    return p


def offers(vendor):
    db = sqlite3.connect(work / 'f.db')
    return {(r, t, q): p for r, t, q, p in db.execute(
        'SELECT l.region, t.name, q.name, o.price FROM offer o JOIN place l ON l.id = o.place JOIN instance_type t '
        'ON t.id = o.instance_type JOIN purchase_option q ON q.id = o.purchase WHERE o.known_to IS NULL AND '
        'l.vendor = ?', (vendor,))}


def check(name, found, wanted):
    print(('ok   ' if found == wanted else 'FAIL ') + name, flush=True)
    if found != wanted:
        failures.append(f'{name}: found {found}, expected {wanted}')


meeting.append(threading.Barrier(4))  # none is answered before all four are asked
fetch('lambda', 'runpod', 'hyperstack', 'fluidstack')
meeting.clear()
head = {urlsplit(path).path: h for _, path, h in log}
check('bearer key', head['/lambda'].get('Authorization'), 'Bearer K1')
check('no key, no header', head['/runpod'].get('Authorization'), None)
check('a POST of JSON', head['/runpod'].get('Content-Type'), 'application/json')
check('api_key header', head['/hyperstack'].get('api_key'), 'K4')
check('api-key header', head['/fluidstack'].get('api-key'), 'K5')
check('lambda', offers('lambda'), {('us-east-1', 'gpu_1x_a10', 'on_demand'): '0.75'})
check('runpod', offers('runpod'), {('secure', '1x NVIDIA A30', 'on_demand'): '0.41'})
check('hyperstack', offers('hyperstack'), {('any', 'L40', 'on_demand'): '1'})
check('fluidstack', offers('fluidstack'), {('x', '1x L40_48GB', 'on_demand'): '1.1'})

fetch('gcp-skus')
check('gcp key in a header', {h.get('X-Goog-Api-Key') for _, _, h in log}, {'K2'})
check('gcp pages', sorted(re.sub(r'.*services/(....).*?(pageToken=.*)?$', r'\1 \2', p) for _, p, _ in log),
      ['6F81 ', '6F81 pageToken=a%3D1', '95FF ', 'D97E '])
g2 = {('us-central1', f'g2-standard-{n}', 'on_demand') for n in (4, 8, 12, 16, 24, 32, 48, 96)}
check('machines over two pages', set(offers('gcp')), g2)
check('a sum', offers('gcp')[('us-central1', 'g2-standard-4', 'on_demand')], '0.556')
GCP['6F81-5844-456A'][1][1]['pricingInfo'][0]['pricingExpression']['tieredRates'][0]['unitPrice']['nanos'] = 6 * 10 ** 8
path = '/gcp/services/6F81-5844-456A/skus'
faults[path] = ['', '503', '']
fetch('gcp-skus')
check('a page that fails once is asked for again', offers('gcp')[('us-central1', 'g2-standard-4', 'on_demand')], '0.656')
GCP['6F81-5844-456A'][1][1]['pricingInfo'][0]['pricingExpression']['tieredRates'][0]['unitPrice']['nanos'] = 7 * 10 ** 8
faults[path] = ['', 'cut', '']
fetch('gcp-skus')
check('a page that breaks off too', offers('gcp')[('us-central1', 'g2-standard-4', 'on_demand')], '0.756')
GCP['6F81-5844-456A'][1][1]['pricingInfo'][0]['pricingExpression']['tieredRates'][0]['unitPrice']['nanos'] = 8 * 10 ** 8
for name, fault in (('refused', '403'), ('broken', 'bad')):
    faults[path] = ['', fault]
    fetch('gcp-skus', status=1 if fault == '403' else 4)
    check(f'a second page that is {name} keeps the prices',
          offers('gcp')[('us-central1', 'g2-standard-4', 'on_demand')], '0.756')
faults.clear()


def trap_53_answers_that_are_samples():
    fetch('vast')
    check('all of Vast behind samples', len(offers('vast')), len(VAST))
    check('in few questions', 3 <= len(log) <= 15, True)
    check('vast key', {h.get('Authorization') for _, _, h in log}, {'Bearer K6'})


trap_53_answers_that_are_samples()
fetch('digitalocean', 'vultr', 'oci')
check('numbered pages', {t for _, t, _ in offers('digitalocean')}, {'s1', 's2', 's3'})
check('the vendor does not choose the host', {p.split('?')[0] for _, p, _ in log if 'digital' in p}, {'/digitalocean'})
check('cursors', {t for _, t, _ in offers('vultr')}, {'p', 'pbmV4dA==', 'm'})
check('shapes and products', offers('oci')[('us-ashburn-1', 'BM.X', 'on_demand')], '0.25')
fetch('verda')
check('a token for the key', [h.get('Authorization') for _, _, h in log], [None] + ['Bearer me+se"cret'] * 2)
check('verda', offers('verda'), {('FIN-01', '1A', 'on_demand'): '1.5'})
fetch('nebius')
check('nebius by its own name', offers('nebius'), {('eu-north1', 'gpu-h100-sxm_8gpu', q): p for q, p in (
    ('on_demand', '23.6'), ('spot', '10'))})
p = fetch('coreweave', status=1)
check('coreweave has no list, and prices-csv is named', 'publishes no price list' in p.stderr and 'prices-csv' in p.stderr, True)
LAMBDA.update({f't{i}': ['us-east-1', 'us-west-1'] for i in range(7)})
fetch('lambda')
check('types in regions', len(offers('lambda')), 15)
for t in LAMBDA:
    LAMBDA[t] = []
LAMBDA['t0'] = ['us-west-1']
fetch('lambda')
check('sold out is no shrunken list', sorted({r for r, _, _ in offers('lambda')}), ['any', 'us-west-1'])
for i in range(1, 6):
    del LAMBDA[f't{i}']
p = fetch('lambda', status=3)
check('lost types are', 'more than half may not vanish' in p.stderr and len(offers('lambda')), 8)
p = fetch('lambda', status=2, keys=False)
check('a missing key is named', 'GPUTIER_KEY_LAMBDA' in p.stderr, True)
print('\n'.join(failures))
sys.exit(bool(failures))
