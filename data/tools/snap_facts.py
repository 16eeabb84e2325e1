"""The small tables: transfer rates, interruption bands, models, allowances, exchange rates, traces."""
import re
from decimal import Decimal

from snap_common import decimal_text, iso_date, short
from snap_import import figure

TRANSFER_COLUMNS = ['vendor', 'from', 'to', 'gb_bytes', 'from_gb', 'to_gb', 'rate', 'currency', 'as_of',
                    'source', 'note']
MODEL_COLUMNS = ['name', 'family', 'task', 'parameters', 'active_parameters', 'layers', 'hidden', 'heads',
                 'kv_heads', 'ffn', 'vocab', 'seq_len', 'image_px', 'head_dim', 'bytes_per_sample_in',
                 'flops_per_sample_fwd', 'activation_elements', 'tied_embeddings', 'source']
GIB = '1073741824'
# ECB reference rates of 2026-09-24, units per euro.
ECB_DAY = '2026-09-24'
ECB_USD = '1.1367'
ECB = {'EUR': '1', 'JPY': '180.57', 'CZK': '24.399', 'DKK': '7.4756', 'GBP': '0.85986', 'HUF': '366.15',
       'PLN': '4.3823', 'RON': '5.2779', 'SEK': '11.2645', 'CHF': '0.9409', 'NOK': '10.7895',
       'TRY': '55.5332', 'AUD': '1.6177', 'BRL': '5.8890', 'CAD': '1.6047', 'CNY': '7.6302',
       'HKD': '8.9148', 'IDR': '20384.10', 'ILS': '3.4649', 'INR': '109.0775', 'KRW': '1555.69',
       'MXN': '19.9878', 'MYR': '4.6457', 'NZD': '2.0049', 'PHP': '71.328', 'SGD': '1.4549',
       'THB': '38.057', 'ZAR': '18.6836'}
GCP_CONTINENT = {'us': 'us', 'northamerica': 'us', 'europe': 'europe', 'asia': 'asia',
                 'southamerica': 'southamerica', 'australia': 'australia'}
AZURE_AMERICA = re.compile(r'us\d?$|^canada|europe|^uk|^france|^germany|^norway|^sweden|^switzerland|'
                           r'^italy|^poland|^spain|^mexico')
TRACES = [  # name, vendor, region, instance type, file
    ('p3-us-east-1a-2023', 'us-east-1', 'us-east-1a', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-east-1a_v100_1'),
    ('p3-us-east-1c-2023', 'us-east-1', 'us-east-1c', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-east-1c_v100_1'),
    ('p3-us-east-1d-2023', 'us-east-1', 'us-east-1d', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-east-1d_v100_1'),
    ('p3-us-east-1f-2023', 'us-east-1', 'us-east-1f', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-east-1f_v100_1'),
    ('p3-us-east-2a-2023', 'us-east-2', 'us-east-2a', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-east-2a_v100_1'),
    ('p3-us-east-2b-2023', 'us-east-2', 'us-east-2b', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-east-2b_v100_1'),
    ('p3-us-west-2a-2023', 'us-west-2', 'us-west-2a', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-west-2a_v100_1'),
    ('p3-us-west-2b-2023', 'us-west-2', 'us-west-2b', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-west-2b_v100_1'),
    ('p3-us-west-2c-2023', 'us-west-2', 'us-west-2c', 'p3.2xlarge', 'avail_1n_aws-02-15-2023_us-west-2c_v100_1'),
    ('p3x16-us-east-2b-2023', 'us-east-2', 'us-east-2b', 'p3.2xlarge', 'avail_16n_aws-08-27-2023_us-east-2b_v100_1'),
    ('p3x16-us-west-2a-2023', 'us-west-2', 'us-west-2a', 'p3.2xlarge', 'avail_16n_aws-08-27-2023_us-west-2a_v100_1'),
    ('p3x16-us-west-2c-2023', 'us-west-2', 'us-west-2c', 'p3.2xlarge', 'avail_16n_aws-08-27-2023_us-west-2c_v100_1'),
    ('p3-16xlarge-us-west-2a-2022', 'us-west-2', 'us-west-2a', 'p3.16xlarge', 'avail_1n_aws-10-26-2022_us-west-2a_v100_8'),
    ('p3-16xlarge-us-west-2b-2022', 'us-west-2', 'us-west-2b', 'p3.16xlarge', 'avail_1n_aws-10-26-2022_us-west-2b_v100_8'),
    ('p2-us-west-2a-2022', 'us-west-2', 'us-west-2a', 'p2.xlarge', 'avail_1n_aws-10-26-2022_us-west-2a_k80_1'),
    ('p2-8xlarge-us-west-2b-2022', 'us-west-2', 'us-west-2b', 'p2.8xlarge', 'avail_1n_aws-10-26-2022_us-west-2b_k80_8'),
]


class Transfer:
    def __init__(self, facts, sources):
        self.facts, self.sources, self.rows = facts, sources, {}

    def put(self, vendor, frm, to, rate, as_of, source, lo='0', hi='', note=''):
        key = (vendor, frm, to, decimal_text(lo))
        old = self.rows.get(key)
        if old and old['as_of'] > as_of:
            return
        self.rows[key] = {'vendor': vendor, 'from': frm, 'to': to, 'gb_bytes': GIB,
                          'from_gb': decimal_text(lo), 'to_gb': decimal_text(hi), 'rate': decimal_text(rate),
                          'currency': 'USD', 'as_of': as_of, 'source': source, 'note': note}

    def load(self, regions):
        self.regions = regions
        for r in self.facts.rows('catalog/transfer.csv'):
            if 'opencost default' in r['from'] or '[memory' in r['source']:
                continue
            as_of = iso_date(r['date'])
            text = re.sub(r'\s*\[[^\]]*\]$', '', r['source'])
            licence = 'Apache-2.0' if re.match(r'infracost|Cyclenerd|opencost|skyplane', text) else 'none stated'
            src = self.sources.text_key('tr', text, licence, as_of)
            getattr(self, 'one_' + r['vendor'], lambda *a: None)(r, as_of, src)
        self.inside()
        self.close_open_ends()

    def one_aws(self, r, as_of, src):
        to, note = r['to'], ''
        if to.startswith('other-az'):
            to, note = 'other_az', 'per direction; both ends are billed'
        elif to.startswith('other-region'):
            to, note = 'other_region', 'most destinations'
        elif to == 'us-east pair':
            to = {'us-east-1': 'us-east-2', 'us-east-2': 'us-east-1'}.get(r['from'], '')
        if to:
            self.put('aws', r['from'], to, r['usd_per_gb'], as_of, src, r['tier_from_gb'], r['tier_to_gb'], note)

    def one_gcp(self, r, as_of, src):
        frm, to, rate = r['from'], r['to'], r['usd_per_gb']
        if to == 'internet (worldwide)':
            self.put('gcp', frm, 'internet', rate, as_of, src, r['tier_from_gb'], r['tier_to_gb'],
                     'premium tier; not to China or Australia')
        for region in self.regions.get('gcp', []):
            area = GCP_CONTINENT.get(region.split('-')[0], '')
            if frm == 'gcp zone' and to == 'other-az same region':
                self.put('gcp', region, 'other_az', rate, as_of, src)
            elif to == 'other region same continent' and area and f'gcp {area}' in frm:
                self.put('gcp', region, 'other_region_same_continent', rate, as_of, src)
            elif to == 'other continent' and area and area != 'australia':
                self.put('gcp', region, 'other_continent', rate, as_of, src, note='not to Australia or Jakarta')

    def one_azure(self, r, as_of, src):
        to = {'internet': 'internet', 'other region same continent': 'other_region_same_continent',
              'other continent': 'other_continent'}.get(r['to'])
        for region in self.regions.get('azure', []):
            if region.startswith(('brazil', 'chile')):
                area = 'south-america'
            else:
                area = 'north-america/europe' if AZURE_AMERICA.search(region) else 'asia/oceania/mea'
            if to and area in r['from']:
                self.put('azure', region, to, r['usd_per_gb'], as_of, src, r['tier_from_gb'], r['tier_to_gb'],
                         'only the first 10 TB are recorded')

    def one_oci(self, r, as_of, src):
        for region in self.regions.get('oci', []):
            area = ('na/eu/uk' if region[:2] in ('us', 'eu', 'uk', 'ca') else
                    'mea' if region[:2] in ('af', 'me', 'il') else 'apac/japan/sa')
            if area in r['from']:
                self.put('oci', region, 'internet', r['usd_per_gb'], as_of, src, r['tier_from_gb'], r['tier_to_gb'])

    def one_cloudflare(self, r, as_of, src):
        self.put('cloudflare', '*', 'internet', '0', as_of, src, note='egress is free')

    def inside(self):
        """Free by rule: same Region (AWS, Google in one zone or location, Azure), Azure between zones."""
        note = {'aws': 'storage and instances of one Region, both directions',
                'gcp': 'same location', 'azure': 'inside one region'}
        for vendor in ('aws', 'gcp', 'azure'):
            for region in self.regions.get(vendor, []):
                self.put(vendor, region, 'same_region', '0', '2026-09-20', 'allowances-2026-09', note=note[vendor])
                if vendor == 'azure':
                    self.put('azure', region, 'other_az', '0', '2024-05-31', 'allowances-2026-09',
                             note='charge between zones withdrawn at the end of May 2024')

    def close_open_ends(self):
        """Where the newest set stops at a bound that an older row reaches across, nothing is invented."""
        for row in self.rows.values():
            if row['vendor'] == 'aws' and row['to'] == 'internet' and row['to_gb'] and not any(
                    k[:3] == (row['vendor'], row['from'], row['to']) and k[3] == row['to_gb'] for k in self.rows):
                row['note'] = 'above this bound no rate is recorded'

    def table(self):
        out = sorted(self.rows.values(), key=lambda r: (r['vendor'], r['from'], r['to'], Decimal(r['from_gb'])))
        self.sources.cite(out)
        return out


def interruption(imports, sources, gpu_types):
    key = sources.use('aws-spot-advisor-2025-06-28')
    return [{'vendor': 'aws', 'region': r['region'], 'instance_type': r['instance_type'],
             'band_lo_pct': figure(r['band_lo_pct']), 'band_hi_pct': figure(r['band_hi_pct']),
             'savings_pct': figure(r['savings_pct']), 'as_of': '2025-06-28', 'source': key}
            for r in imports.bands(['catalog/aws-spot-advisor-linux-2025-06-28.csv.gz'], '2025-06-28')
            if r['instance_type'] in gpu_types]


def models(facts):
    out = []
    for r in facts.rows('docs/models.csv'):
        row = {c: r.get(c, '') for c in MODEL_COLUMNS}
        row['seq_len'] = r['seq_len_default']
        # a nominal count is the name only; what the dimensions give is meant
        if r['parameters_basis'].startswith('nominal') and r['params_from_dims']:
            row['parameters'] = r['params_from_dims']
            if r['active_parameters'] == r['parameters']:
                row['active_parameters'] = r['params_from_dims']
        if '+' in r['layers']:  # encoder + decoder
            row['layers'] = str(sum(int(n) for n in r['layers'].split('+')))
        if not re.fullmatch(r'\d+', r['image_px']):
            row['image_px'] = re.split(r'\D', r['image_px'])[0]
        m = re.search(r'([\d.]+) M forward activations', r['activation_bytes_note'])
        row['activation_elements'] = short(Decimal(m[1]) * 1000000) if m else ''
        row['tied_embeddings'] = {'y': '1', 'n': '0'}.get(r['tied_embeddings'], '')
        row['source'] = r['source'] or 'from memory, unverified'
        out.append(row)
    return out


# What the research table does not have; seen in the trackers named.
MORE_ALLOWANCES = [
    ('gcp', 'flexible-committed-use', 'discount on list price, 1 year', '28', '%', '',
     'OptimNow/cloud-finops-skills PR #30 (2026-04-29)', 'medium'),
    ('gcp', 'flexible-committed-use', 'discount on list price, 3 years', '46', '%', '',
     'OptimNow/cloud-finops-skills PR #30 (2026-04-29)', 'medium'),
    ('gcp', 'sustained-use', 'discount of N1 machines with their GPUs over a full month of 730 h; none for the '
     'first quarter of a month, so none for jobs of few hours', '30', '%', '',
     'infracost/infracost PR #2577 (2023-08-21)', 'medium'),
    ('gcp', 'sustained-use', 'discount of A2, A3 and G2 machines', '0', '%', '',
     'infracost/infracost PR #2577 (2023-08-21)', 'medium'),
]


def allowances(facts):
    out, last = [], ''
    for r in facts.rows('docs/allowances.csv'):
        src = r['source']
        if src.startswith('same'):
            src = last + src[4:]
        else:
            last = src
        src = src.replace('shared/docs/', 'research notes: ')
        rule, since = r['rule'], r['valid_from']
        if since.startswith('until'):
            rule, since = f'{rule} ({since})', ''
        out.append({'vendor': r['vendor'], 'product': r['product'], 'rule': rule, 'value': r['value'],
                    'unit': r['unit'], 'valid_from': iso_date(since), 'source': src,
                    'confidence': r['confidence']})
    names = ('vendor', 'product', 'rule', 'value', 'unit', 'valid_from', 'source', 'confidence')
    return out + [dict(zip(names, r)) for r in MORE_ALLOWANCES]


def fx(sources):
    key, usd = sources.use('ecb-fx-2026-09-24'), Decimal(ECB_USD)
    rows = [{'currency': 'USD', 'per_usd': '1', 'date': ECB_DAY, 'source': key}]
    for code, rate in ECB.items():
        rows.append({'currency': code, 'per_usd': decimal_text(str(round(Decimal(rate) / usd, 12))),
                     'date': ECB_DAY, 'source': key})
    return sorted(rows, key=lambda r: r['currency'])


def traces(facts, out_dir):
    """Writes the chosen availability series in the trace format, with the place in the header."""
    out_dir.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, region, zone, itype, stem in TRACES:
        keys, points = {}, []
        with open(facts.path(f'traces/{stem}.csv'), encoding='utf-8') as f:
            for line in f:
                line = line.strip()
                if line.startswith('#'):
                    key, _, value = line.lstrip('# ').partition('=')
                    keys[key] = value
                elif line and not line.startswith('t_s'):
                    points.append(tuple(int(x) for x in line.split(',')[:2]))
        gap, n = int(keys['gap_s']), int(keys['n'])
        if points[-1] != (n * gap, -1) or any(a[0] >= b[0] for a, b in zip(points, points[1:])):
            raise ValueError(f'{stem}: not a run-length series with an end marker')
        target = out_dir / f'{name}.csv'
        with open(target, 'w', encoding='utf-8', newline='\n') as f:
            f.write(f"# source={keys['source']}\n# gap_s={gap}\n# n={n}\n")
            f.write(f"# nodes_probed={keys['nodes_probed']}\n# instance_type={itype}\n# zone={zone}\n")
            f.write('t_s,avail\n')
            f.writelines(f'{t},{v}\n' for t, v in points)
        rows.append({'name': name, 'vendor': 'aws', 'region': region, 'zone': zone, 'instance_type': itype,
                     'gap_s': str(gap), 'nodes_probed': keys['nodes_probed'], 'path': f'traces/{target.name}'})
    return rows
