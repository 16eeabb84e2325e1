#!/usr/bin/env python3
"""The checker of the bundled snapshot: accepts the real one, refuses each of the broken ones below
with file, line and column."""
import csv
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / 'data'
CHECKER = DATA / 'tools' / 'check_snapshot.py'
sys.path.insert(0, str(CHECKER.parent))
import check_snapshot  # noqa: E402

failures = []


def swap(old, new, which=0):
    """An edit that replaces one occurrence; it must be there, else the case tests nothing."""
    def edit(text):
        parts = text.split(old)
        assert len(parts) > which + 1, f'{old!r} is not in the file'
        return old.join(parts[:which + 1]) + new + old.join(parts[which + 1:])
    return edit


def field(find, column, value):
    """Sets one field of the first row that holds every word of `find` as a field."""
    def edit(text):
        rows = list(csv.reader(io.StringIO(text)))
        at = rows[0].index(column)
        row = next((r for r in rows[1:] if all(w in r for w in find)), None)
        assert row, f'no row with {find}'
        row[at] = value
        out = io.StringIO()
        csv.writer(out, lineterminator='\n').writerows(rows)
        return out.getvalue()
    return edit


def cut(n):
    return lambda text: '\n'.join(text.split('\n')[:n]) + '\n'


def again(text):
    lines = text.rstrip('\n').split('\n')
    return '\n'.join(lines + [lines[1]]) + '\n'


P5 = ['aws', 'us-east-1', 'p5.48xlarge', 'on_demand', '55.04']
BROKEN = [  # file below data/, the edit, what a message must hold
    ('snapshot/offers.csv', again, 'each key once'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', '0'), 'offers.csv:'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', ''), 'price_per_hour'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', '5.504e1'), 'without sign or exponent'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', '-55.04'), 'without sign or exponent'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', '5504'), 'per GPU-hour'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', '0.05504'), 'per GPU-hour'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', '55.0400000000001'), 'at most 12 decimals'),
    ('snapshot/offers.csv', field(P5, 'purchase', 'ondemand'), 'purchase'),
    ('snapshot/offers.csv', field(P5, 'vendor', 'aliyun'), 'vendor'),
    ('snapshot/offers.csv', field(P5, 'as_of', '2026-02-30'), 'YYYY-MM-DD'),
    ('snapshot/offers.csv', field(P5, 'as_of', '20.07.2026'), 'YYYY-MM-DD'),
    ('snapshot/offers.csv', field(P5, 'source', ''), 'a key of sources.csv'),
    ('snapshot/offers.csv', field(P5, 'source', 'hearsay'), 'a key of sources.csv'),
    ('snapshot/offers.csv', field(P5, 'currency', 'usd'), 'ISO 4217'),
    ('snapshot/offers.csv', field(P5, 'currency', 'XAU'), 'a currency of fx.csv'),
    ('snapshot/offers.csv', field(P5, 'instance_type', 'p5.48xlarg'), 'a row of instance_types.csv'),
    ('snapshot/offers.csv', field(P5, 'price_state', 'none'), 'empty when price_state is none'),
    ('snapshot/offers.csv', field(P5, 'payment', 'none'), 'payment'),
    ('snapshot/offers.csv', field(P5, 'price_per_hour', '17'), 'above on demand'),
    ('snapshot/offers.csv', field(['aws', 'us-east-1', 'p5.48xlarge', '98.32'], 'valid_to', '2026-01-01'),
     'when the price before it ends'),
    ('snapshot/offers.csv', field(['aws', 'us-east-1', 'p5.48xlarge', '98.32'], 'valid_to', '2020-01-01'),
     'after valid_from'),
    ('snapshot/offers.csv', swap('zone,instance_type', 'instance_type,zone'), 'header'),
    ('snapshot/offers.csv', swap('\n', ',\n', 3), '19 fields'),
    ('snapshot/offers.csv', cut(2000), 'at least 3000'),
    ('snapshot/instance_types.csv', field(['aws', 'p5.48xlarge'], 'gpu_num', '0'), '0 without a GPU'),
    ('snapshot/instance_types.csv', field(['aws', 'p5.48xlarge'], 'gpu_memory_gib', '640'), 'within 8 %'),
    ('snapshot/instance_types.csv', field(['aws', 'p5.48xlarge'], 'gpu_den', '0'), 'gpu_den'),
    ('snapshot/storage_rates.csv', field(['us-east-1', 's3_standard', '51200', '512000'], 'to_qty', '500000'),
     'where the bracket before it ends'),
    ('snapshot/storage_rates.csv', field(['us-east-1', 's3_standard', 'get'], 'unit', 'gib'), 'request for get'),
    ('snapshot/storage_rates.csv', field(['us-east-1', 's3_standard', 'get'], 'tier', 's3-standard'), 'tier'),
    ('snapshot/storage_rates.csv', field(['us-east-1', 's3_deep_archive', 'storage'], 'region', 'us-east-9'),
     'none for aws us-east-1 s3_deep_archive storage'),
    ('snapshot/storage_rates.csv', field(['us-east-1', 's3_standard', 'get'], 'unit_qty', '0'), 'above 0'),
    ('snapshot/transfer_rates.csv', field(['aws', 'us-west-2', 'internet', '10240', '51200'], 'from_gb', '10000'),
     'where the bracket before it ends'),
    ('snapshot/storage_rates.csv', field(['us-east-1', 's3_standard', '51200', '512000'], 'source',
                                         'aws-s3-guide-2026-06'), 'as the other brackets of this rate'),
    ('snapshot/transfer_rates.csv', field(['aws', 'us-west-2', 'internet'], 'gb_bytes', '1024'), 'gb_bytes'),
    ('snapshot/interruption.csv', field(['us-east-1', 'p4d.24xlarge'], 'band_lo_pct', '120'), '0 to 100'),
    ('snapshot/gpu_models.csv', field(['H100 SXM'], 'form', 'PCIe'), 'the last word of the model'),
    ('snapshot/gpu_models.csv', field(['T4'], 'mem_gb', '0'), 'above 0'),
    ('snapshot/gpu_aliases.csv', field(['Tesla T4'], 'model', 'T5'), 'a model of gpu_models.csv'),
    ('snapshot/allowances.csv', swap(',high\n', ',certain\n'), 'confidence'),
    ('snapshot/fx.csv', field(['CNY'], 'currency', 'CNH'), 'a currency of fx.csv'),
    ('snapshot/sources.csv', field(['ecb-fx-2026-09-24'], 'source', 'ecb'), 'a key of sources.csv'),
    ('snapshot/sources.csv', lambda t: t + 'unused,a,b,c,2026-01-01\n', 'a source that some row cites'),
    ('snapshot/models.csv', lambda t: t.replace('\n', '\r\n'), 'LF only'),
    ('snapshot/traces.csv', swap('traces/p3-us-east-1a', '../p3-us-east-1a'), 'below the data folder'),
    ('traces/p3-us-east-1a-2023.csv', swap(',-1\n', ',0\n'), 'an end marker'),
    ('traces/p3-us-east-1a-2023.csv', swap('# gap_s=195', '# gap_s=200'), 'as traces/p3-us-east-1a-2023.csv says'),
]


def run(*args):
    return subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, check=False)


def real():
    p = run(CHECKER)
    if p.returncode != 0:
        failures.append('the shipped snapshot is refused:\n' + p.stderr)


def copy_with(folder, rel, edit):
    """A data folder of links to the real files, one of them replaced."""
    for part in ('snapshot', 'traces'):
        (folder / part).mkdir(parents=True)
        for f in (DATA / part).glob('*.csv'):
            (folder / part / f.name).symlink_to(f)
    text = (DATA / rel).read_bytes().decode('utf-8')
    changed = edit(text)
    assert changed != text, f'{rel}: the edit changes nothing'
    (folder / rel).unlink()
    (folder / rel).write_bytes(changed.encode('utf-8'))


def broken(tmp):
    for i, (rel, edit, word) in enumerate(BROKEN):
        folder = tmp / str(i)
        copy_with(folder, rel, edit)
        lines = check_snapshot.check(folder)
        if not any(word in t for t in lines):
            failures.append(f'case {i}, {rel}: no message with {word!r}; got {lines[:3]}')
        if not all(t.split(':')[0].endswith('.csv') and t.split(':')[1].isdigit() for t in lines):
            failures.append(f'case {i}: a message without file and line: {lines[:3]}')
        if i == 0:  # the command itself: messages on stderr, exit status 1
            p = run(CHECKER, folder)
            if p.returncode != 1 or word not in p.stderr or p.stdout:
                failures.append(f'exit status {p.returncode}, stdout {p.stdout!r}')
        shutil.rmtree(folder)
    missing = tmp / 'missing'
    copy_with(missing, 'snapshot/fx.csv', lambda t: t + 'x')
    (missing / 'snapshot' / 'fx.csv').unlink()
    if not any('fx.csv:1: cannot be read' in t for t in check_snapshot.check(missing)):
        failures.append('a missing file is accepted')


with tempfile.TemporaryDirectory() as name:
    real()
    broken(Path(name))
for text in failures:
    print(text)
print(f'{len(BROKEN) + 1} broken snapshots, {len(failures)} failures')
sys.exit(1 if failures else 0)
