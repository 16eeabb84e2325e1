#!/usr/bin/env python3
"""Every source that `sources` lists, one row of a table each: a fetch from a vendor on loopback that answers with
the sample files gives the same rows in the database as an import of those files. A source without a row, or a row
without its source, fails the test; lists of which there is only a file are named as such and say so when fetched."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sample_readers import QUERIES  # noqa: E402

GPUTIER = os.environ.get('GPUTIER', './gputier')
SAMPLES = Path(os.environ.get('GPUTIER_SHARED', '../shared')) / 'samples'
if not SAMPLES.is_dir():
    print(f'SKIPPED: {SAMPLES} is missing')
    sys.exit(77)
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
ENV = {k: v for k, v in os.environ.items() if not k.startswith('GPUTIER_') and 'proxy' not in k.lower()}
ENV |= {'HOME': str(work), 'XDG_CONFIG_HOME': str(work), 'GPUTIER_DATA': str(work / 'empty'), 'GPUTIER_NOW': '2026-12-02T00:00:00Z'}
failures, pairs, lock = [], [], threading.Lock()


def say(ok, text):
    print(('ok   ' if ok else 'FAIL ') + text, flush=True)
    if not ok:
        failures.append(text)


def sample(name):
    return (SAMPLES / name).read_bytes()


def always(name):
    return lambda path, query, body: sample(name)


def at(**names):
    """By the last part of the path, what is in front of its first dot or dash."""
    return lambda path, query, body: sample(names[path.rstrip('/').split('/')[-1].split('.')[0].replace('-', '_')])


def azure(path, query, body):
    """Two pages of machines, one of storage, nothing of the rest."""
    host = f'http://127.0.0.1:{server.server_port}'
    if 'skip' in query:
        return sample('azure/retail-prices.page2.json')
    if "'Storage'" in query['$filter'][0]:
        return BLOB
    if "'Virtual Machines'" in query['$filter'][0] and 'francecentral' in query['$filter'][0] and not azure.asked:
        azure.asked = True
        page = json.loads(sample('azure/retail-prices.page1.json'), parse_float=str)
        return sample('azure/retail-prices.page1.json').replace(
            json.dumps(page['NextPageLink'])[1:-1].encode(), f'{host}{path}?skip=1'.encode())
    return json.dumps({'BillingCurrency': 'USD', 'Items': [], 'NextPageLink': None, 'Count': 0}).encode()


azure.asked = False
BLOB = sample('azure/retail-prices.block-blob-v2.eastus.excerpt.json').replace(b'eastus', b'francecentral')


def gcp_service(text, group, nanos):
    return json.dumps({'skus': [{'name': 'services/X/skus/1', 'skuId': group, 'description': text, 'serviceRegions': ['us-central1'],
                                 'category': {'usageType': 'OnDemand', 'resourceGroup': group},
                                 'pricingInfo': [{'pricingExpression': {'usageUnit': 'GiBy.mo', 'tieredRates': [
                                     {'startUsageAmount': 0, 'unitPrice': {'currencyCode': 'USD', 'nanos': nanos}}]}}]}]}).encode()


def gcp_machines():
    page = json.loads(sample('gcp/skus.compute-engine.a2-usd-and-idr.json'), parse_float=str)
    return json.dumps(dict(page, nextPageToken='')).encode()  # the only page here


GCP = {'6F81-5844-456A': gcp_machines(), '95FF-2EF5-5EA1': gcp_service('Archive Storage Iowa', 'ArchiveStorage', 1200000),
       'D97E-AB26-5D95': gcp_service('Filestore Capacity Basic HDD (Standard) Iowa', 'X', 160000000)}


def gcp(path, query, body):
    return GCP[path.split('/')[-2]]


def vast(path, query, body):
    ids = json.loads(body)['ask_contract_id']
    return json.dumps({'offers': [o for o in json.loads(sample('vast/search-offers.raw.2024-08.json'))
                                  if ids['gte'] <= o['ask_contract_id'] < ids['lt']]}).encode()


def verda(path, query, body):
    if path.endswith('token'):
        return b'{"access_token": "x"}'
    return at(instance_availability='verda/instance-availability.json', instance_types='verda/instance-types.json')(path, query, body)


def skypilot(path, query, body):
    return sample('skypilot-layout/lambda-vms.csv') if path.endswith('/lambda/vms.csv') else None


def alibaba(path, query, body):
    if query.get('InstanceType') == ['ecs.gn7i-c8g1.2xlarge'] and 'Offset' in query:
        return sample('alibaba/describe-spot-price-history.response.json')
    return 400, b'{"Code": "InvalidInstanceType.ValueNotSupported", "Message": "not here"}'


def huawei(path, query, body):
    """The sample's answer to each question; both are kept, as its import needs both."""
    item = json.loads(body)['product_infos'][0]
    if len(pairs) >= 6:
        return 400, b'{"error_code": "CBC.99005005", "error_msg": "no such product"}'
    reply = json.loads(sample('huawei/list-on-demand-resource-ratings.response.json'))
    reply['product_rating_results'] = [dict(reply['product_rating_results'][0], id=item['id'])]
    for text in (body, json.dumps(reply).encode()):
        pairs.append(work / f'huawei{len(pairs)}.json')
        pairs[-1].write_bytes(text)
    return json.dumps(reply).encode()


def aws(service, name, kind='json'):
    def answer(path, query, body):
        base = '/offers/v1.0/aws/'
        own = path.split('/', 2)[2] if path.count('/') > 1 else ''
        if own == base[1:] + 'index.json':
            return json.dumps({'offers': {service: {'offerCode': service, 'currentRegionIndexUrl': f'{base}{service}/current/region_index.json'}}}).encode()
        if own.endswith('region_index.json'):
            return json.dumps({'regions': {'us-east-2': {'regionCode': 'us-east-2', 'currentVersionUrl': f'{base}{service}/1/us-east-2/index.json'}}}).encode()
        return sample(name) if own.endswith('/us-east-2/index.' + kind) else None
    return answer


def savings(path, query, body):
    if path.endswith('region_index.json'):
        return json.dumps({'regions': [{'regionCode': 'eu-west-1', 'versionUrl': '/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/1/eu-west-1/index.json'}]}).encode()
    return sample('aws/savings-plan.eu-west-1.2020-02-20.fixture.json') if path.endswith('/eu-west-1/index.json') else None


BLOCK = '''<DescribeCapacityBlockOfferingsResponse><capacityBlockOfferingSet>%s</capacityBlockOfferingSet></DescribeCapacityBlockOfferingsResponse>'''
FREE = BLOCK % ('<item><capacityBlockOfferingId>cb-1</capacityBlockOfferingId><instanceType>p5.48xlarge</instanceType>'
                '<availabilityZone>us-east-1a</availabilityZone><instanceCount>1</instanceCount><startDate>2026-12-05T11:30:00Z</startDate>'
                '<endDate>2026-12-06T11:30:00Z</endDate><capacityBlockDurationHours>24</capacityBlockDurationHours>'
                '<upfrontFee>755</upfrontFee><currencyCode>USD</currencyCode></item>')


def blocks(path, query, body):
    return (FREE if parse_qs(body.decode())['InstanceType'] == ['p5.48xlarge'] else BLOCK % '').encode()


def region(name):
    return ['--region', name]


NEBIUS = (b'InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n'
          b'gpu-h100-sxm_8gpu,H100,8,128,1600,23.60,eu-north1,,10.00\n')
EC2 = {'AWS_ACCESS_KEY_ID': 'AKIDEXAMPLE', 'AWS_SECRET_ACCESS_KEY': 's3cr3t'}
# source: files to import, answers to a fetch, its arguments, variables with keys
TABLE = {
    'alibaba': (['alibaba/describe-spot-price-history.response.json'], alibaba, region('alibaba/cn-hangzhou'), 'LTAIx:y'),
    'aws-capacity-block': ([FREE], blocks, region('aws/us-east-1'), EC2),
    'aws-offer': (['aws/ec2-offer-us-east-2.reserved-and-ebs.json'], aws('AmazonEC2', 'aws/ec2-offer-us-east-2.reserved-and-ebs.json'),
                  region('aws/us-east-2'), None),
    'aws-savings-plan': (['aws/savings-plan.eu-west-1.2020-02-20.fixture.json'], savings, region('aws/eu-west-1'), None),
    'aws-spot-advisor': (['aws/spot-advisor-data.trimmed.json'], always('aws/spot-advisor-data.trimmed.json'), [], None),
    'aws-spot-history': (['aws/describe-spot-price-history.response.xml'], always('aws/describe-spot-price-history.response.xml'),
                         region('aws/us-east-1'), EC2),
    'aws-spot-price': (['aws/website-spot.af-south-1.2026-08-10.excerpt.json'], always('aws/website-spot.af-south-1.2026-08-10.excerpt.json'), [], None),
    'azure-retail': (['azure/retail-prices.page1.json', 'azure/retail-prices.page2.json', BLOB],
                     azure, region('azure/francecentral'), None),
    'cudo': (['cudo/machine-types.response.json'], always('cudo/machine-types.response.json'), [], 'k'),
    'digitalocean': (['digitalocean/sizes.json'], always('digitalocean/sizes.json'), [], 'k'),
    'ecb-fx': (['fx/eurofxref-daily.2026-07-09.excerpt.xml'], always('fx/eurofxref-daily.2026-07-09.excerpt.xml'), [], None),
    'fluidstack': (['fluidstack/list-available-configurations.response.json'], always('fluidstack/list-available-configurations.response.json'), [], 'k'),
    'gcp-skus': ([*GCP.values()], gcp, [], 'k'),
    'huawei': (pairs, huawei, region('huawei/cn-north-4'), 'id:secret:0123456789abcdef0123456789abcdef'),
    'hyperstack': (['hyperstack/pricebook.response.json'], always('hyperstack/pricebook.response.json'), [], 'k'),
    'jarvislabs': (['jarvislabs/server-meta.json'], always('jarvislabs/server-meta.json'), [], 'k'),
    'lambda': (['lambda/instance-types.json'], always('lambda/instance-types.json'), [], 'k'),
    'nebius': ([NEBIUS], lambda path, query, body: NEBIUS, [], None),
    'oci': (['oci/cloudestimator-shapes.excerpt.json', 'oci/cetools-products.usd.trimmed.json'],
            at(shapes='oci/cloudestimator-shapes.excerpt.json', products='oci/cetools-products.usd.trimmed.json'), [], None),
    'runpod': (['runpod/gpuTypes.data.json'], always('runpod/gpuTypes.data.json'), [], None),
    'skypilot': (['skypilot-layout/lambda-vms.csv'], skypilot, region('lambda/us-east-1'), None),
    'tencent': (['tencent/describe-zone-instance-config-infos.response.json'], always('tencent/describe-zone-instance-config-infos.response.json'),
                region('tencent/ap-guangzhou'), 'id:secret'),
    'vast': (['vast/search-offers.raw.2024-08.json'], vast, [], None),
    'verda': (['verda/instance-availability.json', 'verda/instance-types.json'], verda, [], 'id:secret'),
    'vultr': (['vultr/plans.json', 'vultr/plans-metal.json'], at(plans='vultr/plans.json', plans_metal='vultr/plans-metal.json'), [], None),
}
# There is no public list to fetch: the user's own files, and a collection of files.
FILES_ONLY = {'coreweave': 'publishes no price list', 'gpuhunt': 'import', 'prices-csv': 'import'}


class Vendor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def serve(self):
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        with lock:
            found = TABLE[url.path.split('/')[1]][1](url.path, parse_qs(url.query), body)
        status, data = found if isinstance(found, tuple) else (404, b'') if found is None else (200, found)
        self.send_response(status)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = serve


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()


def run(name, *args, **env):
    return subprocess.run([GPUTIER, '--db', str(work / name), *map(str, args)], env=ENV | env, capture_output=True, text=True, timeout=120, check=False)


def rows(name):
    with sqlite3.connect(work / name) as db:
        return sorted((kind, repr(r)) for kind, q in QUERIES.items() for r in db.execute(q))


def on_disk(name, files):
    """A sample by its name, a text as a file of its own, a path as it is."""
    out = []
    for i, f in enumerate(files):
        if isinstance(f, str) and not f.startswith('<'):
            out.append(SAMPLES / f)
        elif isinstance(f, Path):
            out.append(f)
        else:
            out.append(work / f'{name}.{i}')
            out[-1].write_bytes(f if isinstance(f, bytes) else f.encode())
    return out


def one(source, files, _, args, key):
    name = source.upper().replace('-', '_')
    env = {f'GPUTIER_URL_{name}': f'http://127.0.0.1:{server.server_port}/{source}'}
    env |= key if isinstance(key, dict) else {f'GPUTIER_KEY_{name}': key} if key else {}
    r = run(source + '.fetched', 'fetch', source, *args, '--tries', '1', **env)
    if r.returncode != 0:
        say(False, f'{source}: fetch: exit {r.returncode}: {r.stderr[-500:]}')
        return
    r = run(source + '.imported', 'import', source, *on_disk(source, files))
    if r.returncode != 0:
        say(False, f'{source}: import: exit {r.returncode}: {r.stderr[-500:]}')
        return
    fetched, imported = rows(source + '.fetched'), rows(source + '.imported')
    odd = sorted(set(fetched) ^ set(imported))
    say(fetched == imported and len(fetched) > 0, f'{source}: {len(fetched)} rows fetched, {len(imported)} imported {odd[:4]}')


listed = {s['source_id'] for s in json.loads(run('list', 'sources', '--format', 'json').stdout)['sources']}
say(listed == set(TABLE) | set(FILES_ONLY), f'each source is in the table: {sorted(listed ^ (set(TABLE) | set(FILES_ONLY)))}')
for source, row in TABLE.items():
    one(source, *row)
for source, word in FILES_ONLY.items():
    r = run('list', 'fetch', source)
    say(r.returncode in (1, 2) and word in r.stderr, f'{source}: no fetch, told: {r.stderr.strip()}')
subprocess.run(['rm', '-rf', str(work)], check=False)
sys.exit(bool(failures))
