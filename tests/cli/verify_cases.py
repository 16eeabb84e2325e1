#!/usr/bin/env python3
"""verify on every oracle file: the cases agree; computed values do not depend on the expected ones; exit statuses,
--traces, table and JSON output as product.md section 9 states them."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import json_schema

GPUTIER = os.environ['GPUTIER']
SHARED = Path(os.environ.get('GPUTIER_SHARED', '../shared'))
ORACLES, TRACES = SHARED / 'oracles', SHARED / 'traces'
if not ORACLES.is_dir() or not TRACES.is_dir():
    print(f'SKIPPED: {ORACLES} or {TRACES} is missing')
    sys.exit(77)

work = Path(tempfile.mkdtemp())
env = dict(os.environ, GPUTIER_DB=str(work / 'v.db'), GPUTIER_NOW='2026-12-02T00:00:00Z')
failures = []


def check(what, ok, detail=''):
    if not ok:
        failures.append(what)
        print(f'FAIL {what} {detail}')


def run(*args):
    r = subprocess.run([GPUTIER, 'verify', *map(str, args)], capture_output=True, text=True, env=env, timeout=200)
    return r.returncode, r.stdout, r.stderr


def run_json(*args):
    code, out, err = run(*args, '--format', 'json')
    doc = json.loads(out) if out else None
    if doc is not None:
        problems = json_schema.validate(doc, json_schema.load('verify'))
        check(f'schema of verify {args}', not problems, problems[:3])
    return code, doc, err


# Expected values by list: these keys are removed from each case.
EXACT = {'spot-policies.json': 106, 'checkpoint-model.json': 32, 'capacity-mix.json': 18, 'storage-examples.json': 117}
EXPECTED = {'expected', 'expect'}
STRIP = {
    'spot-policies.json': EXPECTED, 'checkpoint-model.json': EXPECTED, 'capacity-mix.json': EXPECTED,
    'storage-examples.json': EXPECTED,
    'throughput.json': {'throughput', 'implied_model_flops_utilisation'},
    'throughput-2.json': {'throughput', 'implied_model_flops_utilisation'},
    'memory-fit.json': {'fits', 'reported_peak_gb_per_gpu'},
    'input-pipeline.json': {'published_throughput', 'limits', 'binding', 'predicted_throughput',
                            'ratio_published_to_predicted'},
}

# Few published figures for many GPUs: the aim of the second collection is 15 % / 45 %.
LIMITS = {'throughput-2.json': ('--max-median', '0.15', '--max-p90', '0.45')}

for name, keys in STRIP.items():
    path = ORACLES / name
    source = json.loads(path.read_text())
    code, full, err = run_json(path, *LIMITS.get(name, ()))
    check(f'{name} gives an answer', full is not None, err)
    if full is None:
        continue
    rows = full['cases']
    check(f'{name} loses no case', len(rows) == len(source['cases']))
    check(f'{name} passes', code == 0, f'exit {code}: {err}' + str([r['id'] for r in rows if r['ok'] is False][:9]))
    if name in EXACT:
        check(f'{name} all agree', full['summary']['ok'] == EXACT[name] and full['summary']['failed'] == 0)
    # a changed expected value is noticed: the comparison compares something
    if name in EXACT:
        bent = json.loads(path.read_text())
        bent['cases'] = [bent['cases'][0]]

        def bend(v):
            if isinstance(v, bool):
                return not v
            if isinstance(v, (int, float)):
                return v * 1.01 + 1
            if isinstance(v, str):
                try:
                    return str(float(v) * 1.01 + 1)
                except ValueError:
                    return v + 'x'
            return [bend(x) for x in v] if isinstance(v, list) else {k: bend(x) for k, x in v.items()} if v else v

        for k in EXPECTED & bent['cases'][0].keys():
            bent['cases'][0][k] = bend(bent['cases'][0][k])
        (work / 'bent.json').write_text(json.dumps(bent))
        code, doc, _ = run_json(work / 'bent.json', '--traces', TRACES)
        check(f'{name} bent fails', code == 3 and doc['cases'][0]['ok'] is False and doc['cases'][0]['reason'])
    # without the expected values the computed ones are the same
    bare = json.loads(path.read_text())
    for c in bare['cases']:
        for k in keys:
            c.pop(k, None)
    (work / name).write_text(json.dumps(bare))
    code, doc, err = run_json(work / name, '--traces', TRACES)
    check(f'{name} without expected values', code == 0 and doc is not None, f'exit {code} {err}')
    if doc is None:
        continue
    check(f'{name} ok is null', all(r['ok'] is None and r['expected'] is None for r in doc['cases']),
          [r['id'] for r in doc['cases'] if r['ok'] is not None or r['expected'] is not None][:5])
    check(f'{name} computed is the same', [r['computed'] for r in doc['cases']] == [r['computed'] for r in rows],
          [a['id'] for a, b in zip(doc['cases'], rows) if a['computed'] != b['computed']][:5])
    if 'throughput' in keys or 'fits' in keys:
        s = full['summary']
        check(f'{name} statistics', s['n'] > 0 and 0 <= s['median_error'] <= s['p90_error'])

# Several lists in one file, several files in one run; a list judged on its own.
spot = json.loads((ORACLES / 'spot-policies.json').read_text())
ckpt = json.loads((ORACLES / 'checkpoint-model.json').read_text())
both = {'format': 'spot-policies/1', 'tolerance': spot['tolerance'], 'cases': spot['cases'][:4],
        'checkpoint_cases': ckpt['cases'][:7]}
(work / 'both.json').write_text(json.dumps(both))
code, doc, _ = run_json(work / 'both.json', '--traces', TRACES)
check('two lists', code == 0 and doc['summary']['ok'] == 11 and len(doc['summary']['lists']) == 2, doc and doc['summary'])

# Traces beside the cases, in the sibling folder, nowhere.
one = {'format': 'spot-policies/1', 'cases': spot['cases'][:1]}
trace = spot['cases'][0]['traces'][0]
(work / 'a').mkdir()
(work / 'a' / 'one.json').write_text(json.dumps(one))
code, doc, _ = run_json(work / 'a' / 'one.json')
check('missing trace is not computed', code == 3 and doc['cases'][0]['computed'] is None
      and doc['cases'][0]['ok'] is False and trace in doc['cases'][0]['reason'] and doc['summary']['failed'] == 1)
for folder in (work / 'a', work / 'a' / 'traces', work / 'traces'):
    folder.mkdir(exist_ok=True)
    (folder / trace).write_bytes((TRACES / trace).read_bytes())
    code, doc, _ = run_json(work / 'a' / 'one.json')
    check(f'trace in {folder}', code == 0)
    (folder / trace).unlink()
(work / 'a' / trace).write_text((TRACES / trace).read_text()[:3000])
code, doc, _ = run_json(work / 'a' / 'one.json')
check('cut trace is refused', code == 3 and 'not computed' in doc['cases'][0]['reason'])

# Unknown kinds are never left out.
(work / 'unknown.json').write_text(json.dumps({'cases': [{'id': 'w', 'kind': 'weather', 'input': {}}]}))
code, doc, _ = run_json(work / 'unknown.json')
check('unknown kind', code == 3 and doc['cases'][0]['id'] == 'w' and doc['summary']['not_computed'] == 1)

# Limits of throughput lists.
code, _, _ = run_json(ORACLES / 'throughput.json', '--max-median', '0')
check('--max-median', code == 3)
code, _, _ = run_json(ORACLES / 'throughput.json', '--max-median', '9', '--max-p90', '0')
check('--max-p90', code == 3)

# Files that cannot be read or understood: 4, the place, nothing on stdout.
(work / 'bad.json').write_text('{"cases":[\n {"id":1,\n]}')
(work / 'none.json').write_text('{"answers":[]}')
for path, where in ((work / 'bad.json', 'bad.json:'), (work / 'none.json', 'none.json'), (work / 'absent.json', 'absent'),
                    (work, str(work)), (ORACLES / 'catalog-answers.json', 'catalog-answers')):
    code, out, err = run(ORACLES / 'capacity-mix.json', path)
    check(f'{path.name} is refused', code == 4 and out == '' and where in err, f'exit {code} {err}')
code, out, err = run(work / 'bad.json', '--format', 'json')
check('error as JSON', code == 4 and out == '' and json.loads(err)['error']['where'].split(':')[-2] == '3', err)
for args in ((), (ORACLES / 'capacity-mix.json', '--max-p90', 'x'), (ORACLES / 'throughput.json', '--calibrate', 'me')):
    code, out, err = run(*args)
    check(f'usage {args}', code == 2 and out == '', f'exit {code}')

# What people read: a line per failed case, a summary line per list.
code, out, err = run(ORACLES / 'capacity-mix.json', work / 'unknown.json')
lines = out.splitlines()
check('table', len(lines) == 3 and '18 ok, 0 failed' in lines[0] and lines[1].startswith('  w  not computed: ')
      and '0 ok, 0 failed, 1 not computed' in lines[2], out)
code, out, err = run(work / 'unknown.json', '--format', 'csv')
check('csv', out.splitlines()[0] == 'file,list,id,kind,result,scored,error,reason' and 'not computed' in out, out)

print(f'{len(failures)} failures')
sys.exit(1 if failures else 0)
