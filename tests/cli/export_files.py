#!/usr/bin/env python3
"""export: the EC2 launch input keeps to the names and types of RunInstances, is encrypted, IMDSv2 only, tagged with its
cost; lifecycle files keep to the vendors' rules by an independent check; what does not apply writes nothing, exit 3."""
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import lifecycle_check

GPUTIER = os.path.abspath(os.environ['GPUTIER'])
SHARED = Path(os.environ.get('GPUTIER_SHARED', '../shared'))
work = Path(tempfile.mkdtemp())
env = dict(os.environ, HOME=str(work), GPUTIER_DB=str(work / 'a.db'), GPUTIER_NOW='2026-10-01T00:00:00Z')
failures = []


def check(what, ok, detail=''):
    if not ok:
        failures.append(what)
        print(f'FAIL {what} {str(detail)[:600]}')


def run(*args, code=0):
    r = subprocess.run([GPUTIER, *map(str, args)], capture_output=True, env=env, timeout=100, text=True)
    check(f'exit status {code} of {args}', r.returncode == code, (r.returncode, r.stderr[-500:]))
    return r.stdout, r.stderr


def refused(kind, plan, reason):
    """Exit status 3, the reason on stderr, nothing on stdout, an existing file as it was."""
    target = work / 'existing.json'
    target.write_text('as it was')
    out, err = run('export', kind, plan, '-o', target, code=3)
    check(f'{kind} of {plan}: nothing is written', out == '' and target.read_text() == 'as it was')
    check(f'{kind} of {plan}: says {reason!r}', reason in err and kind in err, err)
    check(f'{kind} of {plan}: nothing on stdout', run('export', kind, plan, code=3)[0] == '')


try:
    from botocore import loaders, model, validate
    loader = loaders.Loader()
except ImportError:
    loader = None
    print('botocore is not installed: names and types are checked by the lists in this test alone')


def botocore_faults(service, operation, params):
    if loader is None:
        return ''
    api = model.ServiceModel(loader.load_service_model(service, 'service-2'), service)
    report = validate.ParamValidator().validate(params, api.operation_model(operation).input_shape)
    return report.generate_report()


# The part of RunInstancesRequest that a launch may use here, by hand from the EC2 API reference.
TAG = {'Key': str, 'Value': str}
RUN_INSTANCES = {
    'ImageId': str, 'InstanceType': str, 'MinCount': int, 'MaxCount': int,
    'BlockDeviceMappings': [{'DeviceName': str, 'Ebs': {
        'VolumeType': str, 'VolumeSize': int, 'Encrypted': bool, 'DeleteOnTermination': bool, 'Iops': int,
        'Throughput': int}}],
    'MetadataOptions': {'HttpTokens': str, 'HttpEndpoint': str, 'HttpPutResponseHopLimit': int},
    'InstanceMarketOptions': {'MarketType': str, 'SpotOptions': {
        'SpotInstanceType': str, 'InstanceInterruptionBehavior': str, 'MaxPrice': str}},
    'Placement': {'AvailabilityZone': str},
    'TagSpecifications': [{'ResourceType': str, 'Tags': [TAG]}],
}


def shape_faults(value, shape, at=''):
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f'{at}: no object']
        return [f'{at}.{k}: unknown' for k in value if k not in shape] + \
            [x for k, v in value.items() if k in shape for x in shape_faults(v, shape[k], f'{at}.{k}')]
    if isinstance(shape, list):
        return [x for i, v in enumerate(value) for x in shape_faults(v, shape[0], f'{at}[{i}]')] \
            if isinstance(value, list) and value else [f'{at}: no list']
    return [] if type(value) is shape else [f'{at}: {value!r}']


def scenario(name, data=(), **extra):
    base = {'schema': 'gputier/scenario/1', 'name': name,
            'workload': {'kind': 'training', 'model': 'resnet50', 'epochs': 20, 'samples': 1281167,
                         'batch_per_gpu': 128, 'precision': 'amp'},
            'constraints': {'vendors': ['aws'], 'regions': ['aws/us-east-1']}, 'data': list(data)}
    for key, value in extra.items():
        base[key] = dict(base.get(key, {}), **value) if isinstance(value, dict) else value
    path = work / f'{name}.yaml'
    path.write_text(json.dumps(base))
    return path


def data(name, **fields):
    return dict({'name': name, 'role': 'logs', 'size': '500GiB', 'files': 20000, 'lives_in': 'aws/us-east-1',
                 'tier': 's3_standard', 'keep': '36mo'}, **fields)


# EC2 launch input.
def launch(plan):
    out, err = run('export', 'aws-run-instances', plan)
    doc = json.loads(out)
    check(f'{plan}: names and types', not shape_faults(doc, RUN_INSTANCES), shape_faults(doc, RUN_INSTANCES))
    check(f'{plan}: botocore takes it', not botocore_faults('ec2', 'RunInstances', doc),
          botocore_faults('ec2', 'RunInstances', doc))
    ebs = doc['BlockDeviceMappings'][0]['Ebs']
    check(f'{plan}: encrypted gp3 that goes with the machine',
          ebs['Encrypted'] is True and ebs['VolumeType'] == 'gp3' and ebs['DeleteOnTermination'] is True)
    check(f'{plan}: IMDSv2 only', doc['MetadataOptions'] == {
        'HttpTokens': 'required', 'HttpEndpoint': 'enabled', 'HttpPutResponseHopLimit': 1})
    check(f'{plan}: machines and volumes are tagged',
          [t['ResourceType'] for t in doc['TagSpecifications']] == ['instance', 'volume'])
    check(f'{plan}: as many as planned', doc['MinCount'] == doc['MaxCount'])
    check(f'{plan}: no address of a zone id', not re.search(r'-az\d', out), out)
    return doc, err


for name, purchase in (('spot', ['spot']), ('demand', ['on_demand'])):
    path = scenario(name, [data('ckpt', role='checkpoint', size='21GiB', tier='ebs_gp3', keep='3mo')], purchase=purchase)
    text, _ = run('plan', path, '--format', 'json')
    doc = json.loads(text)
    plan = doc['plans'][0]
    (work / f'{name}.json').write_text(text)
    got, err = launch(path)
    check(f'{name}: type and number', got['InstanceType'] == plan['instance_type'] and
          got['MaxCount'] == plan['instances'])
    line = next(b for b in plan['bill'] if b['component'].startswith('compute_') and b['unit'] == 'hour')
    cost = f"{(Decimal(line['rate']) * plan['instances']).normalize():f} {line['currency']}"
    for spec in got['TagSpecifications']:
        tags = {t['Key']: t['Value'] for t in spec['Tags']}
        check(f'{name}: tags', tags == {'Name': name, 'gputier:plan': plan['id'],
                                        'gputier:cost-per-hour-of-all': cost}, tags)
    check(f'{name}: the cost is said on stderr', f'for {cost} an hour' in err and 'before tax' in err, err)
    gib = 125 + sum(21 for x in plan['placement'][:1] if x['data_set'] == 'ckpt' and x['tier'] == 'ebs_gp3')
    check(f'{name}: the volume holds the checkpoints', got['BlockDeviceMappings'][0]['Ebs']['VolumeSize'] == gib, got)
    market = got.get('InstanceMarketOptions')
    check(f'{name}: market', market == (None if name == 'demand' else {
        'MarketType': 'spot', 'SpotOptions': {'SpotInstanceType': 'one-time',
                                              'InstanceInterruptionBehavior': 'terminate'}}), market)
    arm = plan['instance_type'].startswith('g5g.')
    check(f'{name}: the image is of the right processor', ('/arm64/' if arm else '/x86_64/') in got['ImageId'])

    # Zones: a name goes into Placement, an id of a zone does not and is said instead.
    for zones, expected, said in ((['us-east-1d'], {'AvailabilityZone': 'us-east-1d'}, False),
                                  (['use1-az4'], None, True), ([], None, False),
                                  (['us-east-1-bos-1a'], None, True)):
        doc['plans'][0]['zones'] = zones
        (work / 'zones.json').write_text(json.dumps(doc))
        got, err = launch(work / 'zones.json')
        check(f'{name}: zones {zones}', got.get('Placement') == expected, got.get('Placement'))
        check(f'{name}: zones {zones} on stderr', ('SubnetId)' in err) == said, err)

    for itype, processor in (('g5g.xlarge', 'arm64'), ('g5.xlarge', 'x86_64')):
        doc['plans'][0]['instance_type'] = itype
        (work / 'arm.json').write_text(json.dumps(doc))
        check(f'{name}: {itype} gets its image', f'/{processor}/' in launch(work / 'arm.json')[0]['ImageId'])

# A maximum price only where the scenario asks for less than on demand.
capped = scenario('capped', purchase=['spot'], spot={'max_price_factor': 0.5})
got, _ = launch(capped)
limit = Decimal(got['InstanceMarketOptions']['SpotOptions']['MaxPrice'])
offers = json.loads(run('prices', '--vendor', 'aws', '--region', 'us-east-1', '--instance', got['InstanceType'],
                        '--purchase', 'on_demand', '--format', 'json')[0])['offers']
exact = {Decimal(o['price_per_hour']) for o in offers if o['instance_type'] == got['InstanceType']}
check('the maximum price is half of on demand', any(abs(limit - p / 2) <= Decimal('5e-7') for p in exact), (limit, exact))

refused('aws-run-instances', scenario('oci', constraints={'vendors': ['oci'], 'regions': ['oci/us-ashburn-1']}),
        'rents from oci')
big = scenario('big', [data('ckpt', role='checkpoint', size='20000GiB', tier='ebs_gp3', keep='1mo')])
refused('aws-run-instances', big, '20125 GiB')


# Lifecycle files.
def s3_rules(plan):
    out, err = run('export', 's3-lifecycle', plan)
    doc = json.loads(out)
    check(f'{plan}: the rules of S3', not lifecycle_check.s3(doc), lifecycle_check.s3(doc))
    check(f'{plan}: botocore takes it', not botocore_faults(
        's3', 'PutBucketLifecycleConfiguration', {'Bucket': 'b', 'LifecycleConfiguration': doc}))
    rules = {}
    for rule in doc['Rules']:
        f = rule['Filter'].get('And', rule['Filter'])
        rules.setdefault(f['Prefix'], []).append([t['StorageClass'] for t in rule['Transitions']])
    check(f'{plan}: says what a put replaces', 'replaces' in err and 'prefix NAME/' in err, err)
    return rules, err


ARCHIVE = {'GLACIER', 'DEEP_ARCHIVE'}
one = scenario('one', [data('old-logs', reads_per_month=0)])
rules, err = s3_rules(one)
check('a rule for the data set only', list(rules) == ['old-logs/'], rules)
tier = json.loads(run('tier', one, '--format', 'json', '--horizon', '36mo')[0])
policy = re.search(r'cost ([0-9.,]+) USD while they are kept, ([0-9.,]+) USD less', err)
check('the cost said is the cost of the rules', policy and
      Decimal(policy[1].replace(',', '')) == round(Decimal(tier['policy']['cost']), 2), (err, tier['policy']))
check('the saving said is against staying', policy and
      Decimal(policy[2].replace(',', '')) == round(Decimal(tier['baseline']) - Decimal(tier['policy']['cost']), 2),
      (err, tier['baseline']))

several = scenario('several', [
    data('cold', size='3TiB', reads_per_month=0), data('small', size='20GiB', files=4000000, reads_per_month=0),
    data('read', size='2TiB', reads_per_month=0.05), data('images', role='training_data', size='150GiB', files=1281167),
    data('ckpt', role='checkpoint', size='5TiB', files=1000), data('shared', tier='efs_standard')])
rules, err = s3_rules(several)
check('each data set has its own prefix', set(rules) <= {'cold/', 'small/', 'read/', 'images/', 'ckpt/'} and
      'cold/' in rules, rules)
for prefix in ('read/', 'images/', 'ckpt/'):
    check(f'{prefix} never needs a restore', not any(ARCHIVE & set(r) for r in rules.get(prefix, [])), rules)
check('the same bytes again', run('export', 's3-lifecycle', several)[0] == run('export', 's3-lifecycle', several)[0])
guess = scenario('guess', [{k: v for k, v in data('x', growth='5GiB/mo', reads_per_month=0).items() if k != 'files'}])
rules, err = s3_rules(guess)
check('what is guessed is said', 'x: no number of files' in err and 'x grows' in err, err)

refused('s3-lifecycle', scenario('none'), 'no data sets')
refused('s3-lifecycle', scenario('efs', [data('a', tier='efs_standard')]), 'no data set of the plan lives in S3')
refused('s3-lifecycle', scenario('short', [data('a', keep='1mo', reads_per_month=30)]), 'nothing to write')
refused('s3-lifecycle', scenario('two', [data('a'), data('b', lives_in='aws/us-west-2')]), 'one file serves one place')

idle = scenario('idle', [data('home', tier='efs_standard', reads_per_month=0, size='2TiB')])
out, err = run('export', 'efs-lifecycle', idle)
policies = json.loads(out)
check('the rules of EFS', not lifecycle_check.efs(policies), lifecycle_check.efs(policies))
check('botocore takes the EFS policies', not botocore_faults(
    'efs', 'PutLifecycleConfiguration', {'FileSystemId': 'fs-01234567', 'LifecyclePolicies': policies}))
check('EFS: it moves what is idle', any('TransitionToIA' in p for p in policies), policies)
check('EFS: says that it holds for the whole file system', 'whole file system' in err, err)
refused('efs-lifecycle', scenario('busy', [data('home', tier='efs_standard', reads_per_month=3)]), 'read every month')
refused('efs-lifecycle', one, 'no data set of the plan lives in EFS')

# Other vendors' buckets.
def elsewhere(name, tier, place):
    return scenario(name, [data('cold', tier=tier, lives_in=place, size='3TiB', reads_per_month=0),
                           data('read', tier=tier, lives_in=place, size='2TiB', reads_per_month=0.05)])


for kind, tier, place, check_rules in (('gcs-lifecycle', 'gcs_standard', 'gcp/us-central1', lifecycle_check.gcs),
                                       ('azure-lifecycle', 'azure_blob_hot_lrs', 'azure/eastus', lifecycle_check.azure)):
    there = elsewhere(kind, tier, place)
    out, err = run('export', kind, there)
    check(f'{kind}: the rules', not check_rules(json.loads(out)), check_rules(json.loads(out)))
    check(f'{kind}: a rule for the data set', 'cold/' in out and 'replaces' in err, (out, err))
    if kind == 'azure-lifecycle':
        reads = [r for r in json.loads(out)['rules'] if r['definition']['filters']['prefixMatch'] == ['read/']]
        check('what is read never needs a restore', 'tierToArchive' not in json.dumps(reads), reads)
    refused(kind, one, 'no data set of the plan lives in')
    refused('s3-lifecycle', there, 'no data set of the plan lives in S3')

# The validator itself against the worked cases.
cases = SHARED / 'oracles' / 'storage-examples.json'
if cases.exists():
    listed = json.loads(cases.read_text())
    listed = [c for c in listed['cases'] if c['kind'] == 'lifecycle-validate']
    check('worked cases are there', len(listed) >= 8)
    for c in listed:
        expected = sorted(e[:3] for e in c['expected']['errors'])
        got = lifecycle_check.s3(c['inputs']['configuration'])
        check(f"validator: {c['id']}", got == expected, (got, expected))
else:
    print(f'{cases} is missing: the validator is not compared with the worked cases')

out, err = run('export', code=2)
check('without a kind the kinds are named', 'aws-run-instances, azure-lifecycle, efs-lifecycle, gcs-lifecycle, s3-lifecycle' in err, err)
run('export', 'terraform', code=2)
run('export', 's3-lifecycle', one, 'more', code=2)
run('export', 's3-lifecycle', work / 'missing.yaml', code=1)

print(f'export: {len(failures)} failures')
sys.exit(bool(failures))
