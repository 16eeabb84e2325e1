#!/usr/bin/env python3
"""Checks data/snapshot/*.csv and the traces that it names.

usage: check_snapshot.py [--no-counts] [DIR]

DIR is the folder that holds snapshot/ and traces/ (default: data/ of the repository). Prints one
line per mistake, FILE:LINE: COLUMN: what was found, what is allowed; exit 1 when there is one.
Needs nothing outside DIR. Python 3 standard library only.
"""
import argparse
import csv
import io
import re
import sys
from collections import defaultdict
from datetime import date
from decimal import Decimal
from pathlib import Path

SHOWN = 60
VENDORS = set('aws aws-cn azure gcp oci lambda runpod vast nebius coreweave digitalocean vultr verda cudo '
              'fluidstack hyperstack jarvislabs hyperbolic alibaba tencent huawei'.split())
STORES = VENDORS | {'cloudflare', 'wasabi', 'backblaze'}
PURCHASES = set('on_demand spot low_priority monthly reserved_1y reserved_3y savings_plan_1y savings_plan_3y '
                'committed_use_1y committed_use_3y capacity_block dev_test'.split())
UNITS = set('gib_month gb_month gib gb request object_month iops_month mibps_month disk_month hour'.split())
COMPONENTS = {
    'storage': 'gib_month gb_month disk_month', 'storage_frequent': 'gib_month',
    'storage_infrequent': 'gib_month', 'storage_archive_instant': 'gib_month',
    'storage_archive_access': 'gib_month', 'storage_deep_archive_access': 'gib_month', 'put': 'request',
    'get': 'request', 'list': 'request', 'delete': 'request', 'transition': 'request gib',
    'retrieval': 'gib gb', 'retrieval_bulk': 'gib gb', 'retrieval_expedited': 'gib gb',
    'retrieval_request': 'request', 'retrieval_request_bulk': 'request',
    'retrieval_request_expedited': 'request', 'monitoring': 'object_month', 'upload': 'gib gb', 'read': 'gib',
    'write': 'gib', 'provisioned_iops': 'iops_month', 'throughput': 'mibps_month', 'snapshot': 'gib_month',
    'early_delete': 'gib_month gib'}
TIER = re.compile(
    r'^(s3_(standard|intelligent_tiering|standard_ia|onezone_ia|glacier_ir|glacier_flexible|deep_archive|express)'
    r'|efs_(standard|ia|archive)|ebs_(gp2|gp3|io1|io2|st1|sc1|snapshot_archive)|fsx_lustre_(scratch|persistent)'
    r'|azure_blob_(hot|cool|cold|archive)_(lrs|zrs|grs)|azure_disk_(premium|standard_ssd|standard_hdd)'
    r'|azure_files_[a-z_]+|gcs_(standard|nearline|coldline|archive|autoclass)|gcp_pd_(standard|balanced|ssd)'
    r'|gcp_hyperdisk_[a-z]+|gcp_filestore_[a-z_]+|r2_(standard|ia)|b2|wasabi|oss_[a-z_]+|cos_[a-z_]+|obs_[a-z_]+'
    r'|oci_[a-z]+)$')
DESTINATIONS = {'internet', 'other_region', 'other_region_same_continent', 'other_continent', 'other_az',
                'same_region'}
FORMS = {'PCIe', 'SXM2', 'SXM4', 'SXM', 'NVL'}

# Table -> (columns, key, {column: kind}); a kind with '?' may be empty. Kinds: checks() below.
TABLES = {
    'sources': ('source name url licence as_of', 'source',
                {'source': 'key', 'name': 'text', 'url': 'text', 'licence': 'text', 'as_of': 'date'}),
    'offers': ('vendor region zone instance_type purchase payment offering_class price_state price_per_hour '
               'upfront price_month currency sku as_of valid_from valid_to source note',
               'vendor region zone instance_type purchase payment offering_class valid_from source',
               {'vendor': VENDORS, 'region': 'text', 'zone': 'text?', 'instance_type': 'text',
                'purchase': PURCHASES, 'payment': {'', 'none', 'partial', 'all'},
                'offering_class': {'', 'standard', 'convertible'},
                'price_state': {'known', 'none', 'sold_otherwise'}, 'price_per_hour': 'money?',
                'upfront': 'money?', 'price_month': 'money?', 'currency': 'currency', 'sku': 'text?',
                'as_of': 'date', 'valid_from': 'date', 'valid_to': 'date?', 'source': 'source', 'note': 'text?'}),
    'instance_types': ('vendor instance_type gpu gpu_num gpu_den gpu_memory_gib vcpus memory_gib local_nvme_gb '
                       'network_gbps disk_mbps nvlink source', 'vendor instance_type',
                       {'vendor': VENDORS, 'instance_type': 'text', 'gpu': 'text?', 'gpu_num': 'int',
                        'gpu_den': 'int', 'gpu_memory_gib': 'positive?', 'vcpus': 'positive?',
                        'memory_gib': 'positive?', 'local_nvme_gb': 'number?', 'network_gbps': 'positive?',
                        'disk_mbps': 'positive?', 'nvlink': {'', 'y', 'n'}, 'source': 'source'}),
    'storage_rates': ('vendor region tier component unit unit_qty from_qty to_qty rate currency as_of source note',
                      'vendor region tier component from_qty',
                      {'vendor': STORES, 'region': 'text', 'tier': TIER, 'component': set(COMPONENTS),
                       'unit': UNITS, 'unit_qty': 'count', 'from_qty': 'money', 'to_qty': 'money?',
                       'rate': 'money', 'currency': 'currency', 'as_of': 'date', 'source': 'source',
                       'note': 'text?'}),
    'transfer_rates': ('vendor from to gb_bytes from_gb to_gb rate currency as_of source note',
                       'vendor from to from_gb',
                       {'vendor': STORES, 'from': 'text', 'to': 'text', 'gb_bytes': {'1073741824', '1000000000'},
                        'from_gb': 'money', 'to_gb': 'money?', 'rate': 'money', 'currency': 'currency',
                        'as_of': 'date', 'source': 'source', 'note': 'text?'}),
    'interruption': ('vendor region instance_type band_lo_pct band_hi_pct savings_pct as_of source',
                     'vendor region instance_type',
                     {'vendor': VENDORS, 'region': 'text', 'instance_type': 'text', 'band_lo_pct': 'percent',
                      'band_hi_pct': 'percent?', 'savings_pct': 'percent?', 'as_of': 'date', 'source': 'source'}),
    'gpu_models': ('model maker arch form compute_capability launch_year fp64_tflops fp32_tflops tf32_tflops '
                   'fp16_tflops bf16_tflops fp8_tflops int8_tops mem_gb bandwidth_gbs l2_mb nvlink_gbs pcie tdp_w '
                   'mig_slices note source', 'model',
                   {'model': 'text', 'maker': 'text', 'arch': 'text', 'form': FORMS | {''},
                    'compute_capability': 'positive?', 'launch_year': 'count', 'fp64_tflops': 'number?',
                    'fp32_tflops': 'number?', 'tf32_tflops': 'number?', 'fp16_tflops': 'number?',
                    'bf16_tflops': 'number?', 'fp8_tflops': 'number?', 'int8_tops': 'number?',
                    'mem_gb': 'positive', 'bandwidth_gbs': 'positive', 'l2_mb': 'number?', 'nvlink_gbs': 'number?',
                    'pcie': 'text?', 'tdp_w': 'number?', 'mig_slices': 'int?', 'note': 'text?', 'source': 'text'}),
    'gpu_aliases': ('vendor alias model memory_gib', 'vendor alias memory_gib',
                    {'vendor': VENDORS | {''}, 'alias': 'text', 'model': 'text', 'memory_gib': 'positive?'}),
    'models': ('name family task parameters active_parameters layers hidden heads kv_heads ffn vocab seq_len image_px '
               'head_dim bytes_per_sample_in flops_per_sample_fwd activation_elements tied_embeddings source', 'name',
               dict({c: 'positive?' for c in 'active_parameters layers hidden heads kv_heads ffn vocab seq_len '
                     'image_px head_dim bytes_per_sample_in flops_per_sample_fwd activation_elements'.split()},
                    name='text', family='text', task='text', parameters='positive',
                    tied_embeddings={'', '0', '1'}, source='text')),
    'allowances': ('vendor product rule value unit valid_from source confidence', 'vendor product rule',
                   {'vendor': 'text', 'product': 'text', 'rule': 'text', 'value': 'text', 'unit': 'text?',
                    'valid_from': 'date?', 'source': 'text', 'confidence': {'high', 'medium', 'low'}}),
    'fx': ('currency per_usd date source', 'currency date',
           {'currency': 'currency', 'per_usd': 'positive', 'date': 'date', 'source': 'source'}),
    'traces': ('name vendor region zone instance_type gap_s nodes_probed path', 'name',
               {'name': 'key', 'vendor': VENDORS, 'region': 'text', 'zone': 'text', 'instance_type': 'text',
                'gap_s': 'count', 'nodes_probed': 'count', 'path': 'text'}),
}
S3_NEEDED = 's3_standard s3_standard_ia s3_onezone_ia s3_glacier_ir s3_glacier_flexible s3_deep_archive'.split()
NEEDED_RATES = (
    [('aws', 'us-east-1', t, c) for t in S3_NEEDED for c in ('storage', 'put', 'get', 'list', 'retrieval')] +
    [('aws', 'us-east-1', t, 'transition') for t in S3_NEEDED[1:]] +
    [('aws', r, t, 'storage') for r in ('us-east-1', 'us-west-2', 'eu-west-1')
     for t in ('s3_standard', 's3_standard_ia', 'ebs_gp2', 'ebs_gp3', 'ebs_io1', 'ebs_io2', 'ebs_st1', 'ebs_sc1',
               'efs_standard')] +
    [('aws', 'us-east-1', 's3_intelligent_tiering', 'monitoring'), ('aws', 'us-east-1', 'efs_ia', 'storage'),
     ('aws', 'us-east-1', 'fsx_lustre_scratch', 'storage'), ('cloudflare', '*', 'r2_standard', 'storage')] +
    [('azure', 'eastus', f'azure_blob_{t}_lrs', c) for t in ('hot', 'cool', 'cold', 'archive')
     for c in ('storage', 'put', 'get', 'retrieval', 'transition')] +
    [('azure', 'westus2', 'azure_blob_hot_lrs', c) for c in ('storage', 'put', 'get')] +
    [('gcp', 'us-central1', f'gcs_{t}', c) for t in ('standard', 'nearline', 'coldline', 'archive')
     for c in ('storage', 'put', 'get', 'retrieval')])


class Report:
    def __init__(self):
        self.lines = []

    def at(self, table, line, column, found, allowed):
        self.lines.append(f'{table}.csv:{line}: {column}: found {found}, allowed: {allowed}')


def bad(kind, value, sources):
    """What is allowed instead, or None when the value is of its kind."""
    if isinstance(kind, set):
        return None if value in kind else 'one of ' + ' '.join(sorted(k or '(empty)' for k in kind))
    if isinstance(kind, re.Pattern):
        return None if kind.match(value) else 'a name of the product (product.md section 7; ebs_snapshot_archive)'
    if kind.endswith('?'):
        if value == '':
            return None
        kind = kind[:-1]
    if kind == 'text':
        ok = value != '' and value == value.strip() and not re.search(r'[\x00-\x1f\x7f]', value)
        return None if ok else 'text without control characters or outer blanks'
    if kind == 'key':
        return None if re.fullmatch(r'[a-z0-9][a-z0-9.-]*', value) else 'lower-case letters, digits, dashes, dots'
    if kind == 'source':
        return None if value in sources else 'a key of sources.csv'
    if kind == 'currency':
        return None if re.fullmatch(r'[A-Z]{3}', value) else 'an ISO 4217 code'
    if kind == 'date':
        return bad_date(value)
    return bad_number(kind, value)


def bad_date(value):
    try:
        ok = re.fullmatch(r'\d{4}-\d\d-\d\d', value) and date(2006, 1, 1) <= date.fromisoformat(value)
    except ValueError:
        ok = False
    return None if ok else 'a day as YYYY-MM-DD, not before 2006'


def bad_number(kind, value):
    if not re.fullmatch(r'\d+(\.\d+)?', value):
        return 'a plain decimal without sign or exponent'
    number = Decimal(value)
    if kind == 'money':
        return None if len(value.partition('.')[2]) <= 12 else 'at most 12 decimals'
    if kind in ('int', 'count') and '.' in value:
        return 'a whole number'
    if kind in ('positive', 'count') and number <= 0:
        return 'above 0 (unknown is an empty field)'
    if kind == 'percent' and number > 100:
        return '0 to 100'
    return None


def load(folder, report):
    """Rows with their line numbers; a file with a wrong header has none."""
    data = {}
    for table, (columns, _, _) in TABLES.items():
        data[table], path = [], folder / f'{table}.csv'
        try:
            text = path.read_bytes().decode('utf-8')
        except (OSError, UnicodeDecodeError) as e:
            report.lines.append(f'{table}.csv:1: cannot be read: {e}')
            continue
        if '\r' in text:
            report.at(table, 1, 'line ends', 'CR', 'LF only')
        reader = csv.reader(io.StringIO(text), strict=True)
        want = columns.split()
        try:
            head = next(reader, [])
            if head != want:
                report.at(table, 1, 'header', ','.join(head)[:120], ','.join(want))
                continue
            for row in reader:
                if len(row) != len(want):
                    report.at(table, reader.line_num, 'row', f'{len(row)} fields', f'{len(want)}')
                    continue
                data[table].append((reader.line_num, dict(zip(want, row))))
        except csv.Error as e:
            report.lines.append(f'{table}.csv:{reader.line_num}: not CSV: {e}')
    return data


def check_fields(data, report):
    sources = {r['source'] for _, r in data['sources']}
    for table, (_, key, kinds) in TABLES.items():
        seen = {}
        for line, row in data[table]:
            for column, kind in kinds.items():
                allowed = bad(kind, row[column], sources)
                if allowed:
                    report.at(table, line, column, repr(row[column]), allowed)
            k = tuple(row[c] for c in key.split())
            if k in seen:
                report.at(table, line, key.replace(' ', ','), 'the key of line %d again' % seen[k], 'each key once')
            seen[k] = line


def check_offer(line, r, report):
    at = lambda c, found, allowed: report.at('offers', line, c, found, allowed)
    if r['price_state'] != 'known':
        for c in ('price_per_hour', 'upfront', 'price_month'):
            if r[c]:
                at(c, repr(r[c]), f"empty when price_state is {r['price_state']}")
    elif r['purchase'] == 'monthly':
        if not r['price_month'] or Decimal(r['price_month']) == 0:
            at('price_month', repr(r['price_month']), 'above 0 for a monthly package')
    elif not r['price_per_hour'] or Decimal(r['price_per_hour']) == 0:
        if not (r['payment'] == 'all' and r['upfront'] and Decimal(r['upfront']) > 0 and r['price_per_hour']):
            at('price_per_hour', repr(r['price_per_hour']), 'above 0, or 0 when all is paid upfront')
    reserved = r['purchase'].startswith(('reserved', 'savings_plan'))
    if reserved != (r['payment'] != ''):
        at('payment', repr(r['payment']), 'none, partial or all for reserved and savings plans, else empty')
    if r['offering_class'] and not reserved:
        at('offering_class', r['offering_class'], 'only with reservations and savings plans')
    if r['valid_to'] and r['valid_to'] <= r['valid_from']:
        at('valid_to', r['valid_to'], 'after valid_from')


def check_prices(data, report):
    """Per offer, then against the on-demand price of the same machine in the same place."""
    on_demand = {}
    for line, r in data['offers']:
        check_offer(line, r, report)
        if (r['purchase'] == 'on_demand' and r['price_state'] == 'known' and r['price_per_hour'] and
                not r['valid_to']):
            key = (r['vendor'], r['region'], r['zone'], r['instance_type'])
            if key not in on_demand or r['as_of'] > on_demand[key]['as_of']:  # of several sources the newest
                on_demand[key] = r
    for line, r in data['offers']:
        od = on_demand.get((r['vendor'], r['region'], r['zone'], r['instance_type'])) or on_demand.get(
            (r['vendor'], r['region'], '', r['instance_type']))
        if not od or r['price_state'] != 'known' or r['purchase'] == 'on_demand' or not r['price_per_hour'] or r['valid_to']:
            continue
        if od['currency'] != r['currency']:
            report.at('offers', line, 'currency', r['currency'], f"that of the on-demand row, {od['currency']}")
            continue
        hours = 26280 if r['purchase'].endswith('3y') else 8760
        rate = Decimal(r['price_per_hour']) + Decimal(r['upfront'] or 0) / hours
        if rate > Decimal(od['price_per_hour']) and 'above on demand' not in r['note']:
            report.at('offers', line, 'price_per_hour', f'{rate:.6g} above on demand {od["price_per_hour"]}',
                      'a lower price, or a note that says "above on demand"')
        if r['purchase'] == 'spot' and abs(rate - Decimal(od['price_per_hour'])) * 10000 <= rate:
            report.at('offers', line, 'price_per_hour', 'spot equal to on demand', 'price_state none: it is no signal')


def check_intervals(data, report):
    """The prices of one offer in time: no two at once, one without an end at most."""
    spans = defaultdict(list)
    for line, r in data['offers']:
        key = tuple(r[c] for c in 'vendor region zone instance_type purchase payment offering_class source'.split())
        spans[key].append((r['valid_from'], r['valid_to'] or '9999-12-31', line))
    for rows in spans.values():
        rows.sort()
        for (_, end, _), (start, _, line) in zip(rows, rows[1:]):
            if start < end:
                report.at('offers', line, 'valid_from', start, f'{end} or later, when the price before it ends')


def check_scale(data, report):
    """A machine at a CPU's price, a placeholder, a price in the wrong unit: per GPU-hour in USD."""
    types = {(r['vendor'], r['instance_type']): r for _, r in data['instance_types']}
    fx = {r['currency']: Decimal(r['per_usd']) for _, r in data['fx']}
    for line, r in data['offers']:
        t = types.get((r['vendor'], r['instance_type']))
        if not t or t['gpu_num'] == '0' or t['gpu_den'] == '0' or not r['price_per_hour'] or r['currency'] not in fx:
            continue
        rate = Decimal(r['price_per_hour']) / fx[r['currency']] * int(t['gpu_den']) / int(t['gpu_num'])
        if rate and not Decimal('0.02') <= rate <= 60:
            report.at('offers', line, 'price_per_hour', f'{rate:.4g} USD per GPU-hour', '0.02 to 60')


def check_references(data, report):
    types = {(r['vendor'], r['instance_type']): r for _, r in data['instance_types']}
    models = {r['model']: r for _, r in data['gpu_models']}
    currencies = {r['currency'] for _, r in data['fx']}
    used_types, used_sources = set(), set()
    for line, r in data['offers']:
        key = (r['vendor'], r['instance_type'])
        used_types.add(key)
        if key not in types:
            report.at('offers', line, 'instance_type', r['instance_type'], 'a row of instance_types.csv')
    for table in ('offers', 'storage_rates', 'transfer_rates'):
        for line, r in data[table]:
            if r['currency'] not in currencies:
                report.at(table, line, 'currency', r['currency'], 'a currency of fx.csv')
    for line, r in data['instance_types']:
        if (r['vendor'], r['instance_type']) not in used_types:
            report.at('instance_types', line, 'instance_type', r['instance_type'], 'a type that has an offer')
        check_type(line, r, models, report)
    for table in TABLES:
        for _, r in data[table] if table != 'sources' else []:
            used_sources.add(r.get('source'))
            used_sources.update(re.findall(r'[a-z0-9.-]+', r.get('note', '')))
    used_sources |= {'spot-traces-2024-03-31'}
    for line, r in data['sources']:
        if r['source'] not in used_sources:
            report.at('sources', line, 'source', r['source'], 'a source that some row cites')
    for line, r in data['gpu_aliases']:
        if r['model'] not in models:
            report.at('gpu_aliases', line, 'model', r['model'], 'a model of gpu_models.csv')
        if r['alias'] in models and r['alias'] != r['model']:
            report.at('gpu_aliases', line, 'alias', r['alias'], 'a word that is not itself another model')
    for line, r in data['interruption']:
        if (r['vendor'], r['instance_type']) not in types:
            report.at('interruption', line, 'instance_type', r['instance_type'], 'a row of instance_types.csv')
        if r['band_hi_pct'] and float(r['band_hi_pct']) <= float(r['band_lo_pct']):
            report.at('interruption', line, 'band_hi_pct', r['band_hi_pct'], 'above band_lo_pct')
    for line, r in data['gpu_models']:
        last = r['model'].rsplit(' ', 1)[-1]
        if r['form'] != (last if last in FORMS else ''):
            report.at('gpu_models', line, 'form', repr(r['form']), 'the last word of the model when it is a form')


def check_type(line, r, models, report):
    if r['gpu_den'] == '0':
        report.at('instance_types', line, 'gpu_den', '0', 'at least 1')
        return
    if (r['gpu'] == '') != (r['gpu_num'] == '0'):
        report.at('instance_types', line, 'gpu_num', r['gpu_num'], '0 without a GPU, above 0 with one')
    model = models.get(r['gpu'])
    if model and r['gpu_memory_gib'] and r['gpu_num'] != '0':
        whole = float(model['mem_gb']) * min(1.0, int(r['gpu_num']) / int(r['gpu_den']))
        if abs(float(r['gpu_memory_gib']) / whole - 1) > 0.08:
            report.at('instance_types', line, 'gpu_memory_gib', r['gpu_memory_gib'],
                      f"within 8 % of {whole:g}, the memory of {r['gpu']}")


def check_brackets(data, table, fields, lo, hi, report):
    """Brackets of one rate follow each other without gap or overlap and begin at 0."""
    groups, origin = defaultdict(list), {}
    for line, r in data[table]:
        key = tuple(r[f] for f in fields)
        if origin.setdefault(key, r['source']) != r['source']:
            report.at(table, line, 'source', r['source'], f'{origin[key]}, as the other brackets of this rate')
        if r.get('unit') != 'disk_month':
            groups[tuple(r[f] for f in fields)].append((Decimal(r[lo]), line, r))
    for rows in groups.values():
        rows.sort(key=lambda x: x[0])
        expected = Decimal(0)
        for start, line, r in rows:
            if start != expected:
                report.at(table, line, lo, r[lo], f'{expected}, where the bracket before it ends')
            if not r[hi] and r is not rows[-1][2]:
                report.at(table, line, hi, 'no end', 'an end, for another bracket follows')
            if r[hi] and Decimal(r[hi]) <= start:
                report.at(table, line, hi, r[hi], f'above {lo}')
            expected = Decimal(r[hi]) if r[hi] else Decimal(-1)
        if rows[-1][2][hi] and 'recorded' not in rows[-1][2]['note']:
            report.at(table, rows[-1][1], hi, rows[-1][2][hi], 'no end, or a note that no rate is recorded above')


def check_rates(data, report):
    for line, r in data['storage_rates']:
        allowed = COMPONENTS.get(r['component'], '').split()
        if r['unit'] in UNITS and allowed and r['unit'] not in allowed:
            report.at('storage_rates', line, 'unit', r['unit'], f"{' or '.join(allowed)} for {r['component']}")
        if r['unit'] == 'disk_month' and not r['to_qty']:
            report.at('storage_rates', line, 'to_qty', 'empty', 'the GiB of the disk step')
    for line, r in data['transfer_rates']:
        if not (r['to'] in DESTINATIONS or re.fullmatch(r'[a-z]+(-[a-z]+)+-\d[a-z0-9-]*', r['to'])):
            report.at('transfer_rates', line, 'to', r['to'], 'a region code or ' + ' '.join(sorted(DESTINATIONS)))


def check_traces(data, root, report):
    total = 0
    for line, r in data['traces']:
        path = root / r['path']
        if '..' in r['path'] or not path.is_file():
            report.at('traces', line, 'path', r['path'], 'a file below the data folder')
            continue
        text = path.read_text(encoding='utf-8')
        total += len(text)
        keys = dict(m.groups() for m in re.finditer(r'^# (\w+)=(.*)$', text, re.M))
        for column in ('gap_s', 'nodes_probed'):
            if keys.get(column) != r[column]:
                report.at('traces', line, column, r[column], f'{keys.get(column)}, as {r["path"]} says')
        points = [tuple(p.split(',')) for p in text.splitlines() if re.match(r'\d', p)]
        times = [int(p[0]) for p in points]
        end = int(keys.get('n', 0)) * int(keys.get('gap_s', 0))
        if not points or points[-1] != (str(end), '-1') or times != sorted(set(times)):
            report.at('traces', line, 'path', r['path'], 'rising times and an end marker at n * gap_s')
    if total > 300000:
        report.lines.append(f'traces.csv:1: path: found {total} bytes in all, allowed: 300000')


def check_counts(data, folder, report):
    known = [r for _, r in data['offers'] if r['price_state'] == 'known' and not r['valid_to']]
    types = {(r['vendor'], r['instance_type']): r for _, r in data['instance_types']}
    models = {r['model'] for _, r in data['gpu_models']}
    priced = {types[(r['vendor'], r['instance_type'])]['gpu'] for r in known
              if (r['vendor'], r['instance_type']) in types} & models
    commitments = [r for r in known if r['purchase'][-2:] in ('1y', '3y')]
    figures = [
        ('offers', 'offers', len(known), 3000), ('offers', 'vendors', len({r['vendor'] for r in known}), 11),
        ('offers', 'GPU models with a price', len(priced), 30),
        ('offers', 'spot offers', sum(r['purchase'] == 'spot' for r in known), 1000),
        ('offers', 'commitments', len(commitments), 1000),
        ('interruption', 'bands', len(data['interruption']), 300), ('models', 'models', len(data['models']), 150),
        ('gpu_models', 'models', len(models), 60), ('allowances', 'rules', len(data['allowances']), 180),
        ('traces', 'traces', len(data['traces']), 5), ('transfer_rates', 'rates', len(data['transfer_rates']), 500)]
    figures += [('offers', f'offers of {v}', sum(r['vendor'] == v for r in known), 500) for v in ('aws', 'azure', 'gcp')]
    figures += [('offers', f'offers of {v} in CNY', sum(r['vendor'] == v and r['currency'] == 'CNY' for r in known), 40)
                for v in ('alibaba', 'tencent', 'aws-cn')]
    for table, what, n, least in figures:
        if n < least:
            report.at(table, 1, what, n, f'at least {least}')
    have = {(r['vendor'], r['region'], r['tier'], r['component']) for _, r in data['storage_rates']}
    for need in NEEDED_RATES:
        if need not in have:
            report.at('storage_rates', 1, 'rows', f"none for {' '.join(need)}", 'at least one')
    size = sum(p.stat().st_size for p in folder.glob('*.csv'))
    if size > 6 * 1000 * 1000:
        report.lines.append(f'snapshot: found {size} bytes, allowed: 6000000')


def check(root, counts=True):
    """The list of mistakes in ROOT/snapshot and ROOT/traces."""
    report, folder = Report(), Path(root) / 'snapshot'
    data = load(folder, report)
    check_fields(data, report)
    if report.lines:  # later checks rely on well-formed fields
        return report.lines
    check_prices(data, report)
    check_intervals(data, report)
    check_scale(data, report)
    check_references(data, report)
    check_rates(data, report)
    check_brackets(data, 'storage_rates', ['vendor', 'region', 'tier', 'component'], 'from_qty', 'to_qty', report)
    check_brackets(data, 'transfer_rates', ['vendor', 'from', 'to'], 'from_gb', 'to_gb', report)
    check_traces(data, Path(root), report)
    if counts:
        check_counts(data, folder, report)
    return report.lines


def main():
    ap = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ap.add_argument('--no-counts', action='store_true', help='leave out the minimum counts')
    ap.add_argument('dir', nargs='?', default=Path(__file__).resolve().parents[1])
    args = ap.parse_args()
    lines = check(args.dir, not args.no_counts)
    for text in lines[:SHOWN]:
        print(text, file=sys.stderr)
    if len(lines) > SHOWN:
        print(f'and {len(lines) - SHOWN} more', file=sys.stderr)
    if lines:
        print(f'{len(lines)} mistakes', file=sys.stderr)
        return 1
    print('snapshot: ok')
    return 0


if __name__ == '__main__':
    sys.exit(main())
