#!/usr/bin/env python3
"""The bundled snapshot is what the importers make of the recorded files: built anew with the program under test it
has the shipped bytes, table for table. A change of an importer that changes a row shows here."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / 'data'
FACTS = Path(os.environ.get('GPUTIER_SHARED', ROOT.parent / 'shared'))
if not (FACTS / 'catalog').is_dir():
    print(f'SKIPPED: no {FACTS}/catalog')
    sys.exit(77)

failures = []


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
for text in failures:
    print(text)
print(f'{files} files built anew, {len(failures)} differ')
sys.exit(1 if failures else 0)
