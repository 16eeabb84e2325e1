"""Offers of the smaller clouds and of the Chinese ones."""
import json
import re
from decimal import Decimal
from fractions import Fraction

from snap_common import decimal_text, is_zero
from snap_offers import NO_SPOT, OCI_REGIONS

RUNPOD = {'AMD Instinct MI300X OAM': 'MI300X', 'NVIDIA A100 80GB PCIe': 'A100-80GB PCIe',
          'NVIDIA A100-SXM4-80GB': 'A100-80GB SXM4', 'NVIDIA A30': 'A30', 'NVIDIA A40': 'A40',
          'NVIDIA B200': 'B200', 'NVIDIA GeForce RTX 3090': 'RTX 3090',
          'NVIDIA GeForce RTX 3090 Ti': 'RTX 3090 Ti', 'NVIDIA GeForce RTX 4090': 'RTX 4090',
          'NVIDIA GeForce RTX 5090': 'RTX 5090', 'NVIDIA H100 80GB HBM3': 'H100 SXM',
          'NVIDIA H100 NVL': 'H100 NVL', 'NVIDIA H100 PCIe': 'H100 PCIe', 'NVIDIA H200': 'H200 SXM',
          'NVIDIA L4': 'L4', 'NVIDIA L40': 'L40', 'NVIDIA L40S': 'L40S',
          'NVIDIA RTX 6000 Ada Generation': 'RTX 6000 Ada', 'NVIDIA RTX A4000': 'RTX A4000',
          'NVIDIA RTX A5000': 'RTX A5000', 'NVIDIA RTX A6000': 'RTX A6000',
          'NVIDIA RTX PRO 6000 Blackwell Workstation Edition': 'RTX PRO 6000 WS',
          'Tesla V100-FHHL-16GB': 'V100-16GB FHHL', 'Tesla V100-PCIE-16GB': 'V100-16GB PCIe', 'Tesla V100-SXM2-16GB': 'V100-16GB SXM2',
          'Tesla V100-SXM2-32GB': 'V100-32GB SXM2'}
MAINLAND = {'ap-beijing', 'ap-shanghai', 'ap-guangzhou', 'ap-chengdu', 'ap-chongqing', 'ap-nanjing'}


def lambda_cloud(o):
    """Every type is listed in every region: that is the catalogue's habit, not availability."""
    key, newer = 'anycloud-lambda-2026-05-07', 'lambda-api-2026-08-20'
    with open(o.facts.path('samples/lambda/instance-types.json'), encoding='utf-8') as f:
        doc = json.load(f)
    cents = {k: v['instance_type']['price_cents_per_hour'] for k, v in doc.get('data', doc).items()}
    disk = {k: v['instance_type']['specs']['storage_gib'] for k, v in doc.get('data', doc).items()}
    note = 'every type is listed in every region (no real availability)'
    for r in o.facts.rows('catalog/skypilot-format-lambda-vms-2026-05-20.csv.gz'):
        itype = r['InstanceType']
        gpu = o.gpus.lookup('lambda', itype)
        if r['AcceleratorName'] and not gpu:
            o.skip(f'lambda {itype}: GPU not in the tables')
            continue
        nvme = f'{disk[itype] * 1.073741824:g}' if itype in disk else ''
        o.machine('lambda', itype, gpu=gpu, source=key, vcpus=r['vCPUs'], memory_gib=r['MemoryGiB'],
                  local_nvme_gb=nvme)
        o.put('lambda', r['Region'], itype, 'on_demand', r['Price'], key, note=note)
        if itype in cents:
            o.put('lambda', r['Region'], itype, 'on_demand', str(Decimal(cents[itype]) / 100), newer,
                  note=note)


def vast(o):
    key = 'anycloud-vast-2026-04-29'
    for r in o.facts.rows('catalog/skypilot-format-vast-vms-2026-05-20.csv.gz'):
        size = re.search(r"'SizeInMiB': (\d+)", r['GpuInfo'])
        each = int(size.group(1)) / int(r['AcceleratorCount']) / 1024
        word = r['InstanceType'].split('-')[0] + '-' + r['InstanceType'].split('-')[1]
        model = vast_model(word.split('-')[1], r['AcceleratorName'], each)
        # the type name carries no memory size although two sizes share it
        itype = r['InstanceType'] + ('-40g' if 'A100' in word and each < 60 else '')
        o.machine('vast', itype, gpu=(model, Fraction(r['AcceleratorCount'])), source=key,
                  vcpus=r['vCPUs'], memory_gib=r['MemoryGiB'], gpu_memory_gib=f'{each:.4g}')
        o.put('vast', vast_region(r['Region']), itype, 'on_demand', r['Price'], key,
              note='marketplace asking price' + (', place: ' + r['Region'] if r['Region'] else ''))


def vast_model(word, name, each_gib):
    if word.startswith('A100'):
        form = 'SXM4' if 'SXM4' in word else 'PCIe'
        return f"A100-{'80GB' if each_gib > 60 else '40GB'} {form}"
    if word.startswith('H100'):
        return 'H100 NVL' if 'NVL' in word else 'H100 SXM'
    if word == 'Tesla_V100':
        return 'V100-16GB SXM2' if each_gib < 20 else 'V100-32GB SXM2'
    fixed = {'RTX_5090': 'RTX 5090', 'RTX_4090': 'RTX 4090', 'RTX_3090': 'RTX 3090',
             'RTX_6000Ada': 'RTX 6000 Ada', 'RTX_A5000': 'RTX A5000', 'RTX_A6000': 'RTX A6000',
             'RTX_5880Ada': 'RTX 5880 Ada', 'H200': 'H200 SXM', 'L40S': 'L40S'}
    return fixed.get(word, word.replace('_', ' '))


def vast_region(text):
    """'Oregon, US, NA' -> us-oregon, ', CA, NA' -> ca: country first, then the place if any."""
    place, country, _ = [p.strip() for p in text.split(',')]
    slug = re.sub(r'[^a-z0-9]+', '-', place.lower()).strip('-')
    names = {'denmark', 'south-korea', 'taiwan', 'czechia', 'switzerland', 'france', 'vietnam',
             'bulgaria', 'sweden', 'estonia', 'japan', 'germany', 'poland', 'norway', 'romania',
             'iceland', 'hong-kong', 'the-netherlands'}
    return country.lower() if not slug or slug in names else f'{country.lower()}-{slug}'


def nebius(o):
    for r in o.facts.rows('catalog/nebius-gpu-rows-skypilot-v8.csv'):
        key, itype = 'skypilot-nebius-v8', r['InstanceType']
        o.machine('nebius', itype, word=r['AcceleratorName'], count=r['AcceleratorCount'], source=key,
                  vcpus=r['vCPUs'], memory_gib=r['MemoryGiB'])
        o.put('nebius', r['Region'], itype, 'on_demand', r['Price'], key)
        if not is_zero(r['SpotPrice']):
            o.put('nebius', r['Region'], itype, 'spot', r['SpotPrice'], key)


def oci(o):
    """One price list for all regions; the catalogue row names one of them."""
    for r in o.facts.rows('catalog/oci-gpu-rows-skypilot-v8.csv'):
        key, itype = 'skypilot-oci-v8', r['InstanceType']
        o.machine('oci', itype, word=r['AcceleratorName'], count=r['AcceleratorCount'], source=key,
                  vcpus=r['vCPUs'], memory_gib=r['MemoryGiB'])
        for region in [r['Region']] + OCI_REGIONS:
            note = 'OCI lists one price for all regions; says nothing about availability there'
            o.put('oci', region, itype, 'on_demand', r['Price'], key, note=note)
            if not is_zero(r['SpotPrice']):
                o.put('oci', region, itype, 'spot', r['SpotPrice'], key, note=note)


def hyperbolic(o):
    for r in o.facts.rows('catalog/small-clouds-gpu-rows-skypilot.csv'):
        if r['vendor'] != 'hyperbolic':
            continue
        key, itype = 'skypilot-hyperbolic-v7', r['InstanceType']
        o.machine('hyperbolic', itype, word=r['AcceleratorName'], count=r['AcceleratorCount'],
                  source=key, vcpus=r['vCPUs'], memory_gib=r['MemoryGiB'])
        o.put('hyperbolic', r['Region'], itype, 'on_demand', r['Price'], key)


def runpod(o):
    key = 'skypilot-runpod-v8'
    for r in o.facts.rows('catalog/small-clouds-gpu-rows-skypilot.csv'):
        if r['vendor'] != 'runpod':
            continue
        o.machine('runpod', r['InstanceType'], source=key, vcpus=r['vCPUs'], memory_gib=r['MemoryGiB'])
        o.put('runpod', r['Region'], r['InstanceType'], 'on_demand', r['Price'], key,
              zone=r['AvailabilityZone'])
        o.put('runpod', r['Region'], r['InstanceType'], 'spot', '', key, zone=r['AvailabilityZone'],
              note=NO_SPOT)
    api = 'runpod-api-2025-06-22'
    with open(o.facts.path('samples/runpod/gpuTypes.data.json'), encoding='utf-8') as f:
        doc = json.load(f, parse_float=str, parse_int=str)
    for g in doc:
        if g['id'] == 'unknown':
            continue
        model = RUNPOD.get(g['id']) or re.sub(r'^(NVIDIA )?(GeForce )?|( Ada) Generation$', r'\3', g['id'])
        for cloud, flag in (('secure', 'secureCloud'), ('community', 'communityCloud')):
            if not g[flag] or is_zero(g[cloud + 'Price'] or ''):
                continue
            itype = f"1x {g['displayName']} {cloud}"
            o.machine('runpod', itype, gpu=(model, Fraction(1)), source=api,
                      gpu_memory_gib=g['memoryInGb'])
            o.put('runpod', 'any', itype, 'on_demand', g[cloud + 'Price'], api)
            if g[cloud + 'SpotPrice']:
                o.put('runpod', 'any', itype, 'spot', g[cloud + 'SpotPrice'], api)


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
