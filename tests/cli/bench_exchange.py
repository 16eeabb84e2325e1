#!/usr/bin/env python3
"""bench export, import and history: a colleague's run moves between databases and improves calibrate;
documents that are cut, spoilt or impossible are refused with file and place, and nothing is kept; drift is
what Python computes."""
import copy
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import json_schema

G = os.path.abspath(os.environ.get('GPUTIER', './gputier'))
work = tempfile.TemporaryDirectory()
failures = []


def check(ok, text):
    if not ok:
        failures.append(text)
        print('not met:', text)


def run(*args, db='a', **env):
    e = dict(os.environ, GPUTIER_DB=f'{work.name}/{db}.db', HOME=work.name, GPUTIER_NOW='2026-12-03T08:00:00Z', **env)
    return subprocess.run([G, *args], capture_output=True, text=True, env=e, timeout=120)


def result(metric, median, unit='GB/s', spread=0.02):
    low, high = median * (1 - spread / 2), median * (1 + spread / 2)
    return {'metric': metric, 'value': median, 'unit': unit, 'median': median, 'min': low, 'p95': high,
            'spread': (high - low) / median, 'checked': True}


def document(triad=3000.0, fp32=58e3, spread=0.02, name='NVIDIA H100 80GB HBM3 SXM', when='2026-11-30T10:00:00Z'):
    return {'schema': 'gputier/bench/1',
            'device': {'name': name, 'class': 'gpu', 'backend': 'cuda', 'driver': 'CUDA 12.4', 'vendor': 'NVIDIA', 'memory_gib': 79.6},
            'measured_at': when, 'origin': None, 'conditions': None,
            'results': [result('triad', triad, spread=spread), result('fma_fp32', fp32, 'GFLOP/s', spread)], 'notes': ['ours']}


def write(name, value):
    path = f'{work.name}/{name}'
    with open(path, 'w') as f:
        f.write(value if isinstance(value, str) else json.dumps(value))
    return path


def history(db):
    d = json.loads(run('bench', 'history', '--format', 'json', db=db).stdout)
    check(not json_schema.validate(d, json_schema.load('bench-history')), 'the history keeps its schema')
    return d


def moves():
    check(run('bench', 'export').returncode == 1, 'nothing is stored, nothing exported')
    r = run('bench', '--device', 'cpu', '--quick', '--format', 'json')
    own = json.loads(r.stdout)
    file = work.name + '/own.json'
    r = run('bench', 'export', '-o', file)
    check(r.returncode == 0 and json.load(open(file)) == own and own['measured_at'] == '2026-12-03T08:00:00Z',
          f'what was measured is exported: {r.stderr}')
    r = run('bench', 'import', file, db='b')
    check(r.returncode == 0 and 'CPU, not a GPU' in r.stdout, f'and imported elsewhere, labelled: {r.stdout} {r.stderr}')
    back = json.loads(run('bench', 'export', db='b').stdout)
    check(back == dict(own, origin='own.json'), 'the same document, with where it came from')
    check('CPU, not a GPU' in json.loads(run('calibrate', '--format', 'json', db='b').stdout)['basis'], 'a CPU calibrates nothing')

    r = run('bench', 'import', write('h100.json', document()), db='b')
    check(r.returncode == 0, f'a run of an H100: {r.stderr}')
    d = json.loads(run('calibrate', '--format', 'json', db='b').stdout)
    sheet = 3350  # NVIDIA H100 SXM data sheet, GB/s
    check(d['measured_on'] == 'H100 SXM' and abs(d['factor'] - 3000 / (0.9 * sheet)) < 1e-9,
          f"it calibrates the H100: {d['measured_on']} {d['factor']}")
    h = history('b')
    check([x['origin'] for x in h['runs']] == ['h100.json', 'own.json'] and h['runs'][0]['medians']['triad'] == 3000, f'history: {h}')
    check('h100.json' in run('bench', 'history', db='b').stdout, 'the list says where it came from')
    r = run('bench', 'export', str(h['runs'][1]['run']), db='b')
    check(json.loads(r.stdout)['device']['backend'] == 'cpu', 'a run is named by its number')
    check(run('bench', 'export', '999', db='b').returncode == 1, 'an unknown run is an error')
    r = run('bench', 'import', write('esc.json', document(name='H100 \x1b[31m\x9b1m SXM\n')), db='c')
    check(r.returncode == 0 and not set('\x1b\x9b') & set(r.stdout + run('bench', 'history', db='c').stdout +
                                                           run('bench', 'export', db='c').stdout), 'no escapes come through')


def own_runs_count_first():
    """An import, however late, does not take the place of what was measured here on a device of that name."""
    def factor():
        return json.loads(run('calibrate', '--format', 'json', db='own').stdout)['factor']
    run('bench', 'import', write('mine.json', document(2000.0)), db='own')
    with sqlite3.connect(work.name + '/own.db') as db:  # as if measured here
        db.execute("UPDATE bench_run SET document = json_set(document, '$.origin', NULL)")
    own = factor()
    run('bench', 'import', write('theirs.json', document(3000.0)), db='own')
    check(abs(own - 2000 / (0.9 * 3350)) < 1e-9 and factor() == own and len(history('own')['runs']) == 2, f'own: {own}, with a late import {factor()}')
    run('bench', 'import', write('other.json', document(1500.0, 40e3, name='NVIDIA H100 PCIe')), db='own')
    check(len(history('own')['runs']) == 3, 'of another device it counts')


def spoilt():
    """(what, document, words of the message)."""
    good = document()

    def with_(*path_value):
        d, (*path, last), value = copy.deepcopy(good), path_value[:-1], path_value[-1]
        at = d
        for p in path:
            at = at[p]
        if value is KeyError:
            del at[last]
        else:
            at[last] = value
        return d
    text = json.dumps(good, indent=1)
    for cut in range(0, len(text) - 1, 97):
        yield f'cut at {cut}', text[:cut], ['line', 'column']
    yield 'empty list', '[]', ['schema']
    yield 'a number', '7', ['schema']
    yield 'deep', '[' * 5000, ['line 1']
    yield 'other schema', with_('schema', 'gputier/plan/1'), ['schema']
    for key in ('name', 'class', 'backend', 'driver'):
        yield 'no ' + key, with_('device', key, KeyError), ['device.' + key]
        yield 'wrong ' + key, with_('device', key, 5), ['device.' + key]
    yield 'class', with_('device', 'class', 'tpu'), ['device.class', 'tpu']
    yield 'cpu as gpu', with_('device', 'backend', 'cpu'), ['cannot come from']
    yield 'gpu as cpu', with_('device', 'class', 'cpu-fallback'), ['cannot come from']
    yield 'long name', with_('device', 'name', 'x' * 301), ['device.name']
    yield 'blank name', with_('device', 'name', '  '), ['device.name']
    yield 'results', with_('results', []), ['results']
    yield 'many', with_('results', [result(f'm{i}', 1) for i in range(129)]), ['results']
    yield 'twice', with_('results', [result('triad', 1), result('triad', 2)]), ['results[1].metric', 'twice']
    for key in ('metric', 'unit', 'median', 'min', 'p95', 'spread', 'value', 'checked'):
        yield 'no ' + key, with_('results', 1, key, KeyError), ['results[1].' + key]
    for value in (-1, 0, 1e30, 'NaN', None, True):
        yield f'median {value}', with_('results', 0, 'median', value), ['results[0].median']
    yield 'infinite', json.dumps(good).replace('3000.0', '1e999', 1), ['results[0]']
    yield 'order', with_('results', 0, 'min', 3100), ['not in order']
    yield 'spread', with_('results', 0, 'spread', 0.5), ['does not follow']
    yield 'value', with_('results', 0, 'value', 2999), ['does not follow']
    yield 'unchecked', with_('results', 0, 'checked', False), ['not checked']
    yield 'metric name', with_('results', 0, 'metric', 'a; DROP TABLE'), ['results[0].metric']
    yield 'unit', with_('results', 0, 'unit', 'furlong'), ['results[0].unit']
    yield 'conditions', with_('conditions', 3), ['conditions']
    yield 'hot', with_('conditions', {'temperature_c': 900}), ['conditions.temperature_c', '900']
    yield 'when', with_('measured_at', 'yesterday'), ['measured_at']
    yield 'future', with_('measured_at', '2027-01-01T00:00:00Z'), ['future']
    yield 'impossible', document(triad=3700.0), ['3350', 'measuring error', 'H100 SXM']


def refusals():
    before = history('b')
    n = 0
    for what, doc, words in spoilt():
        r = run('bench', 'import', write('bad.json', doc), db='b')
        impossible = what == 'impossible'
        n += 1
        check(r.returncode == (1 if impossible else 4) and not r.stdout and r.stderr.count('\n') == 1 and
              (impossible or 'bad.json' in r.stderr) and all(w in r.stderr for w in words),
              f'{what}: {words}: {r.returncode} {r.stderr!r}')
    check(n > 40 and history('b') == before, 'nothing of them is kept')
    r = run('bench', 'import', work.name + '/none.json')
    check(r.returncode != 0 and 'none.json' in r.stderr, 'a file that is not there')
    with open(work.name + '/big.json', 'w') as f:
        f.write('{"schema": "' + 'x' * (2 << 20) + '"}')
    check(run('bench', 'import', work.name + '/big.json').returncode != 0, 'a file without end')
    for args in (['import'], ['import', 'a', 'b'], ['export', '1', '2'], ['history', '1'], ['frobnicate']):
        check(run('bench', *args).returncode == 2, f'bench {args} is a usage error')


def drift():
    runs = [(3000.0, 0.02), (3040.0, 0.01), (2980.0, 0.05), (2700.0, 0.02)]
    file = work.name + '/same.json'
    for i, (triad, spread) in enumerate(runs):
        write('same.json', document(triad, 58e3, spread, when=f'2026-11-{20 + i}T00:00:00Z'))
        check(run('bench', 'import', file, db='d').returncode == 0, 'imported')
        median = statistics.median(t for t, _ in runs[:i]) if i else None
        wide = max([0.03] + [s for _, s in runs[:i + 1]])
        want = [(triad, median, i)] if i and abs(triad / median - 1) > wide else []
        got = history('d')['drift']
        check([(x['latest'], x['median_before'], x['runs_before']) for x in got] == want and
              all(abs(x['change'] - (triad / median - 1)) < 1e-12 and abs(x['spread'] - wide) < 1e-9 for x in got),
              f'run {i}: {got}, expected {want}')
    check('triad 2700 GB/s, -10 % against the median of 3 earlier' in run('bench', 'history', db='d').stdout, 'drift is told')
    write('other.json', document(1700.0))
    run('bench', 'import', work.name + '/other.json', db='d')
    check(len(history('d')['drift']) == 1, "somebody else's board is no drift")


moves()
own_runs_count_first()
refusals()
drift()
sys.exit(1 if failures else 0)
