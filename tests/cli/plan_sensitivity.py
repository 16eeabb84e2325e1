#!/usr/bin/env python3
"""plan --sensitivity: every edge it names is tried with a plain plan, a little inside and a little
beyond: inside, the first plan is the first still; beyond, the named one is (or none is left)."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import json_schema  # noqa: E402

G = os.environ.get('GPUTIER', './gputier')
DATA = Path(os.environ.get('GPUTIER_DATA', 'data'))
folder = tempfile.TemporaryDirectory()
ENV = dict(os.environ, GPUTIER_DB=folder.name + '/x.db', GPUTIER_NOW='2026-12-01T00:00:00Z')
failures = []


def expect(ok, what):
    if not ok:
        failures.append(what)


def run(*args, code=(0,), env=ENV):
    p = subprocess.run([G, *map(str, args)], capture_output=True, text=True, timeout=200, env=env)
    expect(p.returncode in code, f'{args}: exit {p.returncode}: {p.stderr[:300]}')
    return p


def first(*args, env=ENV):
    p = run('plan', *args, '--top', 1, '--format', 'json', code=(0, 3), env=env)
    doc = json.loads(p.stdout) if p.stdout else {'plans': []}
    expect('sensitivity' not in doc or doc['sensitivity'] is None, 'sensitivity without being asked')
    if p.returncode == 3 or not doc['plans']:
        return None
    b = doc['plans'][0]
    how = 'spot, then on demand' if b['purchase']['policy'] == 'greedy' else None
    return f"{b['instances']} x {b['instance_type']}", how, f"in {b['vendor']}/{b['region']}"


def hinges(*args, env=ENV):
    doc = json.loads(run('plan', *args, '--top', 1, '--sensitivity', '--format', 'json', env=env).stdout)
    for e in json_schema.validate(doc, json_schema.load('plan')):
        failures.append(f'{args}: {e}')
    return {h['input']: h for h in doc['sensitivity']}


def is_named(got, name):
    if got is None or name is None:
        return got is name
    return name.startswith(got[0] + ' ') and name.endswith(got[2]) and (got[1] is None or got[1] in name)


def edges(what, h, at):
    """`at(value)` plans with the input at that value; 2 % beyond an edge that is known to 1 %."""
    base = at(h['value'])
    for key, name, inside, beyond in (('from', 'first_below', 1.001, 0.98), ('to', 'first_above', 0.999, 1.02)):
        if h[key + '_found']:
            expect(at(h[key] * inside) == base, f'{what}: another plan is first inside the edge {h[key]}')
            got = at(h[key] * beyond)
            expect(got != base and is_named(got, h[name]), f'{what}: beyond {h[key]} {got} is first, not {h[name]}')


def shipped():
    s = DATA / 'examples/vision-team.yaml'
    found = hinges(s)
    expect(len(found) >= 6, f'inputs: {list(found)}')
    sets = {'decoding by one vCPU': 'workload.input_pipeline.samples_per_s_per_vcpu={}',
            'size of the training data': 'data.0.size={:.0f}B',
            'interruptions of a spot machine': 'spot.interruption={}',
            'deadline': 'constraints.deadline={}s'}
    checked = 0
    for name, text in sets.items():
        h = found[name]
        edges(name, h, lambda v: first(s, '--set', text.format(v)))
        checked += h['from_found'] + h['to_found']
    expect(checked >= 2, f'only {checked} edges were there to be tried')
    text = run('plan', s, '--top', 1, '--sensitivity').stdout
    expect('What plan 1 hinges on' in text and 'decoding by one vCPU' in text, 'the text does not show it')


def researcher():
    """Work in GPU-hours: a rate that is so many times higher is so many times fewer hours, and spot
    prices that many times higher are a discount of that factor."""
    s = DATA / 'examples/researcher.yaml'
    azure = ('--vendor', 'azure')
    for only, changes in (
            ((), {'rate (MFU) of all GPUs': lambda v: f'workload.gpu_hours.hours={340 / v}',
                  'interruptions of a spot machine': lambda v: f'spot.interruption={v}',
                  'deadline': lambda v: f'constraints.deadline={v}s'}),
            (azure, {'all spot prices': lambda v: f'discounts=[{{vendor: azure, purchase: spot, factor: {v}}}]'})):
        found = hinges(s, *only)
        for name, change in changes.items():
            h = found[name]
            expect(h['from_found'] or h['to_found'], f'{name}: no edge to be tried')
            edges(name, h, lambda v: first(s, *only, '--set', change(v)))


def own_prices(folder):
    """Two machines of a private list: the edge of the first one's price is where their costs meet."""
    env = dict(ENV, GPUTIER_DB=str(folder / 'own.db'))
    ask = ('--model', 'resnet50', '--epochs', 5, '--samples', 1281167, '--vendor', 'hyperbolic', '--purchase', 'on_demand',
           '--gpus', 1)

    def prices(a100, v100):
        (folder / 'own.csv').write_text(
            'vendor,region,instance_type,gpu,gpu_count,vcpus,memory_gib,purchase,price_per_hour,currency\n'
            f'hyperbolic,here,own-a100,A100-80GB SXM4,1,32,256,on_demand,{a100:.6f},USD\n'
            f'hyperbolic,here,own-v100,V100-16GB SXM2,1,32,256,on_demand,{v100:.6f},USD\n')
        run('import', 'prices-csv', folder / 'own.csv', '--accept-large-change', env=env)
        return first(*ask, '--region', 'hyperbolic/here', env=env)

    prices(2.0, 1.9)
    h = hinges(*ask, '--region', 'hyperbolic/here', env=env)
    name = next(k for k in h if k.startswith('price of own-a100'))
    expect(h[name]['to_found'] and not h[name]['from_found'], f'{name}: {h[name]}')
    edges(name, h[name], lambda factor: prices(2.0 * factor, 1.9))


shipped()
researcher()
with tempfile.TemporaryDirectory() as d:
    own_prices(Path(d))
for text in failures:
    print(text)
sys.exit(1 if failures else 0)
