#!/usr/bin/env python3
"""What practitioners report against what the shipped examples answer. Each row: the claim, the range that
it allows, the answer; where the answer lies outside, the README must say so. `--table` prints the README's."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import json_schema  # noqa: E402

G = os.environ.get('GPUTIER', './gputier')
folder = tempfile.TemporaryDirectory()
env = dict(os.environ, GPUTIER_DB=folder.name + '/x.db', GPUTIER_NOW='2026-12-01T00:00:00Z')
failures = []


def ask(command, name, *sets):
    args = [G, command, f'data/examples/{name}.yaml', '--format', 'json']
    for s in sets:
        args += ['--set', s]
    p = subprocess.run(args, capture_output=True, text=True, env=env, timeout=100)
    if p.returncode:
        failures.append(f'{args}: exit {p.returncode}: {p.stderr[-300:]}')
        return None
    doc = json.loads(p.stdout)
    failures.extend(f'{args}: {e}' for e in json_schema.validate(doc, json_schema.load(command))[:2])
    return doc if command == 'serve' else doc['plans'][0]


def hours(plan):
    return plan['time']['makespan_s']['mean'] / 3600


def rate(plan):
    return plan['time']['samples_per_s']


def note(plan, text):
    found = [n for n in plan['notes'] if text in n]
    if not found:
        failures.append(f'no note says "{text}": {plan["notes"]}')
    return found[0] if found else ''


v100 = ask('plan', 'cpu-or-v100')
a100, rtx = ask('plan', 'a100-or-3090'), ask('plan', 'a100-or-3090', 'constraints.gpus.models=[RTX 3090]')
a100_image, rtx_image = (ask('plan', 'a100-or-3090', 'workload.model=resnet50', 'workload.batch_per_gpu=128', *gpu)
                         for gpu in ((), ('constraints.gpus.models=[RTX 3090]',)))
amp, fp32 = ask('plan', 'mixed-precision'), ask('plan', 'mixed-precision', 'workload.precision=fp32')
four, fed = ask('plan', 'four-gpus'), ask('plan', 'four-gpus', 'workload.input_pipeline.gpu_decode=true')
one = ask('plan', 'four-gpus', 'constraints.gpus.count=1', 'workload.input_pipeline.gpu_decode=true')
spot, demand = ask('plan', 'spot-saving'), ask('plan', 'spot-saving', 'purchase=[on_demand]')
slow, quick = ask('serve', 'autoscaling'), ask('serve', 'autoscaling', 'serving.cooldown.in=300s',
                                               'serving.cooldown.window=300s')
if failures:
    print('\n'.join(failures))
    sys.exit(1)


def saved(a, b):
    return 100 * (1 - float(a['cost']['total']) / float(b['cost']['total']))


# file, claim, lowest and highest that agree with it, the answer, its unit, why it differs
ROWS = (
    ('cpu-or-v100', 'ResNet-50, 72 h on 8 CPU cores: 8 h on a V100', 6.5, 9.5, hours(v100), 'h',
     'only GPUs are planned; 72 h is 40 images/s, 120 GFLOP/s a core'),
    ('a100-or-3090', 'an A100 is three times an RTX 3090 (BERT-large)', 2.6, 3.4, rate(a100) / rate(rtx), 'times', ''),
    ('a100-or-3090', 'the same with ResNet-50', 2.6, 3.4, rate(a100_image) / rate(rtx_image), 'times',
     'bound by memory bandwidth, of which the A100 has 2.2 times'),
    ('mixed-precision', 'mixed precision is 2 to 3 times FP32', 2, 3, rate(amp) / rate(fp32), 'times', ''),
    ('four-gpus', '4 GPUs give 1.5 times one', 1.4, 1.7, rate(four) / rate(one), 'times', ''),
    ('four-gpus', 'with the input pipeline repaired 3.6 times', 3.3, 3.9, rate(fed) / rate(one), 'times', ''),
    ('spot-saving', 'spot saves 70 %, what interruptions waste included', 65, 75, saved(spot, demand), '%', ''),
    ('autoscaling', 'autoscaling saves 34 % through a 5 times higher peak', 33, 36, 100 * slow['saving'], '%',
     'with an hour before nodes are given back; %.0f %% with 5 minutes, at most %.0f %% for this wave'
     % (100 * quick['saving'], 100 - 100 * slow['mean_over_peak'])),
)
table = '| scenario | practitioners report | gputier says | |\n|---|---|---|---|\n'
for name, claim, lo, hi, got, unit, why in ROWS:
    differs = not lo <= got <= hi
    table += '| `%s.yaml` | %s | %s%.*f %s | %s |\n' % (
        name, claim, 'otherwise: ' if differs else '', 0 if unit == '%' else 1, got, unit, why)
    if differs and not why:
        failures.append(f'{claim}: {got:.2f} {unit} and no word why')
if '--table' in sys.argv:
    sys.stdout.write(table)
    sys.exit(0)
# The figures that the model is held to, whatever the README says.
for claim, lo, hi, got in ((r[1], r[2], r[3], r[4]) for r in ROWS if not r[1].startswith('the same')):
    if not lo <= got <= hi:
        failures.append(f'{claim}: {got:.3f} lies outside {lo} to {hi}')
said = note(four, 'the input pipeline limits')
if f'give {rate(four) / rate(one):.1f} times one' not in said or 'decoding on the GPU' not in said:
    failures.append(f'the limit and its remedy: {said}')
if four['time']['bound'] != 'input_cpu' or fed['time']['bound'] == 'input_cpu':
    failures.append(f'bounds: {four["time"]["bound"]}, {fed["time"]["bound"]}')
with open('README.md', encoding='utf-8') as f:
    if table not in f.read():
        failures.append('the table of situations in README.md is not this one: tests/cli/readme_tour.py --write\n' + table)
for f in failures:
    print('not met:', f)
sys.exit(1 if failures else 0)
