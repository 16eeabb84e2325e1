#!/usr/bin/env python3
"""Every file under ../shared/samples, one row of a table each: what `import auto` makes of it. A list
gives exactly the rows that an independent reader (sample_readers.py) finds in it, or, where the
reader would be a second importer, the stated number of rows and the stated prices; a file of another
kind is refused, nothing published, with a text that says what it is. A file there that is in no row
of the table fails the test, as does a row of the table without its file."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sample_readers as read  # noqa: E402
from sample_readers import QUERIES, whole  # noqa: E402

GPUTIER = os.environ.get('GPUTIER', './gputier')
SAMPLES = Path(os.environ.get('GPUTIER_SHARED', '../shared')) / 'samples'
if not SAMPLES.is_dir():
    print(f'SKIPPED: {SAMPLES} is missing')
    sys.exit(77)
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
ENV = dict(os.environ, HOME=str(work), GPUTIER_DATA=str(work / 'empty'), GPUTIER_NOW='2026-12-02T00:00:00Z')
failures = []


def say(ok, text):
    print(('ok   ' if ok else 'FAIL ') + text, flush=True)
    if not ok:
        failures.append(text)


PAYMENTS = ['', '/none', '/partial', '/all']
CLASSES = ['', '/standard', '/convertible']


def number(text):
    return None if text is None else Decimal(text).normalize() + 0


def as_read(kind, r):
    """A row of the database as the readers state it."""
    if kind == 'offer':
        vendor, region, zone, name, how, payment, group, num, den, state, price, upfront, currency = r[:13]
        return ('offer', vendor, region, zone, name, how + PAYMENTS[payment] + CLASSES[group], Fraction(num, den) if num else None,
                number(price) if state == 0 else None, number(upfront), currency)
    if kind == 'storage':
        rate = whole(Decimal(r[6]) / r[7])
        return ('storage', *r[:4], number(r[4]), number(r[5]), rate, r[8], r[9])
    if kind == 'transfer':
        return ('transfer', *r[:3], number(r[3]), number(r[4]), number(r[5]), r[6])
    if kind == 'history':
        return ('history', *r[:5], number(r[5]), r[6])
    if kind == 'fx':
        return ('fx', r[0], r[1], number(r[2]))
    return (kind, *r)


def run(db, kind, files):
    p = subprocess.run([GPUTIER, '--db', str(db), 'import', kind, *map(str, files), '--format', 'json'], env=ENV,
                       capture_output=True, text=True, check=False)
    return p.returncode, p.stdout, p.stderr


def rows_of(db):
    con = sqlite3.connect(f'file:{db}?mode=ro', uri=True)
    found = [as_read(kind, r) for kind, sql in QUERIES.items() for r in con.execute(sql)]
    facts = {r[3]: r[13] for r in con.execute(QUERIES['offer'])}
    months = {(r[3], r[4]): r[14] for r in con.execute(QUERIES['offer'])}
    con.close()
    return found, facts, months


def imported(files, source, reader, left=0, kind='auto', gpus=None, month=None, reasons=None):
    """The files are one list of that source; reader: a function from the first file's text (or of a
    list of texts) to the rows, or {kind: number} with rows that must be among them."""
    name = files[0]
    db = work / 'x.db'
    for old in work.glob('x.db*'):
        old.unlink()
    rc, out, err = run(db, kind, [SAMPLES / f for f in files])
    if rc != 0:
        say(False, f'{name}: exit {rc}: {err.strip()}')
        return
    doc = json.loads(out)['imports']
    found, facts, months = rows_of(db)
    say(len(doc) == 1 and doc[0]['source_id'] == source and doc[0]['rows'] == len(found) == doc[0]['added'] and
        doc[0]['skipped'] == left, f'{name}: {source}, {len(found)} rows, {doc[0]["skipped"]} left out (expected {left})')
    if reasons is not None:
        got = {r['reason']: r['rows'] for r in doc[0].get('left_out', [])}
        say(got == reasons, f'{name}: left out for {got}')
    texts = [(SAMPLES / f).read_text(encoding='utf-8-sig') for f in files]
    if isinstance(reader, dict):
        counts = Counter(r[0] for r in found)
        say(counts == reader['rows'], f'{name}: {dict(counts)}')
        has = reader.get('has', [])
        has = list(has(*texts) if callable(has) else has)
        missing = [r for r in has if r not in found]
        say(not missing, f'{name}: has {len(has)} rows that were worked out {missing[:2]}')
    else:
        wanted = Counter(reader(*texts))
        got = Counter(found)
        say(got == wanted, f'{name}: {sum(wanted.values())} rows as read independently' + (
            '' if got == wanted else f'; only here {list((got - wanted).elements())[:3]}, only there '
            f'{list((wanted - got).elements())[:3]}'))
    for instance, model in (gpus or {}).items():
        say(facts.get(instance) == model, f'{name}: {instance} has {facts.get(instance)}')
    for key, price in (month or {}).items():
        say(number(months.get(key)) == Decimal(price), f'{name}: {key} {months.get(key)} a month')


def refused(name, text, kind='auto'):
    db = work / 'r.db'
    for old in work.glob('r.db*'):
        old.unlink()
    rc, out, err = run(db, kind, [SAMPLES / name])
    rows = rows_of(db)[0] if db.exists() else []
    say(rc == 4 and text in err and not rows and not out, f'{name} ({kind}): refused: {err.strip()[-230:]}')


def o(*args, **more):
    return read.offer(*args, **more)


AWS = 'aws-offer'
NO_LIST = 'the content is of no known price list'
TABLE = [
    # files, source, what is in it, rows left out
    (['aws/AmazonEC2.us-east-1.gpu.constructed.csv'], AWS, read.aws_offer, {'left': 9, 'gpus': {
        'p5.48xlarge': 'H100 SXM', 'g6f.large': 'L4', 'p4d.24xlarge': 'A100-40GB SXM4'}}),
    (['aws/AmazonEC2.eu-west-1.awkward-rows.fixture.csv'], AWS, read.aws_offer, {'left': 19}),
    (['aws/AmazonEC2_eu-west-3.ebs.csv'], AWS, read.aws_offer, {'left': 1}),
    (['aws/AmazonEFS.2017-07-21.fixture.csv'], AWS, read.aws_offer, {'left': 2}),
    (['aws/AmazonS3.eu-west-1.2018-04-04.fixture.csv'], AWS, read.aws_offer, {'left': 21}),
    (['aws/data-transfer-offer.eu-west-1.constructed.json'], AWS, read.aws_offer, {'left': 2}),
    (['aws/ec2-offer-cn-northwest-1.cny.json'], AWS, read.aws_offer, {}),
    (['aws/ec2-offer-us-east-1.capacity-block-zero-price.json'], AWS, read.aws_offer, {}),
    (['aws/ec2-offer-us-east-2.reserved-and-ebs.json'], AWS, read.aws_offer, {}),
    (['aws/efs-offer.us-east-1.constructed.json'], AWS, read.aws_offer, {}),
    (['aws/s3-deep-archive-offer.us-east-1.constructed.json'], AWS, read.aws_offer, {}),
    (['aws/s3-offer.us-east-1.constructed.json'], AWS, read.aws_offer, {'left': 2}),
    (['aws/savings-plan.eu-west-1.2020-02-20.fixture.json'], 'aws-savings-plan', read.savings_plan, {'left': 14}),
    (['aws/describe-spot-price-history.cli.json'], 'aws-spot-history', read.spot_json, {'left': 3}),
    (['aws/describe-spot-price-history.response.xml'], 'aws-spot-history', read.spot_xml, {'left': 3}),
    (['aws/spot-history.azid.2023.excerpt.tsv'], 'aws-spot-history', read.spot_tsv, {'left': 6}),
    (['aws/spot-advisor-data.trimmed.json'], 'aws-spot-advisor', read.advisor, {}),
    (['aws/website-spot.af-south-1.2026-08-10.excerpt.json'], 'aws-spot-price', read.website, {}),
    (['aws/website-spot.jsonp.fixture.js'], 'aws-spot-price', read.website, {}),
    (['aws/website-spot.jsonp.us-east.excerpt.js'], 'aws-spot-price', read.website, {}),
    (['azure/retail-prices.block-blob-v2.eastus.excerpt.json'], 'azure-retail', {'rows': {'storage': 17}}, {'left': 9}),
    (['azure/retail-prices.gpu.eastus.constructed.json'], 'azure-retail', {'rows': {'offer': 9}, 'has': [
        o('azure', 'eastus', 'Standard_ND96isr_H100_v5', 'on_demand', '98.32', 8),
        o('azure', 'eastus', 'Standard_NC40ads_H100_v5', 'on_demand', '6.98', 1)]}, {'left': 6}),
    (['azure/retail-prices.page1.json'], 'azure-retail', {'rows': {'offer': 9}}, {'left': 6}),
    (['azure/retail-prices.page2.json'], 'azure-retail', {'rows': {'offer': 12}}, {'left': 5}),
    (['azure/retail-prices.preview.Standard_D2als_v7.eastus.2026.json'], 'azure-retail', {'rows': {'offer': 6}}, {'left': 4}),
    (['azure/retail-prices.virtual-machines.francecentral.2022.trimmed.json'], 'azure-retail', {'rows': {'offer': 56}},
     {'left': 72}),
    (['gcp/skus.compute-engine.a2-usd-and-idr.json'], 'gcp-skus', read.gcp_a2, {'gpus': {'a2-highgpu-1g': 'A100-40GB SXM4'}}),
    (['gcp/skus.gpu.2025-06.trimmed.json'], 'gcp-skus', read.gcp_gpus, {'left': 32}),
    (['gcp/skus.tiered-egress.json'], 'gcp-skus', read.gcp_egress, {}),
    (['skypilot-layout/azure-vms.gpu.trimmed.csv'], 'skypilot', {'rows': {'offer': 276}, 'has': [
        o('azure', 'eastus', 'Standard_NC12s_v3', 'on_demand', '6.12', 2),
        o('azure', 'eastus', 'Standard_NC12s_v3', 'spot', '1.130976', 2)]}, {}),
    (['skypilot-layout/gcp-vms.gpu.trimmed.csv'], 'skypilot', {'rows': {'offer': 206}, 'has': read.sky_gcp}, {}),
    (['skypilot-layout/lambda-vms.csv'], 'skypilot', read.sky_simple('lambda'), {}),
    (['skypilot-layout/runpod-vms.excerpt.csv'], 'skypilot', read.sky_simple('runpod'), {}),
    (['skypilot-layout/vast-vms.csv'], 'skypilot', read.sky_simple('vast'), {}),
    (['gpuhunt-layout/lambdalabs.v2-layout.csv'], 'gpuhunt', read.gpuhunt, {'gpus': {'gpu_8x_h100_sxm5': 'H100 SXM'}}),
    (['lambda/instance-types.json'], 'lambda', read.lambda_types, {'gpus': {'gpu_1x_gh200': 'GH200', 'gpu_1x_a10': 'A10'}}),
    (['runpod/gpuTypes.data.json'], 'runpod', read.runpod, {'left': 22}),
    (['vast/search-offers.raw.2024-08.json'], 'vast', read.vast, {}),
    (['oci/cetools-products.usd.trimmed.json'], 'oci', {'rows': {'offer': 656, 'storage': 656, 'transfer': 82},
                                                       'has': read.oci_parts}, {'left': 124}),
    (['oci/cloudestimator-shapes.excerpt.json', 'oci/cetools-products.usd.trimmed.json'], 'oci',
     {'rows': {'offer': 738, 'storage': 656, 'transfer': 82}, 'has': read.oci_shapes}, {'left': 119}),
    (['digitalocean/sizes.json'], 'digitalocean', read.digitalocean, {}),
    (['vultr/plans.json'], 'vultr', read.vultr, {}),
    (['vultr/plans-metal.json'], 'vultr', read.vultr_metal, {}),
    (['verda/instance-types.json'], 'verda', read.verda, {}),
    (['verda/instance-availability.json', 'verda/instance-types.json'], 'verda',
     lambda places, text: read.verda(text, json.loads(places)), {}),
    (['jarvislabs/server-meta.json'], 'jarvislabs', read.jarvislabs, {}),
    (['hyperstack/pricebook.response.json'], 'hyperstack', read.hyperstack, {'left': 1}),
    (['fluidstack/list-available-configurations.response.json'], 'fluidstack', read.fluidstack, {}),
    (['cudo/machine-types.response.json'], 'cudo', read.cudo, {}),
    (['alibaba/describe-spot-price-history.response.json'], 'alibaba', read.alibaba_spot, {}),
    (['tencent/describe-zone-instance-config-infos.response.json'], 'tencent', read.tencent, {'month': {
        ('GN10Xp.2XLARGE40', 'monthly'): 1290}}),
    (['huawei/list-on-demand-resource-ratings.request.json', 'huawei/list-on-demand-resource-ratings.response.json'], 'huawei',
     {'rows': {'offer': 1}, 'has': [o('huawei', 'cn-north-4', 'c6.large.2', 'on_demand', '0.33', currency='CNY')]}, {}),
    (['fx/eurofxref-daily.2026-07-09.excerpt.xml'], 'ecb-fx', read.ecb_xml, {}),
    (['fx/eurofxref.layout.csv'], 'ecb-fx', read.ecb_csv, {}),
]
REFUSED = [
    ('README.md', NO_LIST),
    ('alibaba/describe-price.response.json', 'put the question before it'),
    ('aws/describe-instance-types.accelerated.trimmed.json', NO_LIST),
    ('aws/ec2-global-offer.2025-09-12.reserved.excerpt.csv', 'without a price that counts'),
    ('aws/inter-region-transfer.skyplane.csv', NO_LIST),
    ('aws/offer-index.2021-05-15.fixture.json', NO_LIST),
    ('aws/offer-index.excerpt.json', NO_LIST),
    ('aws/offer-version-index.excerpt.json', NO_LIST),
    ('aws/on-demand-gpu.karpenter-table.2026-07-20.csv', NO_LIST),
    ('aws/savings-plan-region-index.excerpt.json', NO_LIST),
    ('aws/savings-plan.ap-east-2.2025-09-11.excerpt.csv', 'dedicated or unused machines 4'),
    ('azure/calculator-managed-disk.fixture.json', NO_LIST),
    ('azure/calculator-virtual-machines.fixture.json', NO_LIST),
    ('azure/error.bad-filter.json', NO_LIST),
    ('azure/on-demand-gpu.karpenter-table.2026-06-18.csv', NO_LIST),
    ('azure/open-data.PricingUnits.csv', NO_LIST),
    ('azure/open-data.Regions.csv', NO_LIST),
    ('gcp/error.invalid-api-key.json', NO_LIST),
    ('gcp/machine-types.europe-west1-b.json', NO_LIST),
    ('huawei/list-on-demand-resource-ratings.request.json', 'no prices among 1 entries'),
    ('huawei/list-on-demand-resource-ratings.response.json', "put the request's body before it"),
    ('infracost/graphql.request.json', NO_LIST),
    ('infracost/graphql.response.json', NO_LIST),
    ('oci/cloudestimator-shapes.excerpt.json', 'no prices among 2 entries'),
    ('vantage/ec2-instance.x2iedn.32xlarge.trimmed.json', NO_LIST),
    ('verda/instance-availability.json', 'no prices among 2 entries'),
]

listed = {f for files, *_ in TABLE for f in files} | {f for f, _ in REFUSED}
there = {str(p.relative_to(SAMPLES)) for p in SAMPLES.rglob('*') if p.is_file()}
say(there == listed, f'{len(there)} files, each in the table; not in it: {sorted(there - listed)}, '
    f'not there: {sorted(listed - there)}')
for files, source, reader, options in TABLE:
    imported(files, source, reader, **options)
for name, text in REFUSED:
    refused(name, text)
subprocess.run(['rm', '-rf', str(work)], check=False)
print('\n'.join(failures))
sys.exit(bool(failures))
