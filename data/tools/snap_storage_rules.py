"""Storage facts that no price file carries: rules of the vendors' guides, China, hand-read lists."""
import re
from decimal import Decimal

from snap_common import decimal_text, iso_date
from snap_storage import (COMPONENTS, COS_REGIONS, COS_TIERS, INT_STORAGE, OSS_TIERS, S3, UNITS)

S3_TIERS = ['s3_standard', 's3_intelligent_tiering', 's3_standard_ia', 's3_onezone_ia', 's3_glacier_ir',
            's3_glacier_flexible', 's3_deep_archive']
GUIDE = 'aws-s3-guide-2026-06'
# us-east-1 list values quoted by two independent pages of 2026 (research notes R-S3-15, 17, 20).
US_EAST_1 = [
    ('s3_glacier_ir', 'transition', 'request', 1000, '0.02', 'R-S3-15'),
    ('s3_glacier_flexible', 'retrieval_request', 'request', 1000, '0.05',
     'R-S3-17; an infracost recording of 2024 prints 0.03, the PUT price'),
    ('s3_intelligent_tiering', 'storage_archive_instant', 'gib_month', 1, '0.004',
     'the Glacier Instant Retrieval rate; R-S3-04 is computed with it'),
]

# Azure Retail Prices API, product General Block Blob v2, eastus: storage (with its brackets), write,
# read, retrieval per GB, list, and for Archive the priority read and retrieval.
AZURE_SRC = 'finfocus-azure-blob-2026'
AZURE_EASTUS = {
    'azure_blob_hot_lrs': (['0.0208', '0.019968', '0.019136'], '0.05', '0.004', '0', '0.05'),
    'azure_blob_hot_zrs': (['0.026', '0.02496', '0.02392'], '0.0625', '0.004', '0', '0.0625'),
    'azure_blob_hot_grs': (['0.0458', '0.043968', '0.042136'], '0.1', '0.004', '0', '0.1'),
    'azure_blob_cool_lrs': (['0.0152'], '0.1', '0.01', '0.01', ''),
    'azure_blob_cool_zrs': (['0.019'], '0.1', '0.01', '0.01', ''),
    'azure_blob_cool_grs': (['0.0334'], '0.2', '0.01', '0.01', ''),
    'azure_blob_cold_lrs': (['0.0036'], '0.18', '0.1', '0.03', ''),
    'azure_blob_cold_zrs': (['0.004'], '0.2', '0.1', '0.03', ''),
    'azure_blob_cold_grs': (['0.0081'], '0.36', '0.1', '0.03', ''),
    'azure_blob_archive_lrs': (['0.00099'], '0.1', '5', '0.02', ''),
    'azure_blob_archive_grs': (['0.00299'], '0.21', '5', '0.02', ''),
}


def azure_eastus(st):
    bounds = ['0', '51200', '512000', '']
    for tier, (storage, put, get, retrieval, lst) in AZURE_EASTUS.items():
        def add(comp, unit, qty, rate, lo='0', hi='', note='recorded in 2026, day not stated'):
            st.put('azure', 'eastus', tier, comp, unit, qty, rate, '2026-01-01', AZURE_SRC, lo, hi, note=note)
        for i, rate in enumerate(storage):
            add('storage', 'gib_month', 1, rate, bounds[i], bounds[i + 1] if len(storage) > 1 else '')
        add('put', 'request', 10000, put)
        add('get', 'request', 10000, get)
        add('retrieval', 'gib', 1, retrieval)
        if 'hot' not in tier:
            add('early_delete', 'gib_month', 1, storage[0], note='the storage rate for the days short')
        if lst:
            add('list', 'request', 10000, lst)
        if 'archive' in tier:
            add('retrieval_request_expedited', 'request', 10000, '50', note='high priority rehydration')
            add('retrieval_expedited', 'gib', 1, '0.1', note='high priority rehydration')
        add('transition', 'request', 10000, put, note='R-AZ-04: one write of the destination tier')


def add_rules(st):
    """Free and derived components, only where the tier itself has a price."""
    azure_eastus(st)
    have = {(k[0], k[1], k[2]) for k in st.rows}
    for vendor, region, tier in sorted(have):
        if vendor in ('aws', 'aws-cn') and tier in S3_TIERS:
            st.put(vendor, region, tier, 'delete', 'request', 1000, '0', '2026-06-05', GUIDE, replace=False,
                   currency='CNY' if vendor == 'aws-cn' else 'USD', note='R-S3-20: DELETE is free')
            put = st.rows.get((vendor, region, 's3_standard', 'put', '0'))
            if put:
                st.rows[(vendor, region, tier, 'list', '0')] = dict(
                    put, tier=tier, component='list',
                    note='R-S3-20: LIST is charged at the Standard PUT rate whatever the class')
        if vendor in ('aws',) and tier == 's3_glacier_flexible':
            for comp, unit, qty in (('retrieval_bulk', 'gib', 1), ('retrieval_request_bulk', 'request', 1000)):
                st.rows.pop((vendor, region, tier, comp, '0'), None)
                st.put(vendor, region, tier, comp, unit, qty, '0', '2026-06-05', GUIDE,
                       note='R-S3-17: bulk is free')
        if vendor == 'gcp' and tier.startswith('gcs_'):
            st.put(vendor, region, tier, 'delete', 'request', 1000, '0', '2026-09-20', 'gcp-storage-page-2026-09-20',
                   note='R-GCS-02: delete is free')
        if vendor == 'azure' and tier.startswith('azure_blob_'):
            st.put(vendor, region, tier, 'delete', 'request', 10000, '0', '2025-06-13', 'azure-docs-2025-06-13',
                   note='R-AZ-07: deletes are free')
    for tier, comp, unit, qty, rate, note in US_EAST_1:
        st.rows.pop(('aws', 'us-east-1', tier, comp, '0'), None)
        st.put('aws', 'us-east-1', tier, comp, unit, qty, rate, '2026-06-05', GUIDE, note=note)
    efs_rules(st)
    gcs_autoclass(st)
    wasabi(st)
    free_retrieval(st)


FREE_READS = {  # tier -> the rule; reads of these cost requests only
    's3_standard': ('R-S3-01: no retrieval fee', GUIDE, '2026-06-05'),
    's3_intelligent_tiering': ('R-S3-04: no retrieval fee', GUIDE, '2026-06-05'),
    'gcs_standard': ('R-GCS-04: no retrieval fee', 'gcp-storage-page-2026-09-20', '2026-09-20'),
    'gcs_autoclass': ('R-GCS-08: no retrieval fee', 'gcp-storage-page-2026-09-20', '2026-09-20'),
    'wasabi': ('no retrieval fee', 'wasabi-2026-07-01', '2026-07-01'),
}


def free_retrieval(st):
    for vendor, region, tier in sorted({k[:3] for k in st.rows}):
        if tier in FREE_READS:
            note, src, day = FREE_READS[tier]
            st.put(vendor, region, tier, 'retrieval', 'gib', 1, '0', day, src, replace=False, note=note,
                   currency='CNY' if vendor == 'aws-cn' else 'USD')


def efs_rules(st):
    src, day = 'aws-efs-notes-2026', '2026-01-01'
    st.put('aws', 'us-east-1', 'efs_ia', 'storage', 'gib_month', 1, '0.016', day, src,
           note='elastic throughput file systems; R-EFS-05')
    st.put('aws', 'us-east-1', 'efs_archive', 'storage', 'gib_month', 1, '0.008', day, src, note='R-EFS-05')
    st.put('aws', 'us-east-1', 'efs_standard', 'write', 'gib', 1, '0.06', day, src,
           note='elastic throughput; R-EFS-04')
    st.put('aws', 'us-east-1', 'efs_standard', 'read', 'gib', 1, '0.03', day, src,
           note='elastic throughput; R-EFS-04')


def gcs_autoclass(st):
    """Autoclass: storage and operations at the class rates, a fee per object (R-GCS-08)."""
    for key, row in list(st.rows.items()):
        if key[0] != 'gcp' or key[2] != 'gcs_standard':
            continue
        if key[3] in ('storage', 'put', 'get', 'list', 'delete'):
            st.rows[(key[0], key[1], 'gcs_autoclass') + key[3:]] = dict(row, tier='gcs_autoclass')
        if key[3] == 'storage':
            st.put('gcp', key[1], 'gcs_autoclass', 'monitoring', 'object_month', 1000, '0.0025', '2026-09-20',
                   'gcp-storage-page-2026-09-20', note='R-GCS-08: per 1,000 objects of at least 128 KiB and 30 days')


def wasabi(st):
    src = 'wasabi-2026-07-01'
    st.put('wasabi', '*', 'wasabi', 'storage', 'gib_month', 1024, '7.99', '2026-07-01', src,
           note='per TB of 1,024 GB; at least 1 TB is billed; 90 days minimum')
    for comp in ('put', 'get', 'list', 'delete'):
        st.put('wasabi', '*', 'wasabi', comp, 'request', 1000, '0', '2026-07-01', src, note='no request fees')


def china(st, alibaba_regions):
    for r in st.facts.rows('catalog/china-gpu-prices.csv'):
        if not r['cny'] or r['unit'] not in UNITS:
            continue
        unit, qty = UNITS[r['unit']]
        kind, as_of = r['price_kind'], iso_date(r['date'], '2022-01-01')
        note = '' if re.match(r'^\d{4}-', r['date']) else r['date']
        lo, hi = r['from_qty'] or '0', r['to_qty']
        if r['vendor'] == 'aws-china' and r['product'] == 'S3':
            src = st.source(r['source'], as_of)
            tier = r['item']
            if tier in INT_STORAGE:
                targets = [('s3_intelligent_tiering', INT_STORAGE[tier])]
            else:
                targets = [(S3[tier], c) for c in COMPONENTS.get(kind, [])] if tier in S3 else []
            for name, comp in targets:
                st.put('aws-cn', r['region'], name, comp, unit, qty, r['cny'], as_of, src, lo, hi, 'CNY', note)
        elif r['vendor'] == 'aliyun' and r['product'] == 'OSS' and r['item'] in OSS_TIERS:
            src = st.source(r['source'], as_of)
            for comp in COMPONENTS.get(kind, []):
                for region in alibaba_regions:
                    st.put('alibaba', region, OSS_TIERS[r['item']], comp, unit, qty, r['cny'], as_of, src,
                           lo, hi, 'CNY', '; '.join(x for x in (note, 'one list for the mainland regions') if x))
        elif r['vendor'] == 'tencent' and r['product'] == 'COS' and r['item'] in COS_TIERS:
            src = st.source(r['source'], as_of)
            comps = ['put', 'get', 'list'] if kind == 'requests' else COMPONENTS.get(kind, [])
            for place in r['region'].split(', '):
                if place in COS_REGIONS:
                    for comp in comps:
                        st.put('tencent', COS_REGIONS[place], COS_TIERS[r['item']], comp, unit, qty, r['cny'],
                               as_of, src, lo, hi, 'CNY', note)
