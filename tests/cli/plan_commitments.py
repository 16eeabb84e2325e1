#!/usr/bin/env python3
"""The commitments of a plan against figures worked out here from the prices of a private list:
break-even use, months until it pays, what an early end loses, payment options, terms begun; and
use.hourly against trying every number of machines."""
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import json_schema  # noqa: E402

G = os.environ.get('GPUTIER', './gputier')
failures = []
folder = Path(tempfile.mkdtemp())
env = dict(os.environ, GPUTIER_DB=str(folder / 'own.db'), GPUTIER_NOW='2026-12-01T00:00:00Z')


def expect(ok, what):
    if not ok:
        failures.append(what)


def near(a, b, what, rel=1e-9):
    expect(a is not None and abs(float(a) - float(b)) <= rel * max(1, abs(float(b))), f'{what}: {a}, expected {b}')


def run(*args, code=0):
    p = subprocess.run([G, *map(str, args)], capture_output=True, text=True, timeout=120, env=env)
    expect(p.returncode == code, f'{args}: exit {p.returncode}: {p.stderr[:300]}')
    return p


ROWS = (('on_demand', '', '10', ''), ('spot', '', '4', ''), ('reserved_1y', 'none', '6', ''),
        ('reserved_1y', 'all', '0', '48000'), ('reserved_1y', 'partial', '2.5', '25000'), ('reserved_3y', 'none', '4.5', ''))
(folder / 'own.csv').write_text('vendor,region,instance_type,gpu,gpu_count,vcpus,memory_gib,purchase,payment,price_per_hour,upfront,currency\n' +
                                ''.join(f'hyperbolic,here,own,A100-80GB SXM4,4,32,256,{p},{pay},{price},{up},USD\n'
                                        for p, pay, price, up in ROWS))
run('import', 'prices-csv', folder / 'own.csv')
JOB = '''schema: gputier/scenario/1
workload: { gpu_hours: { gpu: A100-80GB, hours: 400 }, setup: 0min, checkpoint: { every: off } }
constraints: { regions: [hyperbolic/here], gpus: { models: [A100], count: 8 } }
purchase: [on_demand, spot, reserved_1y, reserved_3y]
spot: { interruption: 0.000001 }
'''


def ask(use, name):
    (folder / f'{name}.yaml').write_text(JOB + f'use: {{ {use} }}\n')
    doc = json.loads(run('plan', folder / f'{name}.yaml', '--format', 'json', '--save', name).stdout)
    for e in json_schema.validate(doc, json_schema.load('plan')):
        failures.append(f'{name}: {e}')
    return doc['commitments']


def check(found, horizon_h, lo, hi):
    expect(found['found'] == 4 and len(found['shown']) == 4, f'found: {found["found"]}, shown {len(found["shown"])}')
    for c in found['shown']:
        price, up = next((Decimal(p), Decimal(u or 0)) for q, pay, p, u in ROWS
                         if q == c['purchase'] and pay == (c['payment'] or ''))
        term = 26280 if c['purchase'].endswith('3y') else 8760
        full, n = up + price * term, 2
        terms = -(-horizon_h // term)
        what = f'{c["purchase"]} {c["payment"]}'
        expect(c['instances'] == n and c['term_h'] == term and c['terms'] == terms, f'{what}: {c["instances"]}, {c["terms"]}')
        expect(Decimal(c['upfront']) == n * up and Decimal(c['term_cost']) == n * full and
               Decimal(c['cost']) == n * full * terms, f'{what}: {c["cost"]}')
        expect(Decimal(c['on_demand_per_hour']) == 20, f'{what}: on demand {c["on_demand_per_hour"]}')
        near(c['spot_per_hour'], 8, f'{what}: spot', 1e-3)  # hardly ever interrupted
        near(c['break_even_share'], full / (10 * term), f'{what}: break-even')
        near(c['break_even_share_spot'], full / (4 * term), f'{what}: break-even against spot', 1e-3)
        for i, share in enumerate((lo, hi)):
            near(c['on_demand'][i], 20 * horizon_h * share, f'{what}: on demand at {share}')
            after = float(full) / (10 * share)
            expect((c['pays_after_h'][i] is None) == (after > term), f'{what}: pays after {c["pays_after_h"][i]}, {after}')
            if after <= term:
                near(c['pays_after_h'][i], after, f'{what}: pays after')
        for i in range(3):
            near(c['lost_if_ended'][i], n * float(full) - 20 * term * (i + 1) / 4 * (lo + hi) / 2, f'{what}: lost', 1e-9)
    rates = [Decimal(c['term_cost']) / c['term_h'] for c in found['shown']]
    expect(rates == sorted(rates), f'order: {rates}')


year = ask('horizon: 12mo, share: 0.4..0.7', 'year')
check(year, 8760, .4, .7)
check(ask('horizon: 18mo, share: 1', 'longer'), 13140, 1, 1)

# Hourly demand: every number of machines is tried.
demand = [1, 1, 2, 5, 5, 6, 6, 3, 2, 1, 0, 0]
for name, spot in (('with-spot', True), ('demand', False)):
    text = JOB if spot else JOB.replace('on_demand, spot,', 'on_demand,')
    (folder / 'h.yaml').write_text(text + f'use: {{ horizon: 12mo, hourly: {demand} }}\n')
    for c in json.loads(run('plan', folder / 'h.yaml', '--format', 'json').stdout)['commitments']['shown']:
        whole = float(c['cost']) / 2
        other = float(c['spot_per_hour']) / 2 if spot else 10
        cost = {r: whole * r + sum(max(0, y - r) for y in demand) * other * 8760 / 12 for r in range(8)}
        best = min(cost, key=lambda r: (cost[r], r))
        h = c['hourly']
        expect(h['committed'] == best, f'{name} {c["purchase"]}: commits to {h["committed"]}, not {best}')
        near(h['cost'], cost[best], f'{name}: cost of the mix')
        rest = sum(max(0, y - best) for y in demand) * 730
        near(h['spot_h'] if spot else h['on_demand_h'], rest, f'{name}: the rest')
        near(h['on_demand_h'] if spot else h['spot_h'], 0, f'{name}: nothing the other way')

# Shown to people, and back from the database as it was.
text = run('plan', folder / 'year.yaml').stdout
expect('Commitments over 12 months, used 40-70 % of the hours' in text and 'reserved_1y (all)' in text, 'no table for people')
shown = json.loads(run('plans', 'show', 'year', '--format', 'json').stdout)
expect(shown.get('commitments') == year, 'a saved plan comes back with other commitments')
for form in ('md', 'html'):
    report = run('report', 'year', '--format', form).stdout
    c = year['shown'][0]
    expect('Commitments' in report and f'{float(c["cost"]):,.2f}' in report and f'{float(c["lost_if_ended"][1]):,.2f}' in report,
           f'{form}: the report lacks the commitments')
plain = run('plan', 'data/examples/vision-team.yaml', '--top', 1).stdout
expect('Commitments' not in plain, 'a table nobody asked for')
for bad in ('[]', '[1,x]', '[1,-2]', '[1.5]', '7', '[9999999]'):
    p = run('plan', folder / 'year.yaml', '--set', f'use.hourly={bad}', code=4)
    expect('use.hourly' in p.stderr and 'allowed' in p.stderr, f'{bad}: {p.stderr}')
for f in failures:
    print('not met:', f)
sys.exit(1 if failures else 0)
