#!/usr/bin/env python3
"""The bundled snapshot is what the importers make of the recorded files: built anew with the program under test it
has the shipped bytes, table for table. A change of an importer that changes a row shows here. Collected tables of
storage and transfer rates, whose rows each name a source, the builder reads itself: there the importers must say the
same of every rate that both have of one date."""
import csv
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / 'data'
FACTS = Path(os.environ.get('GPUTIER_SHARED', ROOT.parent / 'shared'))
if not (FACTS / 'catalog').is_dir():
    print(f'SKIPPED: no {FACTS}/catalog')
    sys.exit(77)

sys.path.insert(0, str(DATA / 'tools'))
from snap_common import Facts  # noqa: E402
from snap_import import Imports, day  # noqa: E402

failures = []


def shipped(table, *columns):
    with open(DATA / 'snapshot' / f'{table}.csv', encoding='utf-8', newline='') as f:
        return {tuple(r[c] for c in columns[:-1]) + (Decimal(r[columns[-1]]),): r for r in csv.DictReader(f)}


def same_rates(what, mine, rows, least, any_date=False):
    """rows: key, rate for one unit, end of the bracket, date. any_date: the payload does not state one."""
    n = 0
    for key, rate, end, date in rows:
        r = mine.get(key)
        if not r or (r['as_of'] != date and not any_date):
            continue
        n += 1
        own = Decimal(r['rate']) / Decimal(r.get('unit_qty', '1'))
        if own != rate or (r.get('to_qty') or r.get('to_gb') or '') != end:
            failures.append(f'{what}: {key}: the snapshot has {own} to {r}, the importer {rate} to {end!r}')
    if n < least:
        failures.append(f'{what}: {n} rates are compared, expected {least} or more')


def collected_rates():
    imports = Imports(Facts(FACTS), os.environ.get('GPUTIER', ROOT / 'gputier'))
    storage = shipped('storage_rates', 'vendor', 'region', 'tier', 'component', 'from_qty')
    for kind, files, least, any_date in (
            ('prices-csv', ['catalog/storage-prices.csv'], 190, False),
            ('prices-csv', ['catalog/storage-prices-2.csv'], 100, False),
            ('azure-retail', ['samples/azure/retail-prices.block-blob-v2.eastus.excerpt.json'], 13, True)):
        same_rates(files[0], storage,
                   (((r['vendor'], r['region'], r['tier'], r['component'], Decimal(r['from_qty'])),
                     Decimal(r['rate']) / r['unit_qty'], r['to_qty'], day(r['as_of']))
                    for r in imports.storage(kind, files, '2026-09-30')), least, any_date)
    transfer = shipped('transfer_rates', 'vendor', 'from', 'to', 'from_gb')
    same_rates('transfer.csv', transfer,
               (((r['vendor'], r['region'], r['destination'], Decimal(r['from_gb'])), Decimal(r['rate']), r['to_gb'],
                 day(r['as_of'])) for r in imports.transfer('prices-csv', ['catalog/transfer.csv'], '2026-09-30')), 840)


def first_difference(mine, new):
    """The first line of which one file has no equal: enough to find the row."""
    old, now = mine.decode().splitlines(), new.decode().splitlines()
    gone, come = set(old) - set(now), set(now) - set(old)
    return (f'{len(gone)} lines are gone, first {next((x for x in old if x in gone), None)!r}; '
            f'{len(come)} are new, first {next((x for x in now if x in come), None)!r}')


with tempfile.TemporaryDirectory() as name:
    out = Path(name)
    program = os.environ.get('GPUTIER', ROOT / 'gputier')
    p = subprocess.run([sys.executable, DATA / 'tools' / 'build_snapshot.py', '--facts', FACTS, '--out', out,
                        '--gputier', program], capture_output=True, text=True, check=False)
    if p.returncode != 0:
        print('build_snapshot.py: ' + p.stderr[-2000:])
        sys.exit(1)
    files = 0
    for part in ('snapshot', 'traces'):
        mine = {f.name: f.read_bytes() for f in (DATA / part).glob('*.csv')}
        built = {f.name: f.read_bytes() for f in (out / part).glob('*.csv')}
        files += len(built)
        if set(mine) != set(built):
            failures.append(f'{part}: only in one of both: {sorted(set(mine) ^ set(built))}')
        failures += [f'{part}/{n}: {first_difference(mine[n], built[n])}' for n in sorted(set(mine) & set(built))
                     if mine[n] != built[n]]
collected_rates()
for text in failures[:40]:
    print(text)
print(f'{files} files built anew, {len(failures)} failures')
sys.exit(1 if failures else 0)
