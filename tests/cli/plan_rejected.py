#!/usr/bin/env python3
"""What a plan's list of what was not taken says of cost is true: what is called dearer costs more than every
plan shown, what stands behind them has a price missing; planned alone each says the same."""
import json
import os
import re
import subprocess
import sys
import tempfile

G = os.environ.get('GPUTIER', './gputier')
folder = tempfile.TemporaryDirectory()
env = dict(os.environ, GPUTIER_DB=folder.name + '/x.db', GPUTIER_NOW='2026-12-01T00:00:00Z')
failures = []


def plan(*args):
    p = subprocess.run([G, 'plan', 'data/examples/vision-team.yaml', '--format', 'json', *args],
                       capture_output=True, text=True, env=env, timeout=100)
    if p.returncode:
        failures.append(f'{args}: exit {p.returncode}: {p.stderr[-300:]}')
        return {'plans': [], 'rejected': []}
    return json.loads(p.stdout)


def alone(r):
    """The same machine bought the same way, of all plans in its region."""
    doc = plan('--top', '400', '--region', f"{r['vendor']}/{r['region']}", '--purchase', r['purchase'])
    found = [p for p in doc['plans'] if p['instance_type'] == r['instance_type']]
    return found[0]['cost'] if found else None


dearer = missing = 0
for args in (('--top', '3'), ('--vendor', 'aws', '--vendor', 'gcp'), ('--vendor', 'runpod', '--top', '2')):
    doc = plan(*args)
    if not doc['plans']:
        continue
    last = doc['plans'][-1]['cost']
    tried = set()
    for r in doc['rejected']:
        m = re.fullmatch(r'(dearer than the plans shown|a price is missing, so it stands behind the plans shown): '
                         r'(no less than |at least )?([\d.]+) USD( expected)?', r['reason'])
        if not m:
            if 'dearer' in r['reason'] or 'behind' in r['reason']:
                failures.append(f'{args}: not understood: {r["reason"]}')
            continue
        usd, whole = float(m[3]), m[1].startswith('dearer')
        if whole and usd + 0.005 < float(last['total']):
            failures.append(f'{args}: {r} is called dearer than {last["total"]}')
        if not whole and last['at_least']:
            failures.append(f'{args}: {r} is behind plans whose prices are missing too')
        dearer += whole
        missing += not whole
        if (whole, m[2]) in tried:
            continue
        tried.add((whole, m[2]))
        cost = alone(r)
        if cost is None:
            failures.append(f'{args}: {r} has no plan when it is asked for alone')
        elif cost['at_least'] != (not whole or last['at_least']) or float(cost['total']) + 0.005 < usd:
            failures.append(f'{args}: {r} is planned alone at {cost["total"]}, at least: {cost["at_least"]}')
if not dearer or not missing:
    failures.append(f'{dearer} dearer and {missing} with a price missing: nothing was compared')
for f in failures:
    print('not met:', f)
sys.exit(1 if failures else 0)
