#!/usr/bin/env python3
"""serve: its figures against a second program that follows spot-policies.md section 6 with a list of
nodes, its money against price x node-hours, a demand file of its own, the refusals."""
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import json_schema  # noqa: E402

G = os.environ.get('GPUTIER', './gputier')
DATA = Path(os.environ.get('GPUTIER_DATA', 'data'))
NOW = '2026-12-01T00:00:00Z'
failures = []


def expect(ok, what):
    if not ok:
        failures.append(what)


def run(*args, code=0):
    env = dict(os.environ, GPUTIER_NOW=NOW)
    p = subprocess.run([G, 'serve', *map(str, args)], capture_output=True, text=True, timeout=120, env=env)
    expect(p.returncode == code, f'{args}: exit {p.returncode}, expected {code}: {p.stderr[:300]}')
    return p


def answer(*args, code=0):
    doc = json.loads(run(*args, '--format', 'json', code=code).stdout or '{}')
    for e in json_schema.validate(doc, json_schema.load('serve')):
        failures.append(f'{args}: {e}')
    return doc


def nodes_for(p, load, theta):
    return min(p['max'], max(p['min'], math.ceil(load / (theta * p['mu']) - 1e-9)))


def follow(p, loads):
    ready, last_out, last_in, before, want = [0] * p['n0'], -1e9, -1e9, None, []
    out = dict(node_steps=0, peak_nodes=0, changes=0, flaps=0, served=0.0, dropped=0.0)
    for t, load in enumerate(loads):
        want.append(nodes_for(p, load, p['theta']))
        hist, sign = max(want[max(0, t - p['win'] + 1):t + 1]), 0
        if want[t] > len(ready) and t - last_out >= p['out_cd']:
            ready += [t + p['warm']] * (want[t] - len(ready))
            last_out, sign = t, 1
        elif hist < len(ready) and t - last_in >= p['in_cd'] and t - last_out >= p['in_cd']:
            ready = sorted(ready)[:hist]
            last_in, sign = t, -1
        if sign:
            out['changes'] += 1
            out['flaps'] += bool(before and before[0] == -sign and t - before[1] < p['flap_win'])
            before = (sign, t)
        capacity = sum(r <= t for r in ready) * p['mu']
        out['node_steps'] += len(ready)
        out['peak_nodes'] = max(out['peak_nodes'], len(ready))
        out['served'] += min(load, capacity) * p['step_s']
        out['dropped'] += (load - min(load, capacity)) * p['step_s']
    return out


def compare(doc, loads, what):
    p, static = doc['policy'], nodes_for(doc['policy'], max(loads), doc['policy']['theta'])
    for policy, got in ((p, doc), (doc['recommended'], doc['recommended_run'])):
        for key, value in follow(policy, loads).items():
            expect(abs(got[key] - value) <= 1e-9 * max(1, abs(value)), f'{what}: {key} {got[key]}, expected {value}')
    expect(doc['static_nodes'] == static, f'{what}: static_nodes {doc["static_nodes"]}')
    expect(doc['steps'] == len(loads), f'{what}: steps {doc["steps"]}')
    for m in doc['machines']:
        rate = Decimal(m['price_per_hour'])
        for key, steps in (('cost', doc['node_steps']), ('fixed_cost', static * len(loads)),
                           ('clairvoyant_cost', doc['clairvoyant_node_steps']),
                           ('recommended_cost', doc['recommended_run']['node_steps'])):
            hours = Decimal(steps) * Decimal(p['step_s']) / 3600
            if m['price_currency'] == doc['currency']:
                expect(abs(Decimal(m[key]) - rate * hours) <= Decimal('1e-12'), f'{what}: {key} of {m["instance_type"]}')
    usd = [Decimal(m['cost']) for m in doc['machines']]
    expect(usd == sorted(usd), f'{what}: machines are not in the order of cost')


def sine(length_s, step_s):
    return [20 + 80 * (1 - math.cos(2 * math.pi * (t * step_s % 86400) / 86400)) / 2 for t in range(length_s // step_s)]


def built_in():
    doc = answer(DATA / 'examples/serving.yaml')
    compare(doc, sine(7 * 86400, 60), 'serving.yaml')
    expect(abs(doc['mean_over_peak'] - 0.6) < 1e-3 and abs(doc['peak_over_trough'] - 5) < 1e-9, 'shape of serving.yaml')
    expect(0.34 <= doc['saving'] <= 0.40, f'saving {doc["saving"]}: a 5x wave saves 34 to 40 %')
    expect(doc['dropped'] == 0 and doc['node_steps'] >= doc['clairvoyant_node_steps'], 'hindsight is dearer')
    expect(doc['max_miss_met'] and doc['recommended_noisy_run']['missed_share'] <= 0.001, 'recommended policy misses')
    doc = answer(DATA / 'examples/promotion.yaml')
    expect(doc['saving'] > 0.6, f'promotion saves {doc["saving"]}')
    gpus = {m['gpu'] for m in answer(DATA / 'examples/serving.yaml', '--vendor', 'aws', '--top', 3)['machines']}
    expect(gpus == {'L4'}, f'--vendor aws gives {gpus}')
    cny = answer(DATA / 'examples/serving.yaml', '--currency', 'CNY')
    expect(cny['currency'] == 'CNY' and Decimal(cny['cost']) > 5 * Decimal(answer(
        DATA / 'examples/serving.yaml')['cost']), 'no CNY bill')


def demand_file(d):
    (d / 'demand.csv').write_text('t_s,requests_per_s\n0,10\n600,90\n1200,10\n1800,55.5\n2400,0\n')
    (d / 'own.yaml').write_text(
        'schema: gputier/scenario/1\nname: own\nworkload: { kind: serving }\n'
        'constraints: { gpus: { models: [T4], count: 1 } }\n'
        'serving: { demand: demand.csv, requests_per_s_per_node: 4, min_nodes: 1, warmup: 120s, step: 60s }\n')
    doc = answer(d / 'own.yaml')  # the file stands beside the scenario, wherever we are
    loads = [10] * 10 + [90] * 10 + [10] * 10 + [55.5] * 10 + [0] * 10
    compare(doc, loads, 'own demand')
    rows = list(csv.DictReader(io.StringIO(run(d / 'own.yaml', '--format', 'csv').stdout)))
    expect([r['cost'] for r in rows] == [m['cost'] for m in doc['machines']], 'CSV and JSON differ')
    text = run(d / 'own.yaml').stdout
    expect('peak/trough' not in text and 'with hindsight' in text, f'text: {text[:300]}')
    expect(text.isascii(), 'text is not plain')
    p = run(d / 'own.yaml', '--max-miss', '0', '--set', 'serving.max_nodes=3', code=3)
    expect('no policy tried' in p.stderr and 'misses least' in p.stdout, f'impossible: {p.stderr}')
    for bad, word in (('t_s,requests_per_s\n0,10\n0,11\n', 'demand.csv:3'), ('a,b\n', 'demand.csv:1'), ('', 'demand.csv')):
        (d / 'demand.csv').write_text(bad)
        expect(word in run(d / 'own.yaml', code=4).stderr, f'{bad!r} is not refused with {word}')
    (d / 'demand.csv').unlink()
    expect('demand.csv' in run(d / 'own.yaml', code=1).stderr, 'a missing demand file is not named')


def refusals():
    serving = DATA / 'examples/serving.yaml'
    run(code=2)
    run(serving, '--top', '0', code=2)
    run(serving, '--max-miss', '2', code=2)
    expect('plan' in run(DATA / 'examples/vision-team.yaml', code=1).stderr, 'a training scenario is not sent to plan')
    p = run(serving, '--vendor', 'aws', '--gpu', 'MI300X', code=3)
    expect('no machine' in p.stderr, f'no machine: {p.stderr}')
    expect('nearest' in run(serving, '--gpu', 'L5', code=4).stderr, 'an unknown GPU has no nearest name')


built_in()
with tempfile.TemporaryDirectory() as folder:
    demand_file(Path(folder))
refusals()
for text in failures:
    print(text)
sys.exit(1 if failures else 0)
