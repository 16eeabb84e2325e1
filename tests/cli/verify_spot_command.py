#!/usr/bin/env python3
"""spot replay gives the oracle's integers and the exact bill through the command line; spot simulate agrees with the
closed forms; several starts, bad traces, usage errors."""
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import json_schema

GPUTIER = os.environ['GPUTIER']
SHARED = Path(os.environ.get('GPUTIER_SHARED', '../shared'))
ORACLES, TRACES = SHARED / 'oracles', SHARED / 'traces'
if not ORACLES.is_dir() or not TRACES.is_dir():
    print(f'SKIPPED: {ORACLES} or {TRACES} is missing')
    sys.exit(77)

work = Path(tempfile.mkdtemp())
failures = []


def check(what, ok, detail=''):
    if not ok:
        failures.append(what)
        print(f'FAIL {what} {detail}')


def run(*args):
    r = subprocess.run([GPUTIER, 'spot', *map(str, args)], capture_output=True, text=True, timeout=100)
    return r.returncode, r.stdout, r.stderr


def run_json(*args):
    code, out, err = run(*args, '--format', 'json')
    doc = json.loads(out) if out else None
    if doc is not None:
        problems = json_schema.validate(doc, json_schema.load('spot'))
        check(f'schema of {args}', not problems, problems[:3])
    return code, doc, err


def replay_args(c):
    args = ['replay', *(TRACES / t for t in c['traces']), '--policy', c['policy'], '--work', f"{c['work_s']}s",
            '--deadline', f"{c['deadline_s']}s", '--restart', f"{c['restart_s']}s", '--nodes', c['nodes'],
            '--od-price', repr(c['p_od'])]
    for p in c['p_spot']:
        args += ['--spot-price', repr(p)]
    if c.get('ckpt_s'):
        args += ['--ckpt', f"{c['ckpt_s']}s"]
    if 'n_slices' in c:
        args += ['--slices', c['n_slices']]
    if 'switch_milli' in c:
        args += ['--switch', c['switch_milli'] / 1000]
    gap = int(next(l for l in (TRACES / c['traces'][0]).open() if l.startswith('# gap_s=')).split('=')[1])
    return args + ['--start', f"{c['start_tick'] * gap}s"]


cases = json.loads((ORACLES / 'spot-policies.json').read_text())['cases']
for c in cases:
    code, doc, err = run_json(*replay_args(c))
    if code != 0:
        check(c['id'], False, f'exit {code} {err}')
        continue
    got, want = doc['policies'][0], c['expect']
    check(f"{c['id']} cost", abs(float(got['cost']) - want['cost']) <= 1e-6 * want['cost'], (got, want))
    if c['policy'] == 'optimal':
        check(f"{c['id']} optimal", got['interruptions'] is None and got['deadline_met'])
        continue
    for k in ('finish_s', 'spot_s', 'od_s', 'overhead_s', 'interruptions', 'launches', 'deadline_met'):
        check(f"{c['id']} {k}", got[k] == want[k], (got[k], want[k]))
    if len(c['traces']) == 1:  # the bill is exact: lines rounded once to 10^-12
        exact = sum(Fraction(round(Fraction(repr(p)) * c['nodes'] * s / 3600 * 10**12), 10**12)
                    for p, s in ((c['p_spot'][0], got['spot_s']), (c['p_od'], got['od_s'])))
        check(f"{c['id']} exact bill", Fraction(got['cost']) == exact, (got['cost'], float(exact)))

# All policies at once, in the order of the rules; with two zones those that are defined for one are left out.
base = ['--work', '10h', '--deadline', '14h', '--spot-price', '0.92', '--od-price', '3.06']
zone = [TRACES / f'avail_1n_aws-02-15-2023_us-east-{z}_v100_1.csv' for z in ('1f', '2a')]
_, one, _ = run_json('replay', zone[0], *base)
_, two, _ = run_json('replay', *zone, *base)
names = [p['policy'] for p in one['policies']]
check('all policies', len(names) == 10 and names[-1] == 'optimal', names)
check('two zones', [p['policy'] for p in two['policies']] == [n for n in names if n not in ('up_next', 'optimal')])
best = Fraction(one['policies'][-1]['cost'])
check('optimum is least', all(Fraction(p['cost']) >= best for p in one['policies'] if p['deadline_met']))

# Many starts: the spread, and the guarantee of the safety net.
_, many, err = run_json('replay', zone[0], *base, '--starts', '50')
for p in many['policies']:
    spread = [Fraction(p[k]) for k in ('cost_p5', 'cost_p50', 'cost_p95')]
    check(f"{p['policy']} spread", spread == sorted(spread) and p['starts'] == 50)
    check(f"{p['policy']} deadline", p['policy'] == 'spot_only' or p['deadlines_met'] == 50, p)
code, out, err = run('replay', zone[0], *base, '--plain')
check('table', code == 0 and len(out.splitlines()) == 11 and out.splitlines()[0].startswith('policy'), out)

# simulate: case C009 of the checkpoint model.
args = ['simulate', '--work', '7.3h', '--interval', '30min', '--delta', '36s', '--restart', '12min', '--wait', '6min',
        '--lambda', '1', '--cold-start', '--price', '9.83', '--runs', '200000', '--deadline', '13h']
code, doc, err = run_json(*args)
check('simulate', code == 0, err)
check('expectation', abs(doc['expected']['makespan_s'] / 3600 - 13.227456305263486) < 1e-8
      and abs(float(doc['expected']['cost']) - 118.2053595279455) < 1e-6, doc['expected'])
mean = doc['simulated']['makespan_s']['mean'] / 3600
check('simulated mean', abs(mean / 13.227456305263486 - 1) < 0.005, mean)
lo, hi = doc['simulated']['deadline_probability_ci']
check('interval', lo < doc['simulated']['deadline_probability'] < hi and hi - lo < 0.01)
check('same seed', run_json(*args)[1] == doc)
check('other seed', run_json(*args, '--seed', '2')[1]['simulated'] != doc['simulated'])
_, auto, _ = run_json('simulate', '--work', '100h', '--lambda', '0.05', '--delta', '5min', '--runs', '1000')
check('auto interval', abs(auto['job']['interval_s'] / auto['intervals_s']['exact'] - 1) < 0.02)
check('no price', auto['currency'] is None and auto['expected']['cost'] is None)
code, out, err = run(*args)
check('simulate table', code == 0 and 'interruptions' in out and '95 % interval' in out, out)

# Bad input: 4 with file and line; usage: 2.
text = zone[0].read_text().splitlines(keepends=True)
for name, lines, says in (('cut.csv', text[:50], 'end marker'), ('gap.csv', text[:5] + text[6:], 'gap'),
                          ('order.csv', text[:6] + [text[7], text[6]] + text[8:], 'rise')):
    (work / name).write_text(''.join(lines))
    code, out, err = run('replay', work / name, *base)
    check(name, code == 4 and out == '' and name in err and says in err, f'exit {code} {err}')
code, out, err = run('replay', work / 'absent.csv', *base)
check('absent trace', code == 4 and 'absent.csv' in err, f'exit {code} {err}')
code, out, err = run('replay', zone[0], TRACES / 'avail_1n_aws-10-26-2022_us-west-2a_v100_1.csv', *base)
check('zones sampled differently', code == 4, f'exit {code} {err}')
for args in ([], ['replay'], ['replay', zone[0]], ['play', zone[0]], ['replay', zone[0], *base, '--policy', 'best'],
             ['replay', *zone, *base, '--policy', 'optimal'], ['replay', zone[0], *base, '--starts', '0'],
             ['replay', zone[0], *base, '--nodes', '1.5'], ['replay', zone[0], *base, '--ckpt', 'soon'],
             ['replay', zone[0], *base[:4], '--spot-price', 'cheap', '--od-price', '3'],
             ['replay', zone[0], *base, '--start', '400d'], ['simulate', '--work', '5h'],
             ['simulate', '--work', '5h', '--lambda', '-1'], ['simulate', '--work', '5h', '--lambda', 'nan'],
             ['simulate', '--work', '5h', '--lambda', '1', '--runs', '0'],
             ['simulate', '--work', '500h', '--lambda', '9', '--interval', '50h'], ['simulate', 'x', '--work', '5h']):
    code, out, err = run(*args)
    check(f'usage {args}', code == 2 and out == '' and err, f'exit {code} {out} {err}')

print(f'{len(failures)} failures')
sys.exit(1 if failures else 0)
