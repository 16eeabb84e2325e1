#!/usr/bin/env python3
"""What practitioners say about storage tiers against what `tier` answers for the shipped histograms. Every total is
computed here again from list prices by the rules R-S3-11 to R-S3-22, in fractions; so are the cost of the rule of
thumb where it loses and the packs. `--table` prints the README's."""
import csv
import json
import os
import sys
import tempfile
from fractions import Fraction as F
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
from asked import expect  # noqa: E402

GIB, MONTHS = 1 << 30, 36
STORE, ARCHIVE = F('0.023'), F('0.00099')  # a GiB-month of Standard and of Deep Archive, us-east-1
GET, PUT, TRANSITION, RESTORE, RETRIEVAL = F('0.0004') / 1000, F('0.005') / 1000, F('0.05') / 1000, F('0.1') / 1000, F('0.02')


def groups(name):
    with open(f'data/examples/{name}.csv', encoding='utf-8') as f:
        for r in csv.DictReader(f):
            yield r['prefix'], int(r['objects']), int(r['bytes']), int(r['gets_30d']), int(r['bytes_read_30d'])


def standard(n, size, gets, read):
    return MONTHS * (F(size, GIB) * STORE + gets * GET)


def archive(n, size, gets, read):
    """Moved at once: 32 KiB an object at the class's own rate, 8 KiB at Standard's; what is read is restored for 7 days."""
    month = F(size + 32768 * n, GIB) * ARCHIVE + F(8192 * n, GIB) * STORE
    month += gets * (GET + RESTORE) + F(read, GIB) * (RETRIEVAL + STORE * 7 / 30)
    return n * TRANSITION + MONTHS * month


def packed(n, size):
    """Read once, written into packs of 128 MiB, which go to Deep Archive; nobody reads them."""
    more = size + 1024 * n
    packs = -(-more // (128 << 20))
    return n * GET + packs * PUT + archive(packs, more + packs * 10240, 0, 0), packs


def near(got, want, what):
    expect(abs(F(got) - want) < F('1e-6'), f'{what}: {got}, expected {float(want):.9f}')


def check(name):
    """The answer's saving in percent, and how many times what doing nothing costs the rule of thumb does."""
    doc = json.loads(asked.run('tier', f'data/examples/{name}.csv', '--horizon', '36mo', '--format', 'json').stdout or '{}')
    expect(json_schema.validate(doc, json_schema.load('tier')) == [], f'{name}: schema')
    rows = list(groups(name))
    stay, cold = [standard(*r[1:]) for r in rows], [archive(*r[1:]) for r in rows]
    near(doc['baseline'], sum(stay), f'{name}: as it is')
    near(doc['total'], sum(map(min, stay, cold)), f'{name}: the plan')
    naive = doc['naive'][0]
    expect(naive['tier'] == 's3_deep_archive', f'{name}: {naive}')
    near(naive['cost'], sum(cold), f'{name}: everything into Deep Archive')
    steps = [s for s in doc['first_steps'] if s.startswith('do not move everything')]
    expect(len(steps) == (sum(cold) > sum(stay)), f'{name}: {doc["first_steps"]}')
    expect(not steps or f'{float(sum(cold) / sum(stay)):.1f} times' in steps[0], f'{name}: {steps}')
    for prefix, n, size, gets, _ in rows:
        told = [s for s in doc['first_steps'] if s.startswith(f'{prefix}: pack small objects')]
        if size // n >= 1 << 20:
            expect(told == [], f'{name}: {told}')
            continue
        cost, packs = packed(n, size)
        gain = min(standard(n, size, gets, 0), archive(n, size, 0, 0)) - cost
        expect(len(told) == 1 and f'into {packs} packs' in told[0] and f'saves {float(gain):.2f} USD' in told[0],
               f'{name}: {told}, expected {packs} packs and {float(gain):.2f}')
    return 100 * F(doc['saving']) / F(doc['baseline']), F(naive['cost']) / F(doc['baseline'])


def table(rows):
    text = '| histogram | practitioners say | gputier says | |\n|---|---|---|---|\n'
    for name, claim, answer, why in rows:
        text += f'| `{name}.csv` | {claim} | {answer} | {why} |\n'
    return text


def main():
    with tempfile.TemporaryDirectory() as d:
        os.environ.update(GPUTIER_DB=d + '/x.db', GPUTIER_NOW='2026-12-01T00:00:00Z')
        save, times = {}, {}
        for name in ('archive-of-scans', 'active-archive', 'thumbnails', 'sensor-readings'):
            save[name], times[name] = check(name)
    for name, lo, hi in (('archive-of-scans', 60, 61), ('active-archive', 19, 21), ('thumbnails', 0, 0), ('sensor-readings', 0, 0)):
        expect(lo <= save[name] <= hi, f'{name} saves {float(save[name]):.2f} %')
    expect(18 <= times['sensor-readings'] < 19, f'the loser: {float(times["sensor-readings"]):.2f} times')
    rows = [(name, claim, f'{float(save[name]):.0f} %', why) for name, claim, why in (
        ('archive-of-scans', 'lifecycle rules save 60 %', '63 % of the bytes are never read and may wait 12 hours, in large objects, '
         'for 36 months; the rest stays hot'),
        ('active-archive', 'the same rules, the same saving', 'only 21 % of the bytes are never read'),
        ('thumbnails', 'what nobody reads belongs into the archive', '40 KiB an object: the fee of the move and 40 KiB added to each '
         'cost more than they save; packing first pays'))]
    rows.append(('sensor-readings', 'the same with 10⁸ objects of 4 KiB', f'leave it: the rule costs {float(times["sensor-readings"]):.1f} '
                 'times as much', 'fees of 5,000 USD to save 8.77 a month; packing first pays'))
    if '--table' in sys.argv:
        sys.stdout.write(table(rows))
        return 0
    expect(table(rows) in Path('README.md').read_text(encoding='utf-8'),
           'the table in README.md is not this one: tests/cli/readme_tour.py --write\n' + table(rows))
    return asked.verdict()


sys.exit(main())
