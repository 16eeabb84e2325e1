#!/usr/bin/env python3
"""bench and calibrate through the binary: documents, labels, storing, Ctrl-C, a crashing child."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import json_schema

G = os.environ.get('GPUTIER', './gputier')
work = tempfile.TemporaryDirectory()
env = dict(os.environ, GPUTIER_DB=work.name + '/x.db', POCL_CACHE_DIR=work.name + '/pocl', HOME=work.name)
failures = []


def run(*args, **kw):
    return subprocess.run([G, *args], capture_output=True, text=True, env=kw.pop('env', env), timeout=120, **kw)


def children(pid):
    """Processes whose parent is pid, and those that measure for this binary."""
    found = []
    for p in filter(str.isdigit, os.listdir('/proc')):
        try:
            parent = open(f'/proc/{p}/stat').read().rsplit(')', 1)[1].split()[1]
        except OSError:
            continue
        if parent == str(pid):
            found.append(int(p))
    return found


def check(ok, text):
    if not ok:
        failures.append(text)
        print('not met:', text)


def measured(device):
    r = run('bench', '--device', device, '--quick', '--format', 'json')
    if device == 'opencl' and r.returncode and 'no OpenCL loader' in r.stderr:
        print('SKIPPED: no OpenCL loader here')
        return
    check(r.returncode == 0, f'bench {device} ends with 0: {r.stderr}')
    d = json.loads(r.stdout)
    check(not json_schema.validate(d, json_schema.load('bench')), f'bench {device} keeps its schema')
    check(d['device']['class'] == 'cpu-fallback', 'a CPU is never called a GPU')
    check(all(x['checked'] for x in d['results']), 'every output was compared with the CPU')
    check(all(0 < x['min'] <= x['median'] <= x['p95'] for x in d['results']), 'min <= median <= p95')
    check('not a GPU' in ' '.join(d['notes']), 'the label stands in the notes')


def main():
    measured('cpu')
    measured('opencl')
    r = run('bench', '--device', 'abacus')
    check(r.returncode == 1 and 'abacus' in r.stderr and not r.stdout, 'an unknown back end is one sentence')
    r = run('bench', '--list')
    check(r.returncode == 0 and 'CPU, not a GPU' in r.stdout, 'the list labels the CPU')

    p = subprocess.Popen([G, 'bench', '--device', 'cpu'], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.7)
    start = time.time()
    own = children(p.pid)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=10)
    check(p.returncode == 130 and time.time() - start < 2, f'Ctrl-C ends it soon with 130 (was {p.returncode})')
    left = [c for c in own if os.path.exists(f'/proc/{c}')]
    check(own and not left, f'no measuring process is left behind: {own} {left}')

    p = subprocess.Popen([G, 'bench', '--device', 'cpu'], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child = []
    for _ in range(100):
        child = children(p.pid)
        if child:
            break
        time.sleep(0.02)
    check(bool(child), 'the device is measured in a process of its own')
    if child:
        os.kill(child[0], signal.SIGKILL)  # under a sanitizer SIGSEGV would be caught
    out, err = p.communicate(timeout=60)
    check(p.returncode == 1 and 'crashed' in err and not out, f'a crashing driver is one sentence: {p.returncode} {err}')

    r = run('calibrate', '--format', 'json')
    d = json.loads(r.stdout)
    check('CPU, not a GPU' in d['basis'] and d['factor'] == 1, 'a CPU bench never calibrates a GPU')
    base = {x['gpu']: x['samples_per_s'] for x in d['gpus']}
    r = run('calibrate', '--measured', '620', '--gpu', 'RTX 3090', '--format', 'json')
    d = json.loads(r.stdout)
    rows = {x['gpu']: x for x in d['gpus']}
    check(abs(rows['RTX 3090']['samples_per_s'] - 620) < 1e-6, 'the measured GPU shows the measured rate')
    check(len(rows) > 30 and all(abs(rows[g]['samples_per_s'] / base[g] - d['factor']) < 1e-9 for g in rows),
          'the factor applies to every GPU')
    same = rows['RTX 3090']['interval']
    other = rows['RTX 4090']['interval']
    check((same[1] - same[0]) / 620 < (other[1] - other[0]) / rows['RTX 4090']['samples_per_s'],
          'the band is narrower on the GPU that was measured')
    for x in d['gpus']:
        if x['epoch_usd'] is not None:
            want = 1281167 / x['samples_per_s'] / 3600 * x['usd_per_gpu_hour']
            check(abs(x['epoch_usd'] - want) < 1e-9 * want and x['source_id'], 'an epoch costs time x price, with its source')
    for bad in (['--measured', 'nan', '--gpu', 'T4'], ['--measured', '-5', '--gpu', 'T4'], ['--measured', '5'],
                ['--measured', '5', '--gpu', 'Voodoo2'], ['--model', 'no-such'], ['--precision', 'fp3'], ['--gpus', '0', '--measured', '1', '--gpu', 'T4']):
        r = run('calibrate', *bad)
        check(r.returncode == 2 and r.stderr and not r.stdout, f'calibrate {bad} is refused: {r.returncode} {r.stderr}')
    return 1 if failures else 0


sys.exit(main())
