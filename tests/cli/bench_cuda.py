#!/usr/bin/env python3
"""bench on a GPU, through the binary and the stand-in driver (tests/support/libcuda.c): documents,
what is chosen, and every trouble a driver can make, as one sentence."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import json_schema

G = os.path.abspath(os.environ.get('GPUTIER', './gputier'))
support = os.path.join(os.path.dirname(G), 'tests', 'support')
work = tempfile.TemporaryDirectory()
base = dict(os.environ, GPUTIER_DB=work.name + '/x.db', HOME=work.name, POCL_CACHE_DIR=work.name + '/pocl',
            LD_LIBRARY_PATH=support, STANDIN_MEMORY='64')
failures = []


def check(ok, text):
    if not ok:
        failures.append(text)
        print('not met:', text)


def run(*args, **env):
    return subprocess.run([G, 'bench', *args], capture_output=True, text=True, env=dict(base, **env), timeout=120)


def trouble(words, *args, status=1, **env):
    r = run('--device', 'cuda', '--quick', *args, **env)
    check(r.returncode == status and not r.stdout and r.stderr.count('\n') == 1 and all(w in r.stderr for w in words),
          f'{env} is one sentence with {words}: {r.returncode} {r.stderr!r}')


def main():
    if not os.path.exists(support + '/libcuda.so.1'):
        print('not met: the stand-in driver is not built')
        return 1
    r = run('--quick', '--format', 'json', STANDIN_CC='90')
    check(r.returncode == 0, f'a GPU is measured: {r.stderr}')
    d = json.loads(r.stdout)
    check(not json_schema.validate(d, json_schema.load('bench')), 'the document keeps its schema')
    check((d['device']['class'], d['device']['backend'], d['device']['name']) == ('gpu', 'cuda', 'Stand-in GPU'),
          f'auto takes the GPU: {d["device"]}')
    names = {x['metric'] for x in d['results']}
    check({'triad', 'gather', 'transpose', 'divergence_32', 'fma_fp64', 'fma_fp16', 'mma_sync_fp16', 'mma_sync_fp8',
           'cache', 'atomics_random', 'launch', 'h2d_pinned'} <= names and all(x['checked'] for x in d['results']),
          f'all is measured and checked: {sorted(names)}')
    check(any('mma.sync' in n for n in d['notes']), 'what mma.sync does not reach is said')
    r = run('--list', STANDIN_DEVICES='2', STANDIN_NAME='\x1b[31mNVIDIA T4')
    check(r.returncode == 0 and r.stdout.count('NVIDIA T4') == 2 and '\x1b' not in r.stdout, f'two devices, no escapes: {r.stdout!r}')

    check(d['conditions']['sm_max_mhz'] == 1410 and d['conditions']['others'] == 0 and d['conditions']['power_w'] > 200,
          f"what NVML told is kept: {d['conditions']}")
    slow = dict(STANDIN_CC='35', STANDIN_NAME='NVIDIA A100-SXM4-40GB', STANDIN_NVML_SET='reasons:4,limit:150000,width:4,sm:705,ecc:1')
    r = run('--device', 'cuda', '--quick', '--metrics', 'triad,copy', **slow)
    check(r.returncode == 0 and 'clock 705 of 1410 MHz' in r.stdout and 'PCIe 4 x4, ECC on' in r.stdout and
          'slowed by power limit 100 %' in r.stdout, f'conditions are told: {r.stdout} {r.stderr}')
    check(re.search('note: (copy|scale|add|triad) reaches .* % of the 1555 GB/s of A100-40GB SXM4: power limit 150 W .the board\'s own '
                    'is 400 W., which held it for 100 % of the time; clock 705 of 1410 MHz; ECC is on', r.stdout),
          f'a figure far below the sheet is explained: {r.stdout}')
    check(r.stdout.count('of the 1555 GB/s') == 1, 'once, for the lowest of a kind')
    r = run('--device', 'cuda', '--quick', '--metrics', 'triad', STANDIN_NVML_FAIL='nvmlInit_v2:18')
    check(r.returncode == 0 and r.stdout.count('restart the machine (18)') == 1 and 'while measuring' not in r.stdout,
          f'NVML that fails is one note: {r.stdout}')
    trouble(['--metrics', 'no \'abacus\''], '--metrics', 'triad,abacus', status=2)
    trouble(['cannot do mma_sync_fp8'], '--metrics', 'mma_sync_fp8')
    trouble(['more than 1000 characters'], '--metrics', 'x' * 1001, status=2)
    lone = work.name + '/lone'
    os.mkdir(lone)
    os.symlink(support + '/libcuda.so.1', lone + '/libcuda.so.1')
    r = run('--device', 'cuda', '--quick', '--metrics', 'triad', '--format', 'json', LD_LIBRARY_PATH=lone)
    d = json.loads(r.stdout)
    check(d['conditions'] is None and sum('libnvidia-ml.so.1 is not here' in n for n in d['notes']) == 1 and
          not json_schema.validate(d, json_schema.load('bench')), f"no NVML is one note: {d['notes']}")

    trouble(['no NVIDIA driver'], LD_LIBRARY_PATH='/nonexistent')
    trouble(['no NVIDIA GPU', '(100)'], STANDIN_DEVICES='0')
    trouble(['stub library', 'LD_LIBRARY_PATH'], STANDIN_STUB='1')
    trouble(['driver', 'differ'], STANDIN_FAIL='cuInit:1:803')
    trouble(['fabric manager'], STANDIN_FAIL='cuInit:1:802')
    trouble(['memory', 'nvidia-smi'], STANDIN_FAIL='cuMemAlloc_v2:2:2')
    trouble(['JIT compiler'], STANDIN_FAIL='cuModuleLoadDataEx:1:221')
    trouble(['watchdog'], STANDIN_FAIL='cuStreamSynchronize:5:702')
    trouble(['crashed'], STANDIN_CRASH='cuLaunchKernel')
    trouble(['wrong result', 'scale'], STANDIN_WRONG='scale')
    trouble(['measuring error', 'mma_sync_fp16', 'P100'], STANDIN_NAME='Tesla P100-SXM2-16GB', STANDIN_LAZY='mma_f16')
    fake = work.name + '/rubbish'
    os.mkdir(fake)
    with open(fake + '/libcuda.so.1', 'w') as f:
        f.write('not a library')
    trouble(['no NVIDIA driver'], LD_LIBRARY_PATH=fake)

    p = subprocess.Popen([G, 'bench', '--device', 'cuda'], env=dict(base, STANDIN_HANG='cuStreamSynchronize'),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.7)
    start = time.time()
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=20)
    check(p.returncode == 130 and time.time() - start < 2, f'a hung driver does not hold Ctrl-C: {p.returncode}')
    r = subprocess.run([G, 'calibrate', '--format', 'json'], capture_output=True, text=True, env=base, timeout=120)
    check(r.returncode == 0 and json.loads(r.stdout)['factor'] == 1, f'an unknown GPU calibrates none: {r.stdout[:300]} {r.stderr}')
    return 1 if failures else 0


sys.exit(main())
