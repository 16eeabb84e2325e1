#!/usr/bin/env python3
"""Training and storage in one answer: what each placement of the training data gives the same machines is computed here
again by the load-time formulas (R-THR-01 … R-THR-06: flat, burst with credits, requests, the machine's network and NVMe),
with the time and, on demand, the whole bill that follow; where the data wait after the run is what `tier` finds for a set
of the remaining months; the plan's own placement is the one marked."""
import json
import math
import os
import re
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import expect  # noqa: E402

tmp = Path(tempfile.mkdtemp())
ENV = dict(os.environ, GPUTIER_NOW='2026-12-02T00:00:00Z', GPUTIER_DB=str(tmp / 'x.db'))
MIB, GIB, TIB = 2**20, 2**30, 2**40
SCENARIO = '''schema: gputier/scenario/1
name: joint
workload:
  kind: training
  model: resnet50
  epochs: {epochs}
  samples: 1281167
  batch_per_gpu: 256
  precision: amp
  optimizer: sgd
  stack: tuned
  checkpoint: {{ every: off }}
  setup: 25min
constraints:
  vendors: [aws]
  regions: [aws/us-east-1]
  gpus: {{ models: [{gpu}], count: {count} }}
purchase: [on_demand]
data:
  - {{ name: images, role: training_data, size: {gib}GiB, files: {files}, lives_in: aws/us-east-1, {tier}keep: 12mo }}
'''


def run(*args, code=0):
    return asked.run(*args, code=code, env=ENV, text=True).stdout


def near(got, want, what, by=1e-9):
    expect(abs(got - want) <= by * max(abs(want), 1e-9), f'{what}: {got}, reckoned {want}')


RATES = {}
for r in json.loads(run('prices', 'storage', '--vendor', 'aws', '--region', 'aws/us-east-1', '--format', 'json'))['rates']:
    if not Fraction(r['from_qty'] or 0) or (r['tier'], r['component']) == ('ebs_gp3', 'throughput'):  # above 125 MiB/s
        RATES[r['tier'], r['component']] = Fraction(r['rate']) / int(r['unit_qty'])


def machine(instance):
    rows = json.loads(run('prices', '--vendor', 'aws', '--region', 'aws/us-east-1', '--purchase', 'on_demand',
                          '--format', 'json'))['offers']
    return next(r for r in rows if r['instance_type'] == instance and r['price_state'] == 'known')


def kept_gib(tier, size, files):
    """EFS meters each file in steps of 4 KiB with 2 KiB beside it (R-EFS-02)."""
    if tier.startswith('efs'):
        size = files * (math.ceil(size / files / 4096) * 4096 + 2048)
    return Fraction(size) / GIB


class Case:
    def __init__(self, gib, files, epochs, plan):
        self.bytes, self.files, self.epochs = gib * GIB, files, epochs
        self.m = machine(plan['instance_type'])
        self.n = plan['instances']
        gbps = self.m['network_gbps']
        self.nic = gbps * 1e9 / 8 * 0.85 if gbps else math.inf
        self.cached = self.bytes <= 0.8 * self.m['memory_gib'] * GIB

    def object_bps(self):
        size = self.bytes / self.files
        streams = min(256, max(16, 8 * self.m['vcpus']))
        return min(self.nic, streams * size / (0.1 + size / 90e6), 5500 * size)

    def nvme_bps(self):
        return min(16e9, max(0.7e9, (self.m['local_nvme_gb'] or 0) * 1e9 / 600))

    def efs_burst(self, read):
        base, burst = 3 * max(1, 50 * self.bytes / TIB) * MIB, 3 * max(100, 100 * self.bytes / TIB) * MIB
        credit = 3 * max(2.1 * TIB, 2.1 * self.bytes)  # bytes read at burst speed until they are used up
        if burst <= base or read <= credit:
            return max(base, burst)
        return read / (credit / burst + (read - credit) / base)

    def bps(self, c):
        n, option = self.n, c['option']
        if c['read'] == 'local_nvme':
            return n * self.nvme_bps()
        if c['read'] == 's3_standard':
            return min(n * self.object_bps(), 5500 * self.bytes / self.files)
        if c['read'] == 'ebs_gp3':
            level = int(option.split()[0]) if option else 125
            return n * min(level * MIB, self.nic)
        read = self.bytes * (min(1, self.epochs) if self.cached else self.epochs)
        if option == 'bursting throughput':
            return min(self.efs_burst(read), n * min(500 * MIB, self.nic))
        if option == 'elastic throughput':
            return min(20 * 1024 * MIB, n * min(1500 * MIB, self.nic))
        level = int(option.split()[0])
        return min(level * 3 * MIB, n * min(500 * MIB, self.nic))

    def stage_s(self, c):
        if c['how'] == 'in_place':
            return 0
        source = {'s3_standard': self.object_bps(), 'ebs_gp3': 125 * MIB}.get(c['kept'], 300 * MIB / self.n)
        to = self.nvme_bps() if c['read'] == 'local_nvme' else (int(c['option'].split()[0]) if c['option'] else 125) * MIB
        return self.bytes / min(self.nic, source, to)

    def bill(self, c, hours):
        gib, n = self.bytes / GIB, self.n
        month = 720 if c['kept'].startswith('ebs') else 730
        total = Fraction(self.m['price_per_hour']) * n * Fraction(hours)
        total += RATES[c['kept'], 'storage'] * kept_gib(c['kept'], self.bytes, self.files) * 12 * 730 / month
        reads = (1 if self.cached else self.epochs) if c['how'] == 'in_place' else n  # every machine copies all
        if c['kept'] == 's3_standard':
            total += RATES['s3_standard', 'get'] * self.files * reads
        if c['option'] == 'elastic throughput' or (c['kept'] == 'efs_standard' and c['read'] == 'local_nvme'):
            total += RATES['efs_standard', 'read'] * Fraction(gib) * reads
        if c['option'].endswith('provisioned'):
            extra = Fraction(int(c['option'].split()[0])) - Fraction(max(1, 50 * self.bytes / TIB))
            total += RATES['efs_standard', 'throughput'] * extra * Fraction(hours) / 730
        if c['how'] == 'copied':
            level = int(c['option'].split()[0])
            total += RATES['ebs_gp3', 'storage'] * Fraction(gib) * n * Fraction(hours) / 720
            if level > 125:
                total += RATES['ebs_gp3', 'throughput'] * (level - 125) * n * Fraction(hours) / 720
        return total


def check(name, gpu, count, gib, files, epochs, tier=''):
    path = tmp / f'{name}.yaml'
    path.write_text(SCENARIO.format(gpu=gpu, count=count, gib=gib, files=files, epochs=epochs,
                                    tier=f'tier: {tier}, ' if tier else ''))
    doc = json.loads(run('plan', path, '--format', 'json', '--top', '3'))
    expect(json_schema.validate(doc, json_schema.load('plan')) == [], f'{name}: schema')
    plan = doc['plans'][0]
    k = Case(gib, files, epochs, plan)
    choices = plan['training_data']['choices']
    own = [c for c in choices if c['chosen']]
    expect(len(own) == 1, f'{name}: {len(own)} chosen')
    near(float(own[0]['total']), float(plan['cost']['total']), f'{name}: total of the plan')
    near(own[0]['epoch_s'], plan['time']['epoch_s'], f'{name}: epoch of the plan')
    expect(own[0]['bound'] == plan['time']['bound'], f'{name}: bound of the plan')
    possible = [float(c['total']) for c in choices if c['total'] is not None]
    expect(possible == sorted(possible) and possible[0] >= float(plan['cost']['total']) - 1e-9, f'{name}: order {possible}')
    alone = plan['time']['next_samples_per_s' if own[0]['bound'] == 'input_storage' else 'samples_per_s']  # the machines'
    sample = k.bytes / 1281167
    for c in choices:
        what = f"{name}: {c['kept']} -> {c['read']} {c['option']}"
        near(c['read_bytes_per_s'], k.bps(c), f'{what}: bytes a second')
        near(c['stage_s'], k.stage_s(c), f'{what}: filling')
        slow = 1281167 / min(alone, k.bps(c) / sample)
        cached = k.cached and c['read'] != 'local_nvme'
        near(c['first_epoch_s'], slow, f'{what}: first epoch')
        near(c['epoch_s'], 1281167 / alone if cached and epochs > 1 else slow, f'{what}: epoch')
        bound = k.bps(c) / sample < alone * (1 - 1e-12)
        expect((c['first_bound'] == 'input_storage') == bound, f'{what}: bound by {c["first_bound"]} first')
        expect((c['bound'] == 'input_storage') == (bound and not (cached and epochs > 1)), f'{what}: bound by {c["bound"]}')
        hours = (25 * 60 + k.stage_s(c) + c['first_epoch_s'] + (epochs - 1) * c['epoch_s']) / 3600
        near(c['makespan_s'] / 3600, hours, f'{what}: time')
        if c['total'] is not None and not c['at_least']:
            near(float(c['total']), float(k.bill(c, hours)), f'{what}: bill', 1e-6)
    return plan, choices, path


def after(name, plan, kept, gib, files):
    """The same as the storage engine says of a set that lives for the remaining eleven months."""
    other = tmp / f'{name}-rest.yaml'
    text = SCENARIO.format(gpu='V100-16GB', count=1, gib=gib, files=files, epochs=1, tier=f'tier: {kept}, ')
    other.write_text(text.replace('role: training_data', 'role: other').replace('keep: 12mo', 'keep: 11mo'))
    doc = json.loads(run('tier', other, '--horizon', '11mo', '--max-wait', '12h', '--format', 'json'))
    group, = doc['groups']
    wait, = plan['training_data']['after_run']
    expect(wait['cost'] == group['cost'] and wait['stay_cost'] == group['baseline_cost'], f'{name}: {wait}, {group}')
    expect([(s['tier'], s['from_month'] - 1, s['to_month'] - 1) for s in wait['path']] ==
           [(s['tier'], s['from_month'], s['to_month']) for s in group['path']], f'{name}: path {wait["path"]}')
    near(float(wait['stay_cost']), float(RATES[kept, 'storage'] * kept_gib(kept, gib * GIB, files) * 11), f'{name}: staying', 0.02)
    expect(Fraction(wait['stay_cost']) - Fraction(wait['cost']) == Fraction(wait['saving']), f'{name}: saving')
    expect(wait['path'][0]['from_month'] == 1 and wait['path'][-1]['to_month'] == 12, f'{name}: months {wait["path"]}')


plan, choices, path = check('free', 'A10G', 4, 1500, 1281167, 30)
expect({c['read'] for c in choices} == {'local_nvme', 's3_standard', 'ebs_gp3', 'efs_standard'}, f'free: {choices}')
expect(len({c['bound'] for c in choices}) > 1, 'free: some placement limits the epochs, some does not')
after('free', plan, [c for c in choices if c['chosen']][0]['kept'], 1500, 1281167)
text = run('plan', path, '--top', '1')
expect('The training data elsewhere, on the same machines' in text and 'images, after the run: ' in text, text)
best = [c for c in choices if c['chosen']][0]
expect(re.search(r'^\* ' + best['read'], text, re.M), 'the plan is marked')
plan, choices, _ = check('efs', 'V100-16GB', 4, 150, 1281167, 90, 'efs_standard')
expect({c['kept'] for c in choices} == {'efs_standard'}, f'efs: {choices}')
after('efs', plan, 'efs_standard', 150, 1281167)
check('few files', 'A100-40GB', 8, 4000, 4000, 10)
check('spread', 'T4', 8, 700, 200000, 5, 's3_standard')
sys.exit(asked.verdict())
