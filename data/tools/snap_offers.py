"""offers.csv and instance_types.csv: one row per way to buy one machine in one place.

Rules (README.md says why): newest dated source per offer; a price of zero or no price is
price_state none; spot equal to on demand is no spot signal; dedicated tenancy, dedicated hosts and
accelerator prices at a commitment's level never become an on-demand price.
"""
import re
from decimal import Decimal
from fractions import Fraction

from snap_common import decimal_text, is_zero, no_signal, per_month

OFFER_COLUMNS = ['vendor', 'region', 'zone', 'instance_type', 'purchase', 'payment',
                 'offering_class', 'price_state', 'price_per_hour', 'upfront', 'price_month',
                 'currency', 'sku', 'as_of', 'valid_from', 'valid_to', 'source', 'note']
TYPE_COLUMNS = ['vendor', 'instance_type', 'gpu', 'gpu_num', 'gpu_den', 'gpu_memory_gib', 'vcpus',
                'memory_gib', 'local_nvme_gb', 'network_gbps', 'disk_mbps', 'nvlink', 'source']
AWS_CPU = re.compile(r'^(t3|m5|m6i|m7i|c5|c6i|c7i|r5|r6i|m7g|c7g)\.(xlarge|2xlarge|4xlarge|8xlarge|16xlarge)$')
AZURE_CPU = re.compile(r'^Standard_(D|E|F)(4|8|16|32|64)(s|as|ds|ads)?_v[56]$|^Standard_F(4|8|16|32)s_v2$')
AZURE_CPU_REGIONS = {'eastus', 'eastus2', 'westus2', 'westeurope', 'northeurope'}
GCP_CPU = re.compile(r'^(e2-standard|n2-standard|n2d-standard|c3-standard|c2-standard|n1-standard)-(4|8|16|22|32|44|60)$')
GCP_CPU_REGIONS = {'us-central1', 'us-east1', 'us-west1', 'europe-west4', 'asia-southeast1'}
OCI_REGIONS = ['us-ashburn-1', 'us-phoenix-1', 'eu-frankfurt-1', 'uk-london-1', 'ap-tokyo-1']
# Eight H200 alone at the list price of 2025-06; a machine below that is at a commitment's level.
GCP_H200_LIST = Decimal('74.49392')
GCP_ZONAL = re.compile(r'^(tpu-|n1-standard-\d+\+|a3-ultragpu-|a4-highgpu-)')
TPU_PLACEHOLDER = 700  # what the catalogue has for every size of TPU v6e where it is not sold
NO_SPOT = 'source prints spot equal to on demand, which is no spot price'
TERM_H = {'1y': 8760, '3y': 26280}
# A savings plan bound to one family is to a free one as a standard reserved instance to a convertible.
SAVINGS_CLASS = {'instance savings plan': 'standard', 'compute savings plan': 'convertible'}


class Offers:
    def __init__(self, facts, sources, gpus, imports):
        self.facts, self.sources, self.gpus, self.imports = facts, sources, gpus, imports
        self.rows = {}
        self.second = []  # what another source says of the same offer, where it differs
        self.types = {}
        self.skipped = {}

    # -- rows ---------------------------------------------------------------------------------
    def skip(self, why):
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def put(self, vendor, region, itype, purchase, price, source, zone='', currency='USD', payment='',
            offering_class='', upfront='', price_month='', as_of='', state='', note='', sku=''):
        price, upfront = decimal_text(price), decimal_text(upfront)
        if not state:
            free = is_zero(price) and is_zero(upfront) and is_zero(price_month)
            state = 'none' if free else 'known'
        if state != 'known':
            price, upfront, price_month = '', '', ''
        row = {'vendor': vendor, 'region': region, 'zone': zone, 'instance_type': itype,
               'purchase': purchase, 'payment': payment, 'offering_class': offering_class,
               'price_state': state, 'price_per_hour': price, 'upfront': upfront,
               'price_month': price_month, 'currency': currency, 'sku': sku,
               'as_of': as_of or self.sources.as_of(source), 'valid_from': '', 'valid_to': '',
               'source': source, 'note': note}
        row['valid_from'] = row['as_of']
        key = (vendor, region, zone, itype, purchase, payment, offering_class)
        old = self.rows.get(key)
        if old:
            newer, older = (row, old) if row['as_of'] >= old['as_of'] else (old, row)
            if old['price_state'] == 'known' and state != 'known':
                newer, older = old, row
            elif state == 'known' and old['price_state'] != 'known':
                newer, older = row, old
            if differ(newer, older):
                self.second.append(older)
            row = newer
        self.rows[key] = row
        self.sources.use(row['source'])
        return row

    def machine(self, vendor, itype, gpu=None, word='', count='', source='', **facts):
        """Registers the type once; later calls only fill fields that are still empty."""
        found = gpu or self.gpus.lookup(vendor, itype, word, count)
        cloud = 'aws' if vendor == 'aws-cn' else vendor
        known = self.gpus.types.get((cloud, itype))
        row = self.types.setdefault((vendor, itype), dict.fromkeys(TYPE_COLUMNS, ''))
        if not row['vendor']:
            row.update(vendor=vendor, instance_type=itype, gpu_num='0', gpu_den='1', source=source)
            if found:
                model, n = found
                row.update(gpu=model, gpu_num=str(n.numerator), gpu_den=str(n.denominator),
                           gpu_memory_gib=self.gpus.memory(model, n))
            if known:
                row.update(vcpus=known['vcpus'], memory_gib=known['mem_gb'],
                           local_nvme_gb=known['local_nvme_gb'], network_gbps=known['network_gbps'],
                           disk_mbps=known['disk_mbps'], nvlink=known['nvlink'],
                           source='gpu-instances-2026-09')
        for k, v in facts.items():
            if not row[k] and v not in ('', None):
                row[k] = decimal_text(str(v)) if k != 'nvlink' else v
        self.sources.use(row['source'])

    def imported(self, key, kind, files, vendor=''):
        """What the program's importer makes of recorded files, on the day of the recording."""
        return self.imports.offers(kind, files, self.sources.as_of(key), vendor)

    def imported_machine(self, r, key, **facts):
        gpu = None
        if r['count']:
            gpu = self.gpus.meant(r['vendor'], r['gpu'], r['gpu_memory_gib']), r['count']
        facts = {c: r[c] for c in ('vcpus', 'memory_gib', 'local_nvme_gb', 'gpu_memory_gib')} | facts
        self.machine(r['vendor'], r['instance_type'], gpu=gpu, source=key, **facts)

    def put_imported(self, r, key, region='', note=''):
        return self.put(r['vendor'], region or r['region'], r['instance_type'], r['purchase'], r['price'], key,
                        zone=r['zone'], currency=r['currency'], note=join(r['note'], note))

    def spot(self, vendor, region, zone, itype, spot, on_demand, source, note=''):
        if is_zero(on_demand):
            self.put(vendor, region, itype, 'spot', spot, source, zone=zone, note=note)
        elif no_signal(spot, on_demand):
            self.put(vendor, region, itype, 'spot', '', source, zone=zone, note=join(note, NO_SPOT))
        else:
            over = Decimal(spot) > Decimal(on_demand)
            self.put(vendor, region, itype, 'spot', spot, source, zone=zone,
                     note=join(note, 'spot above on demand in the source' if over else ''))

    # -- AWS ----------------------------------------------------------------------------------
    def aws(self):
        moto = {r['instance_type']: r for r in self.facts.rows('catalog/aws-instance-types-moto-2026-08.csv')}
        self.moto = moto
        for r in self.facts.rows('catalog/aws-gpu-more-regions.csv'):
            if 'dedicated-tenancy' in r['quality'] or r['source'].startswith('apache/libcloud'):
                continue
            if not self.aws_type('aws', r['instance_type']):
                continue
            key = 'tsaol-aws-2026-01-21' if r['source'].startswith('tsaol') else 'anycloud-aws-2026-04-02'
            if not is_zero(r['price_per_hour']):
                self.put('aws', r['region'], r['instance_type'], 'on_demand', r['price_per_hour'], key)
            if r['spot_max']:
                note = f"highest of the zones read; range {r['spot_min']}-{r['spot_max']}"
                same = no_signal(r['spot_max'], r['price_per_hour'])
                self.put('aws', r['region'], r['instance_type'], 'spot', r['spot_max'], key,
                         state='none' if same else '', note=NO_SPOT if same else note)
        for r in self.facts.rows('catalog/aws-ondemand-karpenter-2026-07-20.csv'):
            cn = r['region'].startswith('cn-')
            vendor = 'aws-cn' if cn else 'aws'
            itype = r['instance_type']
            gpu = self.aws_is_gpu(itype)
            if not gpu and not (AWS_CPU.match(itype) and r['region'] in ('us-east-1', 'cn-north-1')):
                continue
            if not self.aws_type(vendor, itype):
                continue
            self.put(vendor, r['region'], itype, 'on_demand', r['price_per_hour'],
                     'karpenter-aws-2024-11-06' if cn else 'karpenter-aws-2026-07-20',
                     currency=r['currency'])
        for r in self.facts.rows('catalog/aws-eu-west-1-ec2-linux-2023-02-23.csv.gz'):
            if AWS_CPU.match(r['instance_type']) and r['term'] == 'OnDemand':
                self.aws_type('aws', r['instance_type'])
                self.put('aws', r['region'], r['instance_type'], 'on_demand', r['usd'],
                         'terracost-aws-2023-02-23')
        self.aws_spot_v8()
        self.aws_spot_2022()
        for region in ('us-east-1', 'us-west-2'):
            self.put('aws', region, 'p5e.48xlarge', 'on_demand', '', 'tsaol-aws-2026-01-21',
                     state='sold_otherwise', note='sold only as capacity blocks')

    def aws_is_gpu(self, itype):
        r = self.moto.get(itype)
        if ('aws', itype) in self.gpus.types:
            return True
        return bool(r and (r['gpu_maker'] or r['neuron_name']) and itype.split('.')[0] != 'vt1')

    def aws_type(self, vendor, itype):
        r = self.moto.get(itype, {})
        gpu = None
        if self.aws_is_gpu(itype) or itype.startswith(('g2.', 'dl1.')):
            gpu = self.gpus.lookup('aws', itype, count=r.get('gpu_count', ''))
            if not gpu:
                self.skip(f'aws {itype}: GPU or its count not in the tables')
                return False
        disk = r.get('ebs_max_mbps')
        self.machine(vendor, itype, gpu=gpu, source='moto-aws-2026-08-02' if r else 'tsaol-aws-2026-01-21',
                     vcpus=r.get('vcpu'), local_nvme_gb=r.get('instance_storage_gb'),
                     memory_gib=float(r['memory_mib']) / 1024 if r.get('memory_mib') else '',
                     network_gbps=r.get('net_baseline_gbps'),
                     disk_mbps=f'{float(disk) / 8:g}' if disk else '')
        return True

    def aws_spot_v8(self):
        """An undated list. Where it has one zone at less than half of what the dated advisor says of the type in the
        region, and no second zone there within a factor of two, that price is left out."""
        key = 'skypilot-aws-v8'
        saving = {(r['region'], r['instance_type']): r['savings_pct']
                  for r in self.imports.bands(['catalog/aws-spot-advisor-linux-2025-06-28.csv.gz'], '2025-06-28')}
        rows = self.imported(key, 'skypilot', ['catalog/aws-gpu-rows-skypilot-v8.csv'], 'aws')
        full = {(r['zone'], r['instance_type']): Decimal(r['price'])
                for r in rows if r['purchase'] == 'on_demand' and r['price']}
        spot = [r for r in rows if r['purchase'] == 'spot' and self.aws_type('aws', r['instance_type'])]
        pools = {}
        for r in spot:
            pools.setdefault((r['region'], r['instance_type']), []).append(Decimal(r['price']))
        for r in spot:
            pool, price = (r['region'], r['instance_type']), Decimal(r['price'])
            usual = full.get((r['zone'], pool[1]), 0) * (100 - Decimal(saving.get(pool) or 100)) / 100
            if price * 2 < usual and sum(other <= price * 2 for other in pools[pool]) == 1:
                self.skip(f"aws v8: undated spot price of one zone, half or less of the dated advisor's: {pool[1]} "
                          f"{r['zone']} {price}, usual {usual:.4f}")
                continue
            self.put_imported(r, key, note='source undated, not before 2025-11')

    def aws_spot_2022(self):
        """Types whose spot price nobody recorded later; last value of 2022-05-31, kept only below on demand."""
        have = {(k[1], k[3]) for k in self.rows if k[0] == 'aws' and k[4] == 'spot'}
        last = {}
        for r in self.imports.points(['catalog/aws-spot-history-all-2022-05-31.csv.gz'], '2022-06-01'):
            last[(r['instance_type'], r['zone'])] = r
        for (itype, zone), r in sorted(last.items()):
            region, price = r['region'], r['price']
            od = self.rows.get(('aws', region, '', itype, 'on_demand', '', ''))
            if not od or od['price_state'] != 'known' or (region, itype) in have:
                continue
            if ('aws', itype) not in self.types or self.types[('aws', itype)]['gpu_num'] == '0':
                continue
            if Decimal(price) >= Decimal(od['price_per_hour']):
                continue
            self.put('aws', region, itype, 'spot', price, 'pauley-spot-2022-05-31', zone=zone,
                     note='spot price of 2022-05-31, nothing newer recorded')

    def aws_commitments(self):
        listed = set()
        rows = [r for r in self.facts.rows('catalog/commitment-prices.csv')]
        for r in rows:
            if r['vendor'] == 'aws' and r['date'] == '2026-01-21':
                listed.add((r['region'], r['instance_type']))
                if self.aws_type('aws', r['instance_type']):
                    self.put('aws', r['region'], r['instance_type'], 'reserved_1y', r['per_hour'],
                             'tsaol-aws-2026-01-21', payment='none', offering_class='standard')
        for r in rows:
            if r['vendor'] == 'aws' and r['date'] != '2026-01-21':
                self.aws_old_commitment(r, listed)
            elif r['vendor'] == 'aws-china':
                self.aws_cn_commitment(r)

    def aws_old_commitment(self, r, listed):
        """Older than 2026: only where reservations are still sold and on demand has not moved."""
        od = self.rows.get(('aws', r['region'], '', r['instance_type'], 'on_demand', '', ''))
        if (r['region'], r['instance_type']) not in listed or not od or od['price_state'] != 'known':
            self.skip('aws: old commitment of a type that is no longer sold reserved')
            return
        if r['payment'] == 'partial upfront':
            self.skip('commitment: split of a partial upfront payment not recorded')
            return
        then, now = r['on_demand_per_hour'], od['price_per_hour']
        if 'probable' in r['quality'] or not then or abs(Decimal(then) / Decimal(now) - 1) > Decimal('0.01'):
            self.skip('aws: old commitment whose on-demand price has moved since')
            return
        key = {'2019-04-05': 'cristim-aws-2019-04-05', '2023-02-23': 'terracost-aws-2023-02-23',
               '2023-08-30': 'leanercloud-aws-2023-08-30'}[r['date']]
        note = f"recorded {r['date']}; on demand is unchanged since"
        self.commitment('aws', r, key, note)

    def aws_cn_commitment(self, r):
        if r['payment'] == 'partial upfront':
            self.skip('commitment: split of a partial upfront payment not recorded')
            return
        if self.aws_type('aws-cn', r['instance_type']):
            self.commitment('aws-cn', r, 'tsaol-aws-cn-2025-12-19', '')

    def commitment(self, vendor, r, key, note):
        kind = 'savings_plan' if 'savings plan' in r['commitment'] else 'reserved'
        cls = SAVINGS_CLASS.get(r['commitment']) or r['commitment'].rsplit(' ', 1)[-1]
        years = r['term']
        if r['payment'] == 'all upfront':
            upfront = r['upfront'] or str(Decimal(r['effective_per_hour']) * TERM_H[years])
            if not r['upfront'] or 'derived' in r['quality']:
                note = join(note, f'upfront = recorded effective rate x {TERM_H[years]} h')
            price, payment = '0', 'all'
        else:
            price, upfront, payment = r['per_hour'] or r['effective_per_hour'], '', 'none'
        self.put(vendor, r['region'], r['instance_type'], f'{kind}_{years}', price, key,
                 payment=payment, offering_class=cls, upfront=upfront, currency=r['currency'], note=note)

    # -- Azure --------------------------------------------------------------------------------
    def azure(self):
        spec = {r['instance_type']: r for r in self.facts.rows('catalog/azure-instance-types-autoscaler.csv')}
        key = 'anycloud-azure-2026-05-20'
        catalogue = self.imported(key, 'skypilot', ['catalog/skypilot-format-azure-vms-2026-05-20.csv.gz'], 'azure')
        full = {(r['region'], r['instance_type']): r for r in catalogue if r['purchase'] == 'on_demand'}
        for r in self.facts.rows('catalog/azure-ondemand-karpenter-2026-06-18.csv.gz'):
            if self.azure_type(r['region'], r['sku'].strip(), spec):
                if windows(r['usd_per_hour'], full.get((r['region'], r['sku'].strip()))):
                    self.skip("azure: a Windows machine's price in Karpenter's list")
                    continue
                self.put('azure', r['region'], r['sku'].strip(), 'on_demand', r['usd_per_hour'],
                         'karpenter-azure-2026-06-18')
        for r in catalogue:
            itype = r['instance_type']
            if not self.azure_type(r['region'], itype, spec):
                continue
            self.machine('azure', itype, source=key, vcpus=r['vcpus'], memory_gib=r['memory_gib'])
            if r['purchase'] == 'spot':
                od = self.rows[('azure', r['region'], '', itype, 'on_demand', '', '')]['price_per_hour']
                note = ''
                if itype == 'Standard_NCC40ads_H100_v5':
                    note = 'confidential size, another product than NC40ads_H100_v5'
                self.spot('azure', r['region'], '', itype, r['price'], od, key, note)
            else:
                self.put_imported(r, key)

    def azure_type(self, region, itype, spec):
        if ' ' in itype or re.search(r'_Type', itype) or itype.endswith('_Promo'):
            return False
        gpu = None
        if re.match(r'^Standard_N[CDGMPV]', itype):
            gpu = self.gpus.lookup('azure', itype)
            if not gpu:
                self.skip(f'azure {itype}: GPU or its count not in the tables')
                return False
        elif not (AZURE_CPU.match(itype) and region in AZURE_CPU_REGIONS):
            return False
        s = spec.get(itype, {})
        self.machine('azure', itype, gpu=gpu, source='autoscaler-azure-2026-03-17' if s else
                     'karpenter-azure-2026-06-18', vcpus=s.get('vcpu'),
                     memory_gib=float(s['memory_mb']) / 1024 if s.get('memory_mb') else '')
        return True

    # -- Google -------------------------------------------------------------------------------
    def gcp(self):
        key = 'gcosts-gcp-2026-07-30'
        for r in self.facts.rows('catalog/gcp-instances-gcosts-2026-07-30.csv.gz'):
            itype, region = r['instance_type'], r['region']
            gpu = None
            if r['gpu']:
                gpu = (self.gpus.lookup('gcp', itype) or
                       ({'rtx6000': 'RTX PRO 6000 BSE'}[r['gpu']], Fraction(r['gpu_count'])))
            elif not (GCP_CPU.match(itype) and region in GCP_CPU_REGIONS):
                continue
            self.machine('gcp', itype, gpu=gpu, source=key, vcpus=r['vcpu'], memory_gib=r['ram_gb'],
                         local_nvme_gb=r['local_ssd_gb'])
            self.put('gcp', region, itype, 'on_demand', r['usd_per_hour'], key)
            if not is_zero(r['spot_usd_per_hour']):
                self.spot('gcp', region, '', itype, r['spot_usd_per_hour'], r['usd_per_hour'], key)
            for years in ('1y', '3y'):
                monthly = r[f'cud{years}_usd_per_month']
                if not is_zero(monthly):
                    self.put('gcp', region, itype, f'committed_use_{years}', per_month(monthly), key,
                             note=f'vendor sells {monthly} per month; hourly = month / 730 to 12 decimals')
        self.gcp_zones()

    def gcp_zones(self):
        """Prices by zone: machines with accelerators of one's choice, H200, B200, TPUs; of the machines that the
        list above has whole, what this one says where it differs."""
        key = 'anycloud-gcp-2026-05-20'
        rows = self.imported(key, 'skypilot', ['catalog/skypilot-format-gcp-vms-2026-05-20.csv.gz'], 'gcp')
        full = {(r['zone'], r['instance_type']): r['price'] for r in rows if r['purchase'] == 'on_demand'}
        for r in rows:
            itype = r['instance_type']
            if not r['count'] or '-nolssd' in itype:
                continue
            if GCP_ZONAL.match(itype):
                self.gcp_zonal(r, full.get((r['zone'], itype), ''), key)
            elif r['purchase'] == 'on_demand' and r['price']:
                self.gcp_whole(r, key)

    def gcp_zonal(self, r, full, key):
        itype, note, price = r['instance_type'], r['note'], r['price']
        if itype.startswith('tpu-'):
            if r['count'] > 32:
                self.skip('gcp: TPU slices above 32 chips')
                return
            if price and Decimal(price) == TPU_PLACEHOLDER:
                note, price = f'source prints {price} for every size, a placeholder', ''
        elif r['purchase'] == 'on_demand' and (itype.startswith('a4-') or (
                itype.startswith('a3-ultra') and price and Decimal(price) < GCP_H200_LIST)):
            note, price = f'source prints {price}, at the level of a commitment; not sold as plain on demand', ''
        self.imported_machine(r, key)
        if r['purchase'] == 'spot' and price:
            self.spot('gcp', r['region'], r['zone'], itype, price, full, key, note)
        else:
            self.put('gcp', r['region'], itype, r['purchase'], price, key, zone=r['zone'], note=note)

    def gcp_whole(self, r, key):
        now = self.rows.get(('gcp', r['region'], '', r['instance_type'], 'on_demand', '', ''))
        if not now:
            return
        row = dict(now, price_per_hour=r['price'], source=key, as_of=self.sources.as_of(key),
                   valid_from=self.sources.as_of(key), note=r['note'])
        if differ(now, row) and row not in self.second:
            self.second.append(row)


def windows(price, other):
    """Dearer than the other catalogue by exactly the licence: 0.046 USD an hour for each vCPU."""
    if not other or not other['price'] or not other['vcpus']:
        return False
    licence = Decimal(other['vcpus']) * Decimal('0.046')
    return abs(Decimal(price) - Decimal(other['price']) - licence) <= Decimal('0.001')


def join(a, b):
    return '; '.join(x for x in (a, b) if x)


def differ(newer, older):
    """Another source differs by more than 1 %: both rows are kept, the program says which it shows."""
    if newer['price_state'] != 'known' or older['price_state'] != 'known' or newer['source'] == older['source']:
        return False
    a, b = Decimal(newer['price_per_hour'] or 0), Decimal(older['price_per_hour'] or 0)
    return a != 0 and b != 0 and abs(a / b - 1) > Decimal('0.01')
