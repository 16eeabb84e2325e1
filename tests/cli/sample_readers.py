"""Independent readers of the vendors' sample files for samples.py: each yields every row that an
importer has to make of a file, worked out from docs/pricing-sources.md with exact decimals. Rows:
  ('offer', vendor, region, zone, type, how, GPUs, price, upfront, currency); how: purchase option,
      "/payment" and "/class" where there are any; GPUs: a fraction or None
  ('storage', vendor, region, tier, component, from, to, rate of one unit, unit, currency)
  ('transfer', vendor, region, destination, from, to, rate, currency)
  ('history', vendor, region, zone, type, time, price, free places), ('fx', currency, day, per USD)
  ('interruption', vendor, region, type, low, high, saving)"""
import csv
import datetime
import io
import json
import re
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

PLACES = {'US East (N. Virginia)': 'us-east-1', 'US East (Ohio)': 'us-east-2', 'US West (Oregon)': 'us-west-2',
          'EU (Ireland)': 'eu-west-1', 'EU (Paris)': 'eu-west-3', 'EU (Frankfurt)': 'eu-central-1',
          'Asia Pacific (Sydney)': 'ap-southeast-2', 'China (Ningxia)': 'cn-northwest-1'}
# the rows of a database, as the program stores them
QUERIES = {
    'offer': 'SELECT l.vendor, l.region, l.zone, t.name, q.name, o.payment, o.offering_class, t.gpu_num, t.gpu_den, '
             'o.price_state, o.price, o.upfront, o.currency, t.gpu, o.price_month, o.note FROM offer o JOIN place l ON l.id = '
             'o.place JOIN instance_type t ON t.id = o.instance_type JOIN purchase_option q ON q.id = o.purchase',
    'storage': 'SELECT l.vendor, l.region, s.tier, s.component, s.from_qty, s.to_qty, s.rate, s.unit_qty, s.unit, s.currency '
               'FROM storage_rate s JOIN place l ON l.id = s.place',
    'transfer': 'SELECT l.vendor, l.region, s.destination, s.from_gb, s.to_gb, s.rate, s.currency FROM transfer_rate s '
                'JOIN place l ON l.id = s.place',
    'history': "SELECT l.vendor, l.region, l.zone, t.name, datetime(s.time, 'unixepoch'), s.price, s.available FROM "
               'spot_point s JOIN place l ON l.id = s.place JOIN instance_type t ON t.id = s.instance_type',
    'interruption': 'SELECT l.vendor, l.region, t.name, s.band_lo_pct, s.band_hi_pct, s.savings_pct FROM interruption s '
                    'JOIN place l ON l.id = s.place JOIN instance_type t ON t.id = s.instance_type',
    'fx': "SELECT currency, date(date, 'unixepoch'), per_usd FROM fx"}
NOW = '2026-12-02 00:00:00'


def whole(x):
    """As many digits as the store keeps."""
    return Decimal(x).quantize(Decimal('1e-12'), ROUND_HALF_EVEN).normalize() + 0


def offer(vendor, region, kind, how, price, gpus=None, zone='', upfront=None, currency='USD'):
    return ('offer', vendor, region, zone, kind, how, gpus and Fraction(gpus), price if price is None else whole(price),
            None if upfront is None else whole(upfront), currency)


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- AWS ---------------------------------------------------------------------------------------

ATTRIBUTES = {'Product Family': 'productFamily', 'Operating System': 'operatingSystem', 'Tenancy': 'tenancy',
              'Pre Installed S/W': 'preInstalledSw', 'CapacityStatus': 'capacitystatus', 'MarketOption': 'marketoption',
              'License Model': 'licenseModel', 'usageType': 'usagetype', 'operation': 'operation',
              'Instance Type': 'instanceType', 'Region Code': 'regionCode', 'Location': 'location', 'GPU': 'gpu',
              'Storage Class': 'storageClass', 'Volume Type': 'volumeType', 'Access Type': 'accessType',
              'From Location': 'fromLocation', 'To Location': 'toLocation', 'Transfer Type': 'transferType'}


def aws_rows(text):
    """The service and (attributes and price together) of each price of an offer file."""
    if text.lstrip()[0] == '{':
        d = json.JSONDecoder(parse_float=Decimal).decode(text)
        rows = []
        for terms in d['terms'].values():
            for sku, by_term in terms.items():
                product = d['products'][sku]
                have = dict(product['attributes'], productFamily=product.get('productFamily', ''))
                for term in by_term.values():
                    for price in term['priceDimensions'].values():
                        (currency, amount), = price['pricePerUnit'].items()
                        lease = term.get('termAttributes', {})
                        rows.append(dict({k: have.get(v, '') for k, v in ATTRIBUTES.items()}, SKU=sku, Unit=price['unit'],
                                         OfferTermCode=term['offerTermCode'], PricePerUnit=amount, Currency=currency,
                                         StartingRange=price.get('beginRange', ''), EndingRange=price.get('endRange', ''),
                                         LeaseContractLength=lease.get('LeaseContractLength', ''),
                                         PurchaseOption=lease.get('PurchaseOption', ''),
                                         OfferingClass=lease.get('OfferingClass', '')))
        return d['offerCode'], rows
    lines = list(csv.reader(io.StringIO(text)))
    head = next(i for i, r in enumerate(lines) if r and r[0] == 'SKU')
    columns = [c[0].upper() + c[1:] if c in ('storageClass', 'volumeType') else c for c in lines[head]]
    rows = []
    for r in lines[head + 1:]:
        if len(r) > 10:
            have = dict(zip(columns, r))
            rows.append({k: have.get(k, '').strip() for k in [*ATTRIBUTES, *columns]})
    code = next((r[1] for r in lines[:head] if r[0] == 'OfferCode' and len(r) > 1), '') or rows[0].get('serviceCode', '')
    return code.replace('TEST', ''), rows


def aws_region(row):
    return row['Region Code'] or PLACES.get(row['Location'])


def usage(row):
    return re.sub(r'^([A-Z0-9]+-)+', '', row['usageType'])


def is_machine(row):
    metal = row['Product Family'] == 'Compute Instance (bare metal)'
    return ((row['Product Family'] == 'Compute Instance' or metal) and row['Operating System'] == 'Linux' and
            (row['Tenancy'] == 'Shared' or metal) and row['Pre Installed S/W'] in ('NA', '') and row['CapacityStatus'] == 'Used' and
            row['License Model'] == 'No License required' and re.match(r'(BoxUsage|DedicatedUsage)(:|$)' if metal else r'BoxUsage(:|$)', usage(row)))


def aws_gpus(row):
    """The list's count, but where it has none for machines that have GPUs (fault of the list)."""
    return {'p5en.48xlarge': 8, 'p2.xlarge': 1, 'p2.8xlarge': 8, 'p2.16xlarge': 16, 'g4dn.metal': 8}.get(
        row['Instance Type'], None if row['GPU'] in ('', 'NA') else Fraction(row['GPU']))


def aws_offers(rows):
    reserved = {}
    for r in rows:
        if not is_machine(r) or not aws_region(r):
            continue
        region, kind = aws_region(r), r['Instance Type']
        vendor = 'aws-cn' if region.startswith('cn-') else 'aws'
        price = Decimal(r['PricePerUnit'])
        if r['MarketOption'] == 'CapacityBlock':
            yield offer(vendor, region, kind, 'capacity_block', price or None, aws_gpus(r), currency=r['Currency'])
        elif r['LeaseContractLength']:
            how = 'reserved_%sy/%s/%s' % (r['LeaseContractLength'][0], r['PurchaseOption'].split('U')[0].strip().lower(),
                                         r['OfferingClass'])
            at = (vendor, region, kind, how.replace('/no/', '/none/'), r['SKU'], r['OfferTermCode'])
            reserved.setdefault(at, {'gpus': aws_gpus(r), 'Hrs': 0, 'currency': r['Currency']})[r['Unit']] = price
        elif price and r['operation'] == 'RunInstances':
            yield offer(vendor, region, kind, 'on_demand', price, aws_gpus(r), currency=r['Currency'])
    for (vendor, region, kind, how, *_), p in reserved.items():
        yield offer(vendor, region, kind, how, p['Hrs'], p['gpus'], upfront=p.get('Quantity'), currency=p['currency'])


# usage type -> tier and components; requests are told per request
RATES = {
    'AmazonEC2': {'EBS:VolumeUsage.' + v: ('ebs_' + t, ['storage']) for v, t in
                  (('gp2', 'gp2'), ('gp3', 'gp3'), ('piops', 'io1'), ('io2', 'io2'), ('st1', 'st1'), ('sc1', 'sc1'))},
    'AmazonS3': {
        'TimedStorage-ByteHrs': ('s3_standard', ['storage']), 'TimedStorage-SIA-ByteHrs': ('s3_standard_ia', ['storage']),
        'TimedStorage-ZIA-ByteHrs': ('s3_onezone_ia', ['storage']),
        'TimedStorage-RRS-ByteHrs': ('s3_reduced_redundancy', ['storage']),
        'TimedStorage-GlacierByteHrs': ('s3_glacier_flexible', ['storage']),
        'EarlyDelete-ByteHrs': ('s3_glacier_flexible', ['early_delete']),
        'EarlyDelete-SIA': ('s3_standard_ia', ['early_delete']), 'EarlyDelete-ZIA': ('s3_onezone_ia', ['early_delete']),
        'Retrieval-SIA': ('s3_standard_ia', ['retrieval']), 'Retrieval-ZIA': ('s3_onezone_ia', ['retrieval']),
        'Bulk-Retrieval-Bytes': ('s3_glacier_flexible', ['retrieval_bulk']),
        'Standard-Retrieval-Bytes': ('s3_glacier_flexible', ['retrieval']),
        'Expedited-Retrieval-Bytes': ('s3_glacier_flexible', ['retrieval_expedited']),
        'Requests-Tier1': ('s3_standard', ['put', 'list']), 'Requests-Tier2': ('s3_standard', ['get']),
        'Requests-Tier3': ('s3_glacier_flexible', ['put', 'transition', 'retrieval_request']),
        'Requests-Tier5': ('s3_glacier_flexible', ['retrieval_request_bulk']),
        'Requests-Tier6': ('s3_glacier_flexible', ['retrieval_request_expedited']),
        'Requests-SIA-Tier1': ('s3_standard_ia', ['put']), 'Requests-SIA-Tier2': ('s3_standard_ia', ['get']),
        'Requests-ZIA-Tier1': ('s3_onezone_ia', ['put']), 'Requests-ZIA-Tier2': ('s3_onezone_ia', ['get'])},
    'AmazonS3GlacierDeepArchive': {'TimedStorage-GDA-ByteHrs': ('s3_deep_archive', ['storage'])},
    'AmazonEFS': {
        'TimedStorage-ByteHrs': ('efs_standard', ['storage']), 'IATimedStorage-ByteHrs': ('efs_ia', ['storage']),
        'TimedStorage-Z-ByteHrs': ('efs_onezone', ['storage']), 'IATimedStorage-Z-ByteHrs': ('efs_onezone_ia', ['storage']),
        'ArchiveTimedStorage-ByteHrs': ('efs_archive', ['storage']),
        'IADataAccess-Bytes': ('efs_ia', {'Read': ['retrieval'], 'Write': ['transition']})}}
RATES['AmazonEC2'].update({
    'EBS:VolumeP-IOPS.piops': ('ebs_io1', ['provisioned_iops']), 'EBS:VolumeP-IOPS.gp3': ('ebs_gp3', ['provisioned_iops']),
    'EBS:VolumeP-IOPS.io2': ('ebs_io2', ['provisioned_iops']), 'EBS:VolumeP-Throughput.gp3': ('ebs_gp3', ['throughput'])})
UNITS = {'GB-Mo': 'gib_month', 'GB-month': 'gib_month', 'GB': 'gib', 'Requests': 'request', 'IOPS-Mo': 'iops_month',
         'GiBps-mo': 'mibps_month', 'MiBps-Mo': 'mibps_month'}
CLASSES = {'s3_standard': 'Standard', 's3_standard_ia': 'Standard - Infrequent Access', 'efs_standard': 'General Purpose',
           'efs_ia': 'Infrequent Access', 'efs_archive': 'Archive'}


def end_of(text):
    return None if text in ('Inf', '', None) else Decimal(text)


def aws_storage(code, rows):
    seen = set()
    for r in rows:
        word, region = usage(r), aws_region(r)
        targets = [('ebs_' + v, 'snapshot') for v in ('gp2', 'gp3', 'io1', 'io2', 'st1', 'sc1')] \
            if word == 'EBS:SnapshotUsage' else []
        if word in RATES.get(code, {}):
            tier, parts = RATES[code][word]
            said = r['Volume Type'] if code == 'AmazonS3' else r['Storage Class']
            if 'storage' in parts and tier in CLASSES and said and said != CLASSES[tier]:
                continue  # "INVALID - NAME", a staging class
            parts = parts if isinstance(parts, list) else parts[r['Access Type']]
            if r['Product Family'] == 'Provisioned Throughput':
                parts = ['throughput']
            targets = [(tier, p) for p in parts]
        if code == 'AmazonS3' and word == 'Requests-Tier4':
            targets = [('s3_' + t, 'transition') for t in ('standard_ia', 'onezone_ia', 'intelligent_tiering')]
        rate = Decimal(r['PricePerUnit'].strip('" ')) / (1024 if r['Unit'] == 'GiBps-mo' else 1)
        for tier, part in targets:
            key = (region, tier, part, r['StartingRange'])
            if region and key not in seen:
                seen.add(key)
                vendor = 'aws-cn' if region.startswith('cn-') else 'aws'
                yield ('storage', vendor, region, tier, part, Decimal(r['StartingRange'] or 0), end_of(r['EndingRange']),
                       whole(rate), UNITS[r['Unit']], r['Currency'])


def aws_offer(text):
    code, rows = aws_rows(text)
    yield from aws_offers(rows)
    yield from aws_storage(code, rows)
    for r in rows if code == 'AWSDataTransfer' else []:
        region = PLACES.get(r['From Location'])
        to = {'AWS Outbound': 'internet', 'IntraRegion': 'other_az'}.get(r['Transfer Type'])
        if region and to and 'MRAP' not in r['operation']:
            yield ('transfer', 'aws', region, to, Decimal(r['StartingRange']), end_of(r['EndingRange']),
                   whole(r['PricePerUnit']), r['Currency'])


def savings_plan(text):
    for plan in json.loads(text, parse_float=Decimal)['terms']['savingsPlan']:
        years = plan['leaseContractLength']['duration']
        for rate in plan['rates']:
            kind = re.search(r'(?:^|-)BoxUsage:(.*)$', rate['discountedUsageType'])
            if kind and rate['discountedServiceCode'] == 'AmazonEC2' and rate.get('discountedOperation', 'RunInstances') == 'RunInstances' and \
                    '_not_found_' not in rate['discountedSku']:
                option = re.search(r'(No|Partial|All) Upfront', plan['description']).group(1)
                hours = Decimal(rate['discountedRate']['price']) * 8760 * years
                yield offer('aws', 'eu-west-1', kind.group(1), 'savings_plan_%dy/%s/convertible' % (years, option.lower()),
                            0, upfront=hours)


def history(rows):
    """Linux; what is told for the VPC only counts where there is no other word."""
    rows = list(rows)
    plain = {(zone, kind) for zone, kind, system, *_ in rows if system == 'Linux/UNIX'}
    for zone, kind, system, price, time in rows:
        if system == 'Linux/UNIX' or (system == 'Linux/UNIX (Amazon VPC)' and (zone, kind) not in plain):
            code = re.match(r'(euc|euw)(\d)-az', zone)
            region = {'euc': 'eu-central-', 'euw': 'eu-west-'}[code.group(1)] + code.group(2) if code else zone[:-1]
            when = datetime.datetime.fromisoformat(time.replace('Z', '+00:00')).astimezone(datetime.timezone.utc)
            yield ('history', 'aws', region, zone, kind, when.strftime('%Y-%m-%d %H:%M:%S'), whole(price), None)


def spot_json(text):
    return history((r['AvailabilityZone'], r['InstanceType'], r['ProductDescription'], r['SpotPrice'], r['Timestamp'])
                   for r in json.loads(text)['SpotPriceHistory'])


def spot_xml(text):
    def of(item, name):
        return re.search('<%s>(.*?)</%s>' % (name, name), item).group(1)
    return history([of(i, n) for n in ('availabilityZone', 'instanceType', 'productDescription', 'spotPrice', 'timestamp')]
                   for i in re.findall('<item>(.*?)</item>', text, re.S))


def spot_tsv(text):
    return history(r[:5] for r in csv.reader(io.StringIO(text), delimiter='\t') if len(r) >= 5)


def website(text):
    names = {'us-east': 'us-east-1', 'us-west': 'us-west-1', 'eu-ireland': 'eu-west-1'}
    d = json.loads(text[text.index('{', max(0, text.find('callback('))):text.rindex('}') + 1])
    for region in d['config']['regions']:
        for family in region['instanceTypes']:
            for size in family['sizes']:
                for column in size['valueColumns']:
                    price = column['prices']['USD']
                    if column['name'] == 'linux' and not price.startswith('N/A'):
                        yield offer('aws', names.get(region['region'], region['region']), size['size'], 'spot', price)


def advisor(text):
    d = json.loads(text)
    low = [0, 5, 10, 15, 20]
    top = {0: 5, 1: 10, 2: 15, 3: 20, 4: None}
    for region, systems in d['spot_advisor'].items():
        for kind, r in systems.get('Linux', {}).items():
            yield ('interruption', 'aws', region, kind, low[r['r']], top[r['r']], r['s'])


# --- the other clouds --------------------------------------------------------------------------

def gcp_a2(text):
    part = {}
    for s in json.loads(text)['skus']:
        for rate in s['pricingInfo'][-1]['pricingExpression']['tieredRates']:
            price = rate['unitPrice']
            if price['currencyCode'] == 'USD' and s['category']['usageType'] == 'OnDemand':
                value = Decimal(price.get('units') or 0) + Decimal(price.get('nanos') or 0) / 10**9
                what = next((w for w in ('GPU', 'Core', 'Ram') if w in s['description']), None)
                if value and 'A2 ' in s['description'] + ('A2 ' if what == 'GPU' else ''):
                    for region in s['serviceRegions']:
                        part[region, what] = value
    for region in {r for r, _ in part}:
        for n, name in ((1, 'a2-highgpu-1g'), (2, 'a2-highgpu-2g'), (4, 'a2-highgpu-4g'), (8, 'a2-highgpu-8g'),
                        (16, 'a2-megagpu-16g')):
            core, ram = (12 * n, 85 * n) if n < 16 else (96, 1360)
            yield offer('gcp', region, name, 'on_demand', part[region, 'Core'] * core + part[region, 'Ram'] * ram +
                        part[region, 'GPU'] * n, n)


def gcp_gpus(text):
    """GPU SKUs without machines: kept without a price; DWS, calendar, licences and zeros are none."""
    found = {}
    for s in json.loads(text):
        name = s['description']
        value = s['pricingInfo'][-1]['pricingExpression']['tieredRates'][-1]['unitPrice']
        if re.search('DWS|Calendar|Licens|Reserved|Sole Tenancy', name) or not (int(value['units']) or value['nanos']):
            continue
        gpu = re.search(r'(?:Commitment v1: |)(?:Nvidia )?(.*?) GPU(?: attached to.*?)? (?:running )?in (.*?)(?: for (\d) Years?)?$',
                        name)
        if gpu and gpu.group(1):
            how = 'committed_use_%sy' % gpu.group(3) if gpu.group(3) else 'spot' if 'Spot' in name else 'on_demand'
            found[gpu.group(2), gpu.group(1), how] = offer('gcp', gpu.group(2), gpu.group(1), how, None, 1)
    return found.values()


def gcp_egress(text):
    d = json.loads(text)
    for s in d['skus'] if 'skus' in d else d:
        tiers = s['pricingInfo'][-1]['pricingExpression']['tieredRates']
        to = s['description'].split(' to ')[-1]
        for region in s['serviceRegions']:
            for i, t in enumerate(tiers):
                yield ('transfer', 'gcp', region, 'vpn to ' + to, Decimal(t['startUsageAmount']),
                       Decimal(tiers[i + 1]['startUsageAmount']) if i + 1 < len(tiers) else None,
                       whole(Decimal(t['unitPrice']['units']) + Decimal(t['unitPrice']['nanos']) / 10**9), 'USD')


def sky_simple(vendor, fraction=None):
    """Lambda, Vast, RunPod, Azure: a row is a machine; a spot price of 0 or equal to the full one is none."""
    def read(text):
        for r in table(text):
            gpus = fraction(r) if fraction else r['AcceleratorCount'] and str(Fraction(r['AcceleratorCount']))
            price = whole(r['Price']) if r['Price'] else None
            at = dict(gpus=gpus or None, zone=r.get('AvailabilityZone') or '')
            if vendor == 'vast':  # "Denmark, DK, EU": the country is the place
                r['Region'] = r['Region'].split(',')[1].strip().lower()
                if re.search('[AV]100', r['InstanceType']):  # one name for 16 and 32, 40 and 80 GB
                    each = int(re.search(r"'SizeInMiB': (\d+)", r['GpuInfo']).group(1)) / 1024 / int(r['AcceleratorCount'])
                    r['InstanceType'] += '-%dGB' % min((16, 32, 40, 80), key=lambda g: abs(g - each))
            yield offer(vendor, r['Region'], r['InstanceType'], 'on_demand', price, **at)
            if r['SpotPrice'] and whole(r['SpotPrice']) not in (0, price):
                yield offer(vendor, r['Region'], r['InstanceType'], 'spot', r['SpotPrice'], **at)
    return read


def gpuhunt(text):
    for r in table(text):
        yield offer('lambda', r['location'], r['instance_name'], 'spot' if r['spot'] == 'True' else 'on_demand', r['price'],
                    r['gpu_count'] if r['gpu_count'] != '0' else None)


def lambda_types(text):
    for name, t in json.loads(text).items():
        t = t['instance_type']
        yield offer('lambda', 'any', name, 'on_demand', Decimal(t['price_cents_per_hour']) / 100, t['specs']['gpus'])


def runpod(text):
    for g in json.loads(text, parse_float=Decimal):
        for n in range(1, (g.get('maxGpuCount') or 1) + 1 if g['id'] != 'unknown' and g['memoryInGb'] else 1):
            for cloud in ('secure', 'community'):
                price, spot = g[cloud + 'Price'], g[cloud + 'SpotPrice']
                if g[cloud + 'Cloud'] and price:
                    kind = '%dx %s' % (n, g['id'])
                    yield offer('runpod', cloud, kind, 'on_demand', Decimal(price) * n, n)
                    if spot and spot < price:
                        yield offer('runpod', cloud, kind, 'spot', Decimal(spot) * n, n)


def vast(text):
    for o in json.loads(text, parse_float=Decimal):
        price = whole(o['dph_base'])
        yield offer('vast', 'cn', str(o['id']), 'on_demand', price, o['num_gpus'])
        yield offer('vast', 'cn', str(o['id']), 'spot', o['min_bid'], o['num_gpus'])
        yield ('history', 'vast', 'cn', '', '1x RTX 4090', NOW, whole(o['min_bid']), 1)


def oci_prices(text):
    """The marginal price of each part: its last bracket."""
    return {p['partNumber']: p['currencyCodeLocalizations'][0]['prices'][-1]['value']
            for p in json.loads(text, parse_float=Decimal)['items']}


def oci_parts(text):
    """GPU machines are the GPU's part times their number, preemptible ones half of it; storage."""
    part = oci_prices(text)
    for region in ('us-ashburn-1', 'eu-frankfurt-1'):
        for kind, number, gpus in (('BM.GPU.H100.8', 'B98415', 8), ('BM.GPU.A100-v2.8', 'B95907', 8),
                                   ('BM.GPU4.8', 'B92740', 8), ('VM.GPU.A10.2', 'B95909', 2), ('VM.GPU3.4', 'B89734', 4)):
            yield offer('oci', region, kind, 'on_demand', Decimal(part[number]) * gpus, gpus)
        yield offer('oci', region, 'VM.GPU3.4', 'spot', Decimal(part['B89734']) * 2, 4)
        for number, tier, component, start, per, unit in (
                ('B91628', 'oci_standard', 'storage', 10, 1, 'gb_month'), ('B91633', 'oci_archive', 'storage', 10, 1, 'gb_month'),
                ('B93001', 'oci_ia', 'retrieval', 10, 1, 'gb'), ('B91627', 'oci_standard', 'put', 50000, 10000, 'request')):
            yield ('storage', 'oci', region, tier, component, Decimal(start), None, whole(Decimal(part[number]) / per), unit,
                   'USD')
        yield ('transfer', 'oci', region, 'internet', Decimal(0), Decimal(10240), Decimal(0), 'USD')
    for region, number in (('us-ashburn-1', 'B88327'), ('ap-tokyo-1', 'B93455'), ('af-johannesburg-1', 'B93456')):
        yield ('transfer', 'oci', region, 'internet', Decimal(10240), None, whole(part[number]), 'USD')


def oci_shapes(shapes, text):
    part = oci_prices(text)
    for s in json.loads(shapes, parse_float=Decimal)['items']:
        yield offer('oci', 'us-ashburn-1', s['name'], 'on_demand',
                    sum(Decimal(part[p['partNumber']]) * p['qty'] for p in s['products']))


def sky_gcp(text):
    """The catalogue splits these machines: the row of the machine and, of the same zone, that of its GPUs."""
    alone = {}
    for r in table(text):
        if r['AcceleratorName'] and not r['InstanceType']:
            alone[r['AvailabilityZone'], r['AcceleratorName'], Decimal(r['AcceleratorCount'])] = r
    for r in table(text):
        gpu, n = {'a2-highgpu-1g': ('A100', 1), 'a2-ultragpu-8g': ('A100-80GB', 8)}.get(r['InstanceType'], ('', 0))
        a = alone.get((r['AvailabilityZone'], gpu, n))
        if a:
            for how, key in (('on_demand', 'Price'), ('spot', 'SpotPrice')):
                yield offer('gcp', r['Region'], r['InstanceType'], how, Decimal(r[key]) + Decimal(a[key]), n,
                            r['AvailabilityZone'])


def digitalocean(text):
    for s in json.loads(text, parse_float=Decimal)['sizes']:
        for region in s['regions']:
            yield offer('digitalocean', region, s['slug'], 'on_demand', s['price_hourly'],
                        s['gpu_info']['count'] if 'gpu_info' in s else None)


def vultr(text):
    for p in json.loads(text, parse_float=Decimal)['plans']:
        for region in p['locations']:  # slices of an A100 with 80 GB
            yield offer('vultr', region, p['id'], 'on_demand', p['hourly_cost'], Fraction(p['gpu_vram_gb'], 80))


def vultr_metal(text):
    for p in json.loads(text, parse_float=Decimal)['plans_metal']:
        for region in p['locations']:
            gpus = int(re.search(r'-(\d+)-[a-z0-9]+-gpu', p['id']).group(1))
            yield offer('vultr', region, p['id'], 'on_demand', p['hourly_cost'], gpus)
            yield offer('vultr', region, p['id'], 'spot', p['hourly_cost_preemptible'], gpus)


def verda(text, places=()):
    for t in json.loads(text):
        where = [p['location_code'] for p in places if t['instance_type'] in p['availabilities']] or ['any']
        for region in where:
            for how, key in (('on_demand', 'price_per_hour'), ('spot', 'spot_price')):
                yield offer('verda', region, t['instance_type'], how, t[key], t['gpu']['number_of_gpus'] or None)
        for p in places:
            yield ('history', 'verda', p['location_code'], '', t['instance_type'], NOW, None,
                   int(t['instance_type'] in p['availabilities']))


def jarvislabs(text):
    for s in json.loads(text, parse_float=Decimal)['server_meta']:
        for n in range(1, int(s.get('num_gpus') or 1) + 1):
            kind = '%dx %s%s' % (n, s['gpu_type'], ' ' + s['workload_type'] if s['workload_type'] else '')
            yield offer('jarvislabs', s['region'], kind, 'on_demand', s['price_per_hour'] * n, n)
            if s['spot_price']:
                yield offer('jarvislabs', s['region'], kind, 'spot', s['spot_price'] * n, n)
                yield ('history', 'jarvislabs', s['region'], '', kind, NOW, whole(s['spot_price'] * n),
                       s['spot_num_free_devices'] // n)


def hyperstack(text):
    return (offer('hyperstack', 'any', p['name'], 'on_demand', p['value'], 1)
            for p in json.loads(text) if Decimal(p['value']))


def fluidstack(text):
    for c in json.loads(text):
        for n in c['gpu_counts'] if 'gpu_counts' in c else [1]:
            for region in c['regions'] or ['any']:
                yield offer('fluidstack', region, '%dx %s' % (n, c['gpu_type']), 'on_demand',
                            Decimal(c['price_per_gpu_hr']) * n, n)


def cudo(text):
    """As many vCPUs and GiB a GPU as the bounds allow up to 8 and 32."""
    for m in json.loads(text)['machineTypes']:
        price = {k: Decimal(m[k]['value']) for k in ('vcpuPriceHr', 'memoryGibPriceHr', 'gpuPriceHr')}
        for n in range(1, m['maxGpuFree'] + 1):
            kind = '%s %dx%dvcpu-%dgib' % (m['machineType'], n, 8 * n, 32 * n)
            yield offer('cudo', m['dataCenterId'], kind, 'on_demand', price['gpuPriceHr'] * n + price['vcpuPriceHr'] * 8 * n +
                        price['memoryGibPriceHr'] * 32 * n, n)


def alibaba_spot(text):
    d = json.loads(text, parse_float=Decimal)
    for s in d['SpotPrices']['SpotPriceType']:
        region = s['ZoneId'].rpartition('-')[0]
        yield offer('alibaba', region, s['InstanceType'], 'spot', s['SpotPrice'], 1, s['ZoneId'], currency=d['Currency'])
        yield ('history', 'alibaba', region, s['ZoneId'], s['InstanceType'], '2026-08-10 06:00:00', whole(s['SpotPrice']), None)


def tencent(text):
    for q in json.loads(text, parse_float=Decimal)['Response']['InstanceTypeQuotaSet']:
        how = {'POSTPAID_BY_HOUR': 'on_demand', 'SPOTPAID': 'spot', 'PREPAID': 'monthly'}[q['InstanceChargeType']]
        # list price but for spot, whose discount is everybody's; a month's package is no hour's price
        price = q['Price']['UnitPriceDiscount'] if how == 'spot' else q['Price'].get('UnitPrice', 0)
        yield offer('tencent', 'ap-guangzhou', q['InstanceType'], how, price, q['GpuCount'], q['Zone'], currency='CNY')
        if how == 'spot':
            yield ('history', 'tencent', 'ap-guangzhou', q['Zone'], q['InstanceType'], NOW, whole(price), 0)


def fx_rows(day, per_eur):
    usd = per_eur.pop('USD')
    for code, rate in [*per_eur.items(), ('EUR', Decimal(1))]:
        yield ('fx', code, day, (rate / usd).quantize(Decimal('1e-12'), ROUND_HALF_EVEN).normalize())


def ecb_xml(text):
    day = re.search(r"time='(.*?)'", text).group(1)
    return fx_rows(day, {c: Decimal(r) for c, r in re.findall(r"currency='(\w+)' rate='(.*?)'", text)})


def ecb_csv(text):
    head, row = [[c.strip() for c in line] for line in csv.reader(io.StringIO(text))][:2]
    return fx_rows('2026-07-09', {c: Decimal(v) for c, v in zip(head[1:], row[1:]) if c})
