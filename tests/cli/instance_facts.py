#!/usr/bin/env python3
"""Instance facts say one thing everywhere: the bundled table, the importers' table of types, and the facts that were
collected from vendors' pages and interfaces (docs/gpu-instances.csv, gpu-specs.csv, DescribeInstanceTypes)."""
import csv
import os
import re
import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FACTS = Path(os.environ.get('GPUTIER_SHARED', ROOT.parent / 'shared'))
if not (FACTS / 'docs' / 'gpu-instances.csv').is_file():
    print(f'SKIPPED: no {FACTS}/docs/gpu-instances.csv')
    sys.exit(77)

failures = []
compared = {'documented': 0, 'importers': 0, 'interface': 0}


def rows(path):
    with open(path, encoding='utf-8', newline='') as f:
        return list(csv.DictReader(f))


def say(*words):
    failures.append(' '.join(map(str, words)))


def fraction(text):
    """Documents print a sixth and a third rounded."""
    return {'0.167': Fraction(1, 6), '0.333': Fraction(1, 3)}.get(text) or Fraction(text)


def near(a, b, part=0.0):
    return abs(float(a) - float(b)) <= 1e-6 + part * abs(float(b))


def documented(types):
    columns = {'vcpus': 'vcpus', 'memory_gib': 'mem_gb', 'local_nvme_gb': 'local_nvme_gb',
               'network_gbps': 'network_gbps', 'disk_mbps': 'disk_mbps'}
    for d in rows(FACTS / 'docs' / 'gpu-instances.csv'):
        t = types.get((d['cloud'], d['instance_type']))
        if not t:
            continue
        compared['documented'] += 1
        if (t['gpu'], t['count'], t['nvlink']) != (d['gpu_model'], fraction(d['gpu_count']), d['nvlink']):
            say(d['cloud'], d['instance_type'], 'is', t['count'], t['gpu'], 'documented', d['gpu_count'], d['gpu_model'])
        for own, theirs in columns.items():  # another source may fill what the documents leave open
            if d[theirs] and not (t[own] and near(t[own], d[theirs])):
                say(d['cloud'], d['instance_type'], own, repr(t[own]), 'documented', d[theirs])


def interface(types):
    """AWS as DescribeInstanceTypes answers; it counts 0 GPUs where a machine has a part of one."""
    for m in rows(FACTS / 'catalog' / 'aws-instance-types-moto-2026-08.csv'):
        t = types.get(('aws', m['instance_type']))
        if not t:
            continue
        compared['interface'] += 1
        n = m['neuron_count'] or m['gpu_count']
        if n and n != '0' and t['count'] != Fraction(n):
            say(m['instance_type'], 'counts', t['count'], 'the interface', n)
        if not near(t['vcpus'], m['vcpu']) or not near(t['memory_gib'], float(m['memory_mib']) / 1024, 0.01):
            say(m['instance_type'], 'has', t['vcpus'], t['memory_gib'], 'the interface', m['vcpu'], m['memory_mib'])
        if m['instance_storage_gb'] and not near(t['local_nvme_gb'] or 0, m['instance_storage_gb']):
            say(m['instance_type'], 'local disk', t['local_nvme_gb'], 'the interface', m['instance_storage_gb'])


def importers(types):
    text = (ROOT / 'pricing' / 'sources' / 'gpu_instances.c').read_text(encoding='utf-8')
    table = re.findall(r'\{"([^"]+)", "([^"]+)", "([^"]+)", (\d+), (\d+), (-?[\d.]+)F?\}', text)
    if len(table) < 350 or [t[:2] for t in table] != sorted(t[:2] for t in table):
        say('gpu_instances.c:', len(table), 'types are read, or they are not sorted')
    for vendor, name, model, num, den, memory in table:
        t = types.get((vendor, name))
        if not t:
            continue
        compared['importers'] += 1
        if (t['gpu'], t['count']) != (model, Fraction(int(num), int(den))):
            say(vendor, name, 'is', t['count'], t['gpu'], 'in gpu_instances.c', num, den, model)
        if float(memory) > 0 and not near(t['gpu_memory_gib'], memory, 0.01):
            say(vendor, name, 'GPU memory', t['gpu_memory_gib'], 'in gpu_instances.c', memory)


def memory(types):
    """Nominal, of one GPU, of the slice for a fraction: one figure for all vendors."""
    sheet = {r['model']: float(r['mem_gb']) for r in rows(FACTS / 'docs' / 'gpu-specs.csv')}
    for (vendor, name), t in types.items():
        if t['gpu'] in sheet and not near(t['gpu_memory_gib'], sheet[t['gpu']] * min(1.0, float(t['count'])), 0.01):
            say(vendor, name, t['count'], t['gpu'], 'has', t['gpu_memory_gib'], 'the sheet', sheet[t['gpu']])


bundled = {(r['vendor'], r['instance_type']): dict(r, count=Fraction(int(r['gpu_num']), int(r['gpu_den'])))
           for r in rows(ROOT / 'data' / 'snapshot' / 'instance_types.csv')}
documented(bundled)
interface(bundled)
importers(bundled)
memory(bundled)
for what, least in (('documented', 240), ('importers', 300), ('interface', 80)):
    if compared[what] < least:
        say(what, compared[what], f'types are compared, expected {least} or more')
for line in failures[:40]:
    print(line)
print(f'{len(bundled)} types, compared: {compared}, {len(failures)} differences')
sys.exit(1 if failures else 0)
