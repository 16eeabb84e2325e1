"""Offers of the smaller clouds and of the Chinese ones."""
import re

from snap_common import decimal_text
from snap_offers import OCI_REGIONS

MAINLAND = {'ap-beijing', 'ap-shanghai', 'ap-guangzhou', 'ap-chengdu', 'ap-chongqing', 'ap-nanjing'}
RUNPOD_COUNTS = (1, 2, 4, 8)  # the list has every count up to 12 or so, each at its multiple


def lambda_cloud(o):
    """Every type is listed in every region: that is the catalogue's habit, not availability. The vendor's own
    answer is newer and names no regions."""
    key, newer = 'anycloud-lambda-2026-05-07', 'lambda-api-2026-08-20'
    own = {r['instance_type']: r for r in o.imported(newer, 'lambda', ['samples/lambda/instance-types.json'])}
    for r in o.imported(key, 'skypilot', ['catalog/skypilot-format-lambda-vms-2026-05-20.csv.gz'], 'lambda'):
        api = own.get(r['instance_type'])
        o.imported_machine(r, key, **({'local_nvme_gb': api['local_nvme_gb']} if api else {}))
        o.put_imported(r, key)
        if api:
            o.put('lambda', r['region'], r['instance_type'], 'on_demand', api['price'], newer,
                  note=r['note'])


def vast(o):
    key = 'anycloud-vast-2026-04-29'
    for r in o.imported(key, 'skypilot', ['catalog/skypilot-format-vast-vms-2026-05-20.csv.gz'], 'vast'):
        o.imported_machine(r, key)
        o.put_imported(r, key)


def nebius(o):
    key = 'skypilot-nebius-v8'
    for r in o.imported(key, 'nebius', ['catalog/nebius-gpu-rows-skypilot-v8.csv']):
        o.imported_machine(r, key)
        o.put_imported(r, key)


def oci(o):
    """One price list for all regions; the catalogue row names one of them."""
    key = 'skypilot-oci-v8'
    for r in o.imported(key, 'skypilot', ['catalog/oci-gpu-rows-skypilot-v8.csv'], 'oci'):
        o.imported_machine(r, key)
        for region in [r['region']] + OCI_REGIONS:
            o.put_imported(dict(r, zone=''), key, region)


def hyperbolic_and_runpod(o):
    keys = {'hyperbolic': 'skypilot-hyperbolic-v7', 'runpod': 'skypilot-runpod-v8'}
    for r in o.imported(keys['hyperbolic'], 'skypilot', ['catalog/small-clouds-gpu-rows-skypilot.csv']):
        o.imported_machine(r, keys[r['vendor']])
        o.put_imported(r, keys[r['vendor']])
    key = 'runpod-api-2025-06-22'
    for r in o.imported(key, 'runpod', ['samples/runpod/gpuTypes.data.json']):
        if r['count'] in RUNPOD_COUNTS:
            o.imported_machine(r, key)
            o.put_imported(r, key)


def china(o):
    rows = [r for r in o.facts.rows('catalog/china-gpu-prices.csv')]
    for r in rows:
        if r['product'] == 'ECS GPU' and 'v8' in r['date']:
            alibaba(o, r)
        elif r['product'].startswith('EC2'):
            if o.aws_type('aws-cn', r['item']):
                o.put('aws-cn', r['region'], r['item'], 'on_demand', r['cny'], 'tsaol-aws-cn-2026-01-21',
                      currency='CNY')
        elif r['product'] == 'CVM GPU' and 'v8' in r['date']:
            tencent_type(o, r)
            o.put('tencent', r['region'], r['item'], 'on_demand', r['cny'], 'sugarlxn-tencent-v8',
                  zone=r['zone'], currency='CNY')
    for r in rows:
        if r['product'] == 'CVM GPU' and 'v8' not in r['date']:
            tencent_lists(o, r)


def alibaba(o, r):
    key = 'sugarlxn-alibaba-v8'
    o.machine('alibaba', r['item'], word=re.sub(r' \(vendor code name\)', '', r['gpu_name']),
              count=r['gpu_count'], source=key, vcpus=r['vcpu'], memory_gib=r['memory_gib'],
              gpu_memory_gib=code_memory(r['gpu_name']))
    note = 'CNY derived from the recorded USD / 0.138'
    if r['region'].startswith('cn-') and r['region'] != 'cn-hongkong':
        note += ' less the system disk of 0.084'
    else:
        note += '; still contains a system disk'
    if r['price_kind'] == 'spot':
        note += '; administered price, not a market'
    o.put('alibaba', r['region'], r['item'], r['price_kind'], r['cny'], key, zone=r['zone'],
          currency='CNY', note=note)


def code_memory(name):
    m = re.search(r'(\d+)GB \(vendor', name)
    return m.group(1) if m else ''


def tencent_type(o, r):
    o.machine('tencent', r['item'], word=r['gpu_name'], count=r['gpu_count'],
              source='sugarlxn-tencent-v8', vcpus=r['vcpu'], memory_gib=r['memory_gib'])


def tencent_lists(o, r):
    """Monthly packages name no region: they join the mainland regions that sell the type by the hour."""
    if r['price_kind'] == 'monthly prepaid':
        regions = {k[1] for k in o.rows if k[0] == 'tencent' and k[3] == r['item']
                   and k[4] == 'on_demand' and k[1] in MAINLAND}
        if not regions:
            o.skip('tencent: monthly package of a type with no hourly price in the mainland')
        for region in sorted(regions):
            o.put('tencent', region, r['item'], 'monthly', '', 'tencent-docs-2019',
                  price_month=decimal_text(r['cny']), currency='CNY',
                  note='mainland list of about 2019-2020, region not named; instance part only')
    elif r['price_kind'].startswith('on_demand (international') and r['date'].startswith('2023'):
        have = any(k[0] == 'tencent' and k[1] == r['region'] and k[3] == r['item'] for k in o.rows)
        if not have:
            tencent_type(o, r)
            o.put('tencent', r['region'], r['item'], 'on_demand', r['recorded'],
                  'tencent-intl-docs-2023-06-30', zone=r['zone'], currency='USD',
                  note='list of the international site, instance part only')
    else:
        o.skip('tencent: superseded lists')
