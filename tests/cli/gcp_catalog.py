#!/usr/bin/env python3
"""A generated Google catalogue of 30,000 SKUs: each GPU price, in machines as the sum of their parts, and
each disk price is the generator's answer to the last digit. Needs ../shared (skips loudly)."""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path

GPUTIER = os.environ['GPUTIER']
SHARED = Path(os.environ.get('GPUTIER_SHARED', '../shared'))
TOOL = SHARED / 'tools/gen_gcp_skus.py'
if not TOOL.is_file():
    print(f'SKIPPED: {TOOL} is missing')
    sys.exit(77)
work = Path(tempfile.mkdtemp())
subprocess.run([sys.executable, TOOL, '--skus', '30000', '--out', work / 'g'], check=True,
               stdout=subprocess.DEVNULL)
pages = sorted((work / 'g').glob('page-*.json'))
(work / 'empty').mkdir()
env = dict(os.environ, GPUTIER_DB=str(work / 'g.db'), GPUTIER_DATA=str(work / 'empty'),
           GPUTIER_NOW='2026-12-02T10:00:00Z')
subprocess.run([GPUTIER, 'import', 'gcp-skus', *pages], env=env, check=True, stdout=subprocess.DEVNULL)

# The parts as the pages state them, read independently of the program.
part = {}
for page in pages:
    for s in json.loads(page.read_text())['skus']:
        price = s['pricingInfo'][0]['pricingExpression']['tieredRates'][-1]['unitPrice']
        value = Decimal(price['units']) + Decimal(price.get('nanos', 0)) / 10**9
        text = s['description'].replace('Commitment v1: ', '').replace('Spot Preemptible ', '')
        name = text.split(' attached to')[0].split(' running in')[0].split(' in ')[0]
        part[s['serviceRegions'][0], name, s['category']['usageType']] = value

# machine: family, GPU, GPUs, cores, GiB of memory, GiB of local disk
MACHINES = {'Nvidia Tesla T4 GPU': ('n1-standard-8+1xT4', 'N1 Predefined', 1, 8, 30, 0),
            'Nvidia Tesla V100 GPU': ('n1-standard-64+8xV100', 'N1 Predefined', 8, 64, 240, 0),
            'Nvidia Tesla A100 GPU': ('a2-highgpu-4g', 'A2', 4, 48, 340, 0),
            'Nvidia Tesla A100 80GB GPU': ('a2-ultragpu-8g', 'A2', 8, 96, 1360, 3000),
            'Nvidia L4 GPU': ('g2-standard-24', 'G2', 2, 24, 96, 0),
            'Nvidia H100 80GB GPU': ('a3-highgpu-8g', 'A3', 8, 208, 1872, 6000),
            'Nvidia H100 80GB Mega GPU': ('a3-megagpu-8g', 'A3 Plus', 8, 208, 1872, 6000),
            'H200 141GB GPU': ('H200 141GB', None, 1, 0, 0, 0),
            'Nvidia B200 (1 gpu slice)': ('a4-highgpu-8g', None, 8, 0, 0, 0)}
USAGE = {'on_demand': 'OnDemand', 'spot': 'Preemptible', 'committed_use_1y': 'Commit1Yr',
         'committed_use_3y': 'Commit3Yr'}
db = sqlite3.connect(work / 'g.db')
found = {}
for region, kind, purchase, price, state in db.execute(
        'SELECT p.region, t.name, q.name, o.price, o.price_state FROM offer o JOIN place p ON '
        'p.id = o.place JOIN instance_type t ON t.id = o.instance_type JOIN purchase_option q ON '
        'q.id = o.purchase WHERE o.known_to IS NULL'):
    assert (region, kind, purchase) not in found
    found[region, kind, purchase] = price and Decimal(price), state
checked = exact = 0
with open(work / 'g/expected-gpu.csv', newline='', encoding='ascii') as f:
    for row in csv.DictReader(f):
        region, gpu = row['region'], row['gpu']
        assert part[region, gpu, 'OnDemand'] == Decimal(row['on_demand'])
        assert part[region, gpu, 'Preemptible'] == Decimal(row['spot'])
        kind, family, gpus, cores, memory, disk = MACHINES[gpu]
        for purchase, usage in USAGE.items():
            whole = part[region, gpu, usage] * gpus
            if family:
                whole += part[region, family + ' Instance Core', usage] * cores
                whole += part[region, family + ' Instance Ram', usage] * memory
            ssd = part[region, 'SSD backed Local Storage', 'OnDemand'] * disk / 730
            whole += ssd.quantize(Decimal('1e-12'))
            price, state = found[region, kind, purchase]
            by_request = kind == 'H200 141GB' or (kind == 'a4-highgpu-8g' and purchase == 'on_demand')
            # what is not sold as it stands (product.md section 7) shows no price
            if price != (None if by_request else whole) or state != (2 if by_request else 0):
                sys.exit(f'{region} {kind} {purchase}: {price}, {state}; expected {whole}')
            exact += not by_request
            checked += 1
assert checked == 182 * 4, checked

TIERS = {'Storage PD Capacity': 'gcp_pd_standard', 'SSD backed PD Capacity': 'gcp_pd_ssd',
         'Balanced PD Capacity': 'gcp_pd_balanced', 'SSD backed Local Storage': 'local_nvme',
         'Hyperdisk Balanced Capacity': 'gcp_hyperdisk_balanced', 'Storage PD Snapshot': 'gcp_pd_ssd'}
rates = {(r, t, c, q): Decimal(v) for r, t, c, q, v in db.execute(
    'SELECT p.region, s.tier, s.component, s.from_qty, s.rate FROM storage_rate s JOIN place p ON '
    'p.id = s.place WHERE s.known_to IS NULL')}
with open(work / 'g/expected-pd.csv', newline='', encoding='ascii') as f:
    rows = list(csv.DictReader(f))
for row in rows:
    snapshot = 'Snapshot' in row['disk']
    key = (row['region'], TIERS[row['disk']], 'snapshot' if snapshot else 'storage')
    if rates[(*key, '5' if snapshot else '0')] != Decimal(row['gib_month']):
        sys.exit(f'{key}: {rates[key]}, expected {row}')
    assert not snapshot or rates[(*key, '0')] == 0
assert len(rows) == 156, len(rows)
assert exact >= 600, exact
print(f'{exact} machine prices, {len(rows)} disk rates exact')

# The same by fetch, page after page; the second page breaks off once. The server gives these pages for
# each service, so a row may stand under each.
server = subprocess.Popen([sys.executable, SHARED / 'tools/fake_vendor_server.py', '--gcp', work / 'g', '--port-file',
                           work / 'port', '--max-seconds', '200', '--fault', '*tok1* trunc:50% 1'], stdout=subprocess.DEVNULL)
while not (work / 'port').is_file() or not (work / 'port').read_text():
    time.sleep(0.05)
subprocess.run([GPUTIER, 'fetch', 'gcp-skus'], check=True, stderr=subprocess.DEVNULL, env=dict(
    env, GPUTIER_DB=str(work / 'f.db'), GPUTIER_URL_GCP_SKUS=f'http://127.0.0.1:{(work / "port").read_text().strip()}/v1',
    GPUTIER_KEY_GCP_SKUS='KEY'))
server.terminate()
ALL = {'machines': 'SELECT DISTINCT p.region, t.name, q.name, o.price, o.price_state, o.sku FROM offer o JOIN place p ON p.id = '
                   'o.place JOIN instance_type t ON t.id = o.instance_type JOIN purchase_option q ON q.id = o.purchase '
                   'WHERE o.known_to IS NULL',
       'rates': 'SELECT DISTINCT p.region, s.tier, s.component, s.from_qty, s.rate, s.sku FROM storage_rate s JOIN place p ON '
                'p.id = s.place WHERE s.known_to IS NULL'}
for what, sql in ALL.items():
    imported, fetched = (set(sqlite3.connect(work / n).execute(sql)) for n in ('g.db', 'f.db'))
    if imported != fetched or len(imported) < 250:
        sys.exit(f'{what}: {len(imported)} imported, {len(fetched)} fetched, differ in {list(imported ^ fetched)[:3]}')
print('the same rows by fetch')
