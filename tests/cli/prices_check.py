#!/usr/bin/env python3
"""`prices check`: the shipped table holds no error; each kind of fault put into it is found, exactly
where it was put; and on a table with hundreds of faults the findings are those of a second, slow
implementation of the stated rules over `prices --format json`."""
import csv
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

GPUTIER = os.environ.get('GPUTIER', './gputier')
DATA = Path(__file__).resolve().parents[2] / 'data'
NOW = '2026-08-25T00:00:00Z'
WORK = Path(tempfile.mkdtemp(prefix='prices_check.'))
KEY = ('vendor', 'region', 'zone', 'instance_type', 'purchase', 'payment', 'offering_class')
failures = []


def say(ok, text):
    print(('ok   ' if ok else 'FAIL ') + text)
    if not ok:
        failures.append(text)


class Table:
    """A copy of the shipped snapshot to spoil, and the program on it."""

    def __init__(self, name):
        self.dir = WORK / name
        (self.dir / 'data').mkdir(parents=True)
        shutil.copytree(DATA / 'snapshot', self.dir / 'data' / 'snapshot')
        self.env = dict(os.environ, GPUTIER_DB=str(self.dir / 'g.db'), GPUTIER_DATA=str(self.dir / 'data'),
                        GPUTIER_NOW=NOW, XDG_CONFIG_HOME=str(self.dir))

    def edit(self, table, change):
        path = self.dir / 'data' / 'snapshot' / f'{table}.csv'
        rows = list(csv.DictReader(open(path, encoding='utf-8', newline='')))
        columns = list(rows[0])
        change(rows)
        with open(path, 'w', encoding='utf-8', newline='') as f:
            w = csv.DictWriter(f, columns, lineterminator='\n')
            w.writeheader()
            w.writerows(rows)

    def run(self, *args):
        return subprocess.run([GPUTIER, *args], env=self.env, capture_output=True, text=True, timeout=120)

    def json(self, *args):
        r = self.run(*args, '--format', 'json')
        if not r.stdout:
            say(False, f'{args}: status {r.returncode}: {r.stderr}')
            sys.exit(1)
        return r.returncode, json.loads(r.stdout)

    def findings(self, *args):
        rc, doc = self.json('prices', 'check', '--limit', '1000000', *args)
        return rc, doc['findings']


def key(row):
    return tuple(row[c] or '' for c in KEY)


def cases(findings):
    """(kind, key of the offending row); the kinds that gather many rows stand for themselves."""
    return {(f['kind'], f['rows'][0]['source_id'] if f['kind'] == 'stale_price' else f['rows'][0]['gpu'] if
             f['kind'] == 'unknown_gpu' else key(f['rows'][0])) for f in findings}


# -- each fault alone -----------------------------------------------------------------------------
def find(rows, **want):
    return [r for r in rows if all(r[k] == v for k, v in want.items()) and not r['valid_to']]


def offer(change, **want):
    def edit(table):
        hit = []

        def rows(all_rows):
            found = find(all_rows, **want)
            assert found, want
            change(found[0], all_rows)
            hit.append(key(found[0]))
        table.edit('offers', rows)
        return hit
    return edit


def times(factor, column='price_per_hour'):
    def change(row, _):
        row[column] = f'{float(row[column]) * factor:.9f}'
    return change


def put(**fields):
    def change(row, _):
        row.update(fields)
    return change


def machine(vendor, itype, **fields):
    """Spoils the facts of one type; every offer of it is hit."""
    def edit(table):
        table.edit('instance_types', lambda rows: [r.update(fields) for r in rows if
                                                   (r['vendor'], r['instance_type']) == (vendor, itype)])
        return None
    return edit


def fifty(table):
    """A default price for every type of a region."""
    def rows(all_rows):
        for r in find(all_rows, vendor='azure', region='eastus', purchase='on_demand'):
            if r['price_state'] == 'known':
                r['price_per_hour'] = '9.73'
    table.edit('offers', rows)
    return None


def per_gpu(table):
    """Machines of 1, 2, 4 and 8 GPUs all at the price of one GPU (skypilot-catalog PR 44)."""
    def rows(all_rows):
        for n in ('1x', '2x', '4x', '8x'):
            for r in find(all_rows, vendor='lambda', region='us-west-1', purchase='on_demand'):
                if r['instance_type'] == f'gpu_{n}_a100' or r['instance_type'] == f'gpu_{n}_h100_sxm5':
                    r['price_per_hour'] = '1.99'
    table.edit('offers', rows)
    return None


def zero(table):
    """What no importer lets through, put into the database itself."""
    table.json('prices', '--limit', '1')
    db = sqlite3.connect(table.env['GPUTIER_DB'])
    n = db.execute("UPDATE offer SET price = '0', sort_price = 0 WHERE id = (SELECT o.id FROM offer o JOIN place p"
                   " ON p.id = o.place JOIN instance_type t ON t.id = o.instance_type WHERE p.vendor = 'azure' AND"
                   " p.region = 'eastus' AND t.name = 'Standard_NC24ads_A100_v4' AND o.purchase = 0 AND"
                   " o.known_to IS NULL)").rowcount
    db.commit()
    db.close()
    assert n == 1
    return [('azure', 'eastus', '', 'Standard_NC24ads_A100_v4', 'on_demand', '', '')]


def other_state(row, all_rows):
    all_rows.append(dict(row, source='anycloud-aws-2026-04-02', as_of='2026-04-02', valid_from='2026-04-02', note='',
                         price_state='sold_otherwise', price_per_hour=''))


def other_price(row, all_rows):
    all_rows.append(dict(row, source='anycloud-aws-2026-04-02', as_of='2026-04-02', valid_from='2026-04-02', note='',
                         price_per_hour=f'{float(row["price_per_hour"]) * 0.49:.6f}'))


P4D = {'vendor': 'aws', 'region': 'us-east-1', 'instance_type': 'p4d.24xlarge', 'purchase': 'on_demand'}
NC24 = {'vendor': 'azure', 'region': 'eastus', 'instance_type': 'Standard_NC24ads_A100_v4', 'zone': ''}
FAULTS = [
    ('reserved above on demand', 'commitment_above_on_demand', 'error',
     offer(times(1.7), vendor='aws', region='ap-northeast-1', instance_type='p4d.24xlarge', purchase='reserved_1y',
           payment='none')),
    ('an upfront part that makes it dearer', 'commitment_above_on_demand', 'error',
     offer(times(3, 'upfront'), vendor='aws-cn', region='cn-northwest-1', instance_type='g4dn.12xlarge',
           purchase='reserved_3y', payment='all', offering_class='standard')),
    ('f001: the bid floor taken for the price', 'gpu_at_cpu_price', 'error',
     offer(put(price_per_hour='0.01'), vendor='runpod', instance_type='1x NVIDIA B200', purchase='on_demand')),
    ('a GPU type at the price of its CPUs', 'gpu_at_cpu_price', 'error',
     offer(put(price_per_hour='0.16'), vendor='aws', region='us-east-1', instance_type='g4dn.xlarge',
           purchase='on_demand')),
    ('fifty types at one price', 'many_types_at_one_price', 'error', fifty),
    ('zero is no price', 'zero_price', 'error', zero),
    ('memory of one GPU in the total\'s field', 'impossible_memory', 'error',
     machine('azure', 'Standard_ND96asr_v4', gpu_memory_gib='320')),
    ('f111: a sixth of an A10 with all of its memory', 'impossible_memory', 'error',
     machine('azure', 'Standard_NV6ads_A10_v5', gpu_memory_gib='24')),
    ('MiB of memory taken for GiB', 'impossible_memory', 'error',
     machine('azure', 'Standard_ND96asr_v4', memory_gib='921600')),
    ('vCPUs and GiB swapped', 'impossible_memory', 'error', machine('aws', 'p4d.24xlarge', vcpus='1152',
                                                                    memory_gib='96')),
    ('yuan taken for dollars', 'currency_mismatch', 'error',
     offer(put(currency='USD'), vendor='aws-cn', region='cn-northwest-1', instance_type='p3.2xlarge',
           purchase='on_demand')),
    ('dollars taken for yuan', 'currency_mismatch', 'error',
     offer(put(currency='CNY'), vendor='gcp', region='europe-west4', instance_type='g2-standard-4',
           purchase='on_demand')),
    ('a date ahead', 'date_ahead', 'error', offer(put(as_of='2026-09-30'), **P4D)),
    ('f107: the price of one GPU for all counts', 'price_not_scaling_with_count', 'warning', per_gpu),
    ('the price of eight for each GPU', 'price_not_scaling_with_count', 'warning',
     offer(times(8), vendor='lambda', region='us-west-1', instance_type='gpu_8x_a100', purchase='on_demand')),
    ('a third of the other regions\' price', 'price_outlier', 'warning',
     offer(times(0.2), vendor='azure', region='westeurope', instance_type='Standard_ND96isr_H100_v5',
           purchase='on_demand')),
    ('spot above on demand', 'spot_above_on_demand', 'warning', offer(times(9), purchase='spot', **NC24)),
    ('spot at the price of on demand', 'spot_equals_on_demand', 'info', 'equal'),
    ('sold otherwise, says another', 'price_state_conflict', 'warning', offer(other_state, **P4D)),
    ('another price in another catalogue', 'sources_disagree', 'warning', offer(other_price, **P4D)),
    ('an old price', 'stale_price', 'info', offer(put(as_of='2026-01-01'), **P4D)),
    ('a GPU of tomorrow', 'unknown_gpu', 'info', machine('aws', 'p4d.24xlarge', gpu='Rubin Ultra')),
]
# A fault may show from two sides; nothing else may come with it.
COMES_WITH = {'a third of the other regions\' price': {'price_not_scaling_with_count'},
              'f107: the price of one GPU for all counts': {'price_outlier'},
              'the price of eight for each GPU': {'price_outlier'},
              'f001: the bid floor taken for the price': {'spot_above_on_demand', 'price_not_scaling_with_count'},
              'a GPU type at the price of its CPUs': {'commitment_above_on_demand', 'spot_above_on_demand',
                                                      'price_not_scaling_with_count', 'price_outlier'},
              'fifty types at one price': {'price_not_scaling_with_count', 'price_outlier', 'gpu_at_cpu_price',
                                           'spot_above_on_demand', 'currency_mismatch'},
              'zero is no price': {'spot_above_on_demand'},
              'yuan taken for dollars': {'commitment_above_on_demand', 'price_outlier'},
              'dollars taken for yuan': {'commitment_above_on_demand', 'spot_above_on_demand', 'price_outlier',
                                         'gpu_at_cpu_price'}}


def equal(table):
    hit = []

    def rows(all_rows):
        od = find(all_rows, purchase='on_demand', **NC24)[0]
        spot = find(all_rows, purchase='spot', **NC24)[0]
        spot['price_per_hour'] = od['price_per_hour']
        hit.append(key(spot))
    table.edit('offers', rows)
    return hit


def each_fault_alone(base):
    for i, (name, kind, severity, edit) in enumerate(FAULTS):
        table = Table(f'fault{i}')
        hit = (equal if edit == 'equal' else edit)(table)
        rc, found = table.findings()
        new = [f for f in found if next(iter(cases([f]))) not in base]
        kinds = {f['kind'] for f in new}
        mine = [f for f in new if f['kind'] == kind]
        extra = kinds - {kind} - COMES_WITH.get(name, set())
        say(bool(mine) and not extra and all(f['severity'] == severity for f in mine),
            f'{name}: {kind}' + (f', but found {sorted(kinds)}' if extra or not mine else ''))
        say(rc == (3 if any(f['severity'] == 'error' for f in new) else 0), f'… exit status {rc}')
        if hit and kind not in ('stale_price', 'unknown_gpu'):
            say({key(f['rows'][0]) for f in mine} == set(hit), f'… at the row that was spoilt: {hit}')
        say(all(r['source_id'] and r['as_of'] and 'sku' in r for f in mine for r in f['rows']) and
            all(len(f['text']) > 20 for f in mine), '… with words, sources and dates')
        shutil.rmtree(table.dir)


# -- the rules again, slowly ----------------------------------------------------------------------
def count(row):
    if row['gpu_count'] is None:
        return 0.0
    a, _, b = str(row['gpu_count']).partition('/')
    return int(a) / int(b or 1)


def on_demand_of(row, offers):
    best = None
    for o in offers:
        if o['purchase'] != 'on_demand' or not o['usd']:
            continue
        if o['zone'] == row['zone']:
            return o
        if (not o['zone'] or not row['zone']) and (best is None or o['usd'] > best['usd']):
            best = o
    return best


def slow_machines(rows, out):
    groups = defaultdict(list)
    for r in rows:
        groups[(r['vendor'], r['region'], r['instance_type'])].append(r)
    for offers in groups.values():
        for r in offers:
            market = r['purchase'] in ('spot', 'low_priority')
            term = r['purchase'].endswith(('_1y', '_3y')) or r['purchase'] == 'monthly'
            od = on_demand_of(r, offers) if r['usd'] is not None and (market or term) else None
            if not od:
                continue
            if market and r['usd'] > od['usd'] * (1 + 1e-9):
                out.add(('spot_above_on_demand', key(r)))
            elif market and r['usd'] >= od['usd'] * (1 - 1e-9):
                out.add(('spot_equals_on_demand', key(r)))
            elif term and r['usd'] > od['usd'] * (1 + 1e-9):
                out.add(('commitment_above_on_demand', key(r)))


def desk_card(gpu):
    return bool(re.match(r'GTX|GeForce|TITAN|Titan|Quadro|RTX A2000|RTX [2-5]', gpu or ''))


def slow_rows(rows, models, out):
    for r in rows:
        n = count(r)
        if r['usd'] is not None and r['usd'] <= 0:
            out.add(('zero_price', key(r)))
        if n >= 1 and r['purchase'] not in ('spot', 'low_priority') and r['usd'] and r['usd'] / n < 0.05 * (1 - 1e-9) and not desk_card(r['gpu']):
            out.add(('gpu_at_cpu_price', key(r)))
        want = models.get(r['gpu'])
        if want and n and r['gpu_memory_gib'] is not None:
            want, slack = (want * n, 0.30) if n < 1 else (want, 0.08)
            if abs(r['gpu_memory_gib'] - want) > (slack + 1e-6) * want:
                out.add(('impossible_memory', key(r)))
        if r['vcpus'] and r['memory_gib'] is not None and not 0.2 * (1 - 1e-6) <= r['memory_gib'] / r['vcpus'] <= 64 * (1 + 1e-6):
            out.add(('impossible_memory', key(r)))
        if r['as_of'] > '2026-08-26':
            out.add(('date_ahead', key(r)))


def slow_scaling(rows, out):
    groups = defaultdict(list)
    for r in rows:
        n = count(r)
        if r['purchase'] == 'on_demand' and r['usd'] and n >= 1 and n == int(n):
            groups[(r['vendor'], r['region'], r['gpu'], r['currency'])].append((n, r))
    for offers in groups.values():
        least = min(r['usd'] / n for n, r in offers)
        for n, r in offers:
            fewer = [x for m, x in offers if 2 * m <= n]
            low = min(fewer, key=lambda x: x['usd']) if fewer else None
            if low and r['usd'] < 1.2 * low['usd'] * (1 - 1e-6) and not (low['vcpus'] or 0) > (r['vcpus'] or 0):
                out.add(('price_not_scaling_with_count', key(r)))
            elif n > 1 and r['usd'] / n > 4 * least * (1 + 1e-6):
                out.add(('price_not_scaling_with_count', key(r)))


def slow_one_price(rows, out):
    groups = defaultdict(set)
    for r in rows:
        if r['purchase'] == 'on_demand' and r['usd']:
            groups[(r['vendor'], r['region'], r['price_per_hour'])].add(r['instance_type'])
    for (vendor, region, _), types in groups.items():
        if len(types) >= 50:
            out.add(('many_types_at_one_price', (vendor, region)))


def slow_regions(rows, fx, out):
    groups = defaultdict(list)
    for r in rows:
        if r['usd']:
            vendor = 'aws' if r['vendor'] == 'aws-cn' else r['vendor']
            groups[(vendor, r['instance_type'], r['purchase'], r['payment'], r['offering_class'])].append(r)
    for (_, _, purchase, _, _), offers in groups.items():
        if len({r['region'] for r in offers}) < 4:
            continue
        spot = purchase in ('spot', 'low_priority')
        median, factor = sorted(r['usd'] for r in offers)[len(offers) // 2], 10 if spot else 3
        for r in offers:
            ratio = r['usd'] / median
            if (1 - 1e-6) / factor <= ratio <= factor * (1 + 1e-6):
                continue
            money = not spot and any(abs(ratio * fx[r['currency']] / fx[c] - 1) <= 0.10
                                     for c in ('USD', 'CNY') if c != r['currency'])
            out.add(('currency_mismatch' if money else 'price_outlier', key(r)))


def slow_currencies(rows, out):
    groups = defaultdict(lambda: defaultdict(list))
    for r in rows:
        groups[(r['vendor'], r['region'], r['source_id'])][r['currency']].append(r)
    for lists in groups.values():
        total, most = sum(map(len, lists.values())), max(map(len, lists.values()))
        for offers in lists.values():
            if len(offers) < most and 10 * (total - most) <= total:
                out.update(('currency_mismatch', key(r)) for r in offers)


def slow_cpu(rows, out):
    groups = defaultdict(lambda: ([], []))
    for r in rows:
        if r['purchase'] == 'on_demand' and r['usd'] and r['vcpus'] and (count(r) == 0 or count(r) >= 1):
            groups[(r['vendor'], r['region'])][count(r) > 0].append(r)
    for cpus, gpus in groups.values():
        for g in gpus:
            same = [c['usd'] for c in cpus if g['vcpus'] <= c['vcpus'] <= 1.5 * g['vcpus'] and g['memory_gib'] and
                    g['memory_gib'] <= (c['memory_gib'] or 0) <= 2 * g['memory_gib']]
            if same and g['usd'] <= min(same):
                out.add(('gpu_at_cpu_price', key(g)))


def slow(table):
    _, native = table.json('prices')
    _, dollars = table.json('prices', '--currency', 'USD')
    rows = native['offers']
    usd = {key(r): r['price_per_hour'] for r in dollars['offers']}
    for r in rows:
        r['usd'] = float(usd[key(r)]) if usd[key(r)] is not None else None
    snapshot = table.dir / 'data' / 'snapshot'
    models = {r['model']: float(r['mem_gb']) for r in csv.DictReader(open(snapshot / 'gpu_models.csv', encoding='utf-8'))}
    fx = {r['currency']: float(r['per_usd']) for r in csv.DictReader(open(snapshot / 'fx.csv', encoding='utf-8'))}
    fx['USD'] = 1.0
    out = set()
    slow_rows(rows, models, out)
    slow_machines(rows, out)
    slow_scaling(rows, out)
    slow_one_price(rows, out)
    slow_regions(rows, fx, out)
    slow_currencies(rows, out)
    slow_cpu(rows, out)
    return out


def agree(table, name):
    _, found = table.findings()
    got = {(f['kind'], key(f['rows'][0])[:2] if f['kind'] == 'many_types_at_one_price' else key(f['rows'][0]))
           for f in found if f['kind'] not in ('stale_price', 'unknown_gpu', 'sources_disagree', 'price_state_conflict')}
    want = slow(table)
    per = defaultdict(int)
    for kind, _ in got:
        per[kind] += 1
    for x in sorted(got - want)[:5]:
        say(False, f'{name}: only gputier finds {x}')
    for x in sorted(want - got)[:5]:
        say(False, f'{name}: gputier does not find {x}')
    say(got == want, f'{name}: {len(want)} findings, the same by both: {dict(per)}')
    return per


def spoil(rows, rng):
    known = [r for r in rows if r['price_state'] == 'known' and not r['valid_to'] and r['price_per_hour'] not in ('', '0')]
    for r in rng.sample(known, 700):
        r['price_per_hour'] = f'{float(r["price_per_hour"]) * rng.choice([0.02, 0.31, 0.6, 1.5, 2.2, 6.78, 0.147, 40]):.6f}'
    for r in rng.sample(known, 60):
        r['currency'] = 'CNY' if r['currency'] == 'USD' else 'USD'


def spoil_types(rows, rng):
    for r in rng.sample(rows, 40):
        column = rng.choice(['gpu_memory_gib', 'memory_gib', 'vcpus'])
        if r[column]:
            r[column] = f'{float(r[column]) * rng.choice([0.01, 0.5, 1.05, 8, 1024]):g}'


def filters_and_formats(table):
    _, all_of = table.findings()
    rc, some = table.findings('--vendor', 'azure', '--purchase', 'spot')
    want = [f for f in all_of if f['kind'] not in ('stale_price', 'unknown_gpu') and
            f['rows'][0]['vendor'] == 'azure' and f['rows'][0]['purchase'] == 'spot']
    got = [f for f in some if f['kind'] not in ('stale_price', 'unknown_gpu')]
    say(len(got) > 5 and got == want and
        rc == (3 if any(f['severity'] == 'error' for f in some) else 0), f'filters: {len(got)} of azure\'s spot')
    text = table.run('prices', 'check', '--limit', '2')
    say(text.returncode == 3 and 'error: gpu_at_cpu_price:' in text.stdout and 'more (--limit ' in text.stdout and
        'error' in text.stderr, 'words for people, status 3')
    rows = list(csv.DictReader(table.run('prices', 'check', '--format', 'csv', '--vendor', 'aws').stdout.splitlines()))
    say(len(rows) > 20 and {r['severity'] for r in rows} <= {'error', 'warning', 'info'} and
        all(r['source_id'] and r['as_of'] for r in rows), f'CSV: {len(rows)} rows')


def main():
    shipped = Table('shipped')
    rc, found = shipped.findings()
    kinds = defaultdict(int)
    for f in found:
        kinds[f['kind']] += 1
    say(rc == 0 and set(kinds) == {'sources_disagree', 'stale_price', 'unknown_gpu'},
        f'the shipped table: no error, {dict(kinds)}')
    two = [f for f in found if f['kind'] == 'sources_disagree' and key(f['rows'][0])[:4] ==
           ('gcp', 'us-central1', '', 'a3-highgpu-8g')]
    say(len(two) == 1 and [round(float(r['price_per_hour']), 2) for r in two[0]['rows']] == [88.49, 43.07] and
        two[0]['rows'][0]['as_of'] > two[0]['rows'][1]['as_of'], 'trap_32: an H100 machine at 88.49 and 43.07, both named')
    agree(shipped, 'the shipped table')
    each_fault_alone(cases(found))
    for seed in (1, 2):
        table = Table(f'random{seed}')
        rng = random.Random(seed)
        table.edit('offers', lambda rows: spoil(rows, rng))
        table.edit('instance_types', lambda rows: spoil_types(rows, rng))
        per = agree(table, f'faults by chance, seed {seed}')
        say(sum(per.values()) > 300 and len(per) >= 7, f'… {sum(per.values())} of {len(per)} kinds')
    filters_and_formats(table)
    shutil.rmtree(WORK)
    print(f'{len(failures)} failures')
    return 1 if failures else 0


sys.exit(main())
