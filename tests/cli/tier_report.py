#!/usr/bin/env python3
"""tier --report: HTML and Markdown say what the JSON document says. Rows of months and groups add up to the shown totals,
the areas of the pictures are as high as the bytes and the money of each month, the tiles of the treemaps as large as each group's, the page is well-formed, self-contained
and holds hostile names as text; what is no report is refused before anything is read."""
import csv
import html
import json
import os
import re
import sys
import tempfile
import unicodedata
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import html_check  # noqa: E402
from asked import expect  # noqa: E402

tmp = Path(tempfile.mkdtemp())
ENV = dict(os.environ, GPUTIER_NOW='2026-12-02T00:00:00Z', GPUTIER_DB=str(tmp / 'x.db'))
HEAD = 'prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k,gets_30d,bytes_read_30d'
HOSTILE = '<script>alert(1)</script>|*x*\u202e[a](http://b)/'
LEFT, RIGHT, WIDTH = 84, 14, 960  # of the pictures
NAMES = ('Months', 'Stored', 'Where', 'Rent a month', 'Moves', 'Cost', 'As it is now', 'So far', 'As it is, so far')


def run(*args, code=0):
    return asked.run(*args, code=code, env=ENV, text=True)


def histogram(name, rows):
    path = tmp / name
    with open(path, 'w', newline='', encoding='utf-8') as f:
        f.write(HEAD + '\n')
        for prefix, cls, size, age, objects, gets in rows:
            csv.writer(f, lineterminator='\n').writerow(
                [prefix, cls, 'true', size, age, age, objects, size * objects, max(size, 131072) * objects, gets, gets * size])
    return path


def amount(text):
    return Decimal(text.split()[0].replace(',', ''))


def tables(rows):
    """Rows of a table by its titles."""
    out, at = {}, None
    for row in rows:
        if row and row[0] in ('Months', 'Data', 'Prefix', 'Used for', 'Key figure'):
            at = out.setdefault(row[0], [])
        elif at is not None and row:
            at.append(row)
    return out


def md_rows(text):
    """Cells of all table rows, escapes and emphasis taken away."""
    rows = []
    for line in text.splitlines():
        if line.startswith('|') and not re.fullmatch(r'[|:-]+', line):
            cells = re.split(r'(?<!\\)\|', line)[1:-1]
            rows.append([re.sub(r'\\(.)', r'\1', c.strip().removeprefix('**').removesuffix('**')) for c in cells])
    return rows


def months_of(text):
    parts = text.split(' to ')
    return range(int(parts[0]) - 1, int(parts[-1]))


def near(shown, exact, what, by=Decimal('0.011')):
    expect(abs(shown - Decimal(exact)) <= by, f'{what}: {shown} shown, {exact} in JSON')


def check_tables(name, rows, doc):
    o = doc['over_time']
    t = tables(rows)
    at = 0
    for row in t['Months']:
        cell = dict(zip(NAMES, row))
        months = months_of(cell['Months'])
        expect(months.start == at, f'{name}: months from {months.start}, expected {at}')
        at = months.stop
        for what, key in (('moves', 'Moves'),):
            near(amount(cell[key]), sum(Decimal(x[what][m]) for x in o['tiers'] for m in months), f'{name}: {key} of {row[0]}')
        cost = sum(Decimal(x['rent'][m]) + Decimal(x['moves'][m]) for x in o['tiers'] for m in months)
        near(amount(cell['Cost']), cost, f'{name}: cost of {row[0]}')
        near(amount(cell['As it is now']), sum(Decimal(o['baseline'][m]) for m in months), f'{name}: baseline of {row[0]}')
        for x in o['tiers']:
            held = re.search(rf"\b{x['tier']} ([\d.]+) (B|KiB|MiB|GiB|TiB|PiB)", cell['Where'])
            b = x['bytes'][months.start]
            expect(bool(held) == (b > 0), f"{name}: {x['tier']} in {row[0]}: {cell['Where']}")
            if held:
                told = Decimal(held[1]) * 1024 ** ('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB').index(held[2])
                expect(abs(told - b) <= b / Decimal(100), f"{name}: {x['tier']} {held[0]}, {b} bytes")
    expect(at == o['months'], f"{name}: {at} of {o['months']} months")
    near(sum(amount(r[5]) for r in t['Months']), doc['total'], f'{name}: costs add up', Decimal('0.005'))
    near(sum(amount(r[6]) for r in t['Months']), doc['baseline'], f'{name}: baselines add up', Decimal('0.005'))
    expect(amount(t['Months'][-1][7]) == sum(amount(r[5]) for r in t['Months']), f'{name}: so far')
    *groups, last = t['Data']
    for k in (3, 4, 5):
        expect(sum(amount(r[k]) for r in groups) == amount(last[k]), f'{name}: column {k} of the groups')
    near(amount(last[3]), doc['total'], f'{name}: total of the groups', Decimal('0.005'))
    by_cost = {round(Decimal(g['cost']), 2): g for g in doc['groups']}
    for row in groups[:5]:
        g = by_cost.get(amount(row[3]))
        if g and not row[0].endswith('more groups') and Decimal(g['saving']) > 0:
            pays = g['break_even_month']
            expect(row[6] == ('never' if pays is None else str(pays + 1)), f'{name}: {row}')
    expect(len(t['Used for']) == len({(p['used_for'], p['rate'], p['sku'], p['unit']) for p in doc['provenance']}),
           f"{name}: {len(t['Used for'])} price rows")


def steps(path, n):
    """Upper edge of an area at the middle of each month, in pixels from the top."""
    x0, edge, y = float(re.match(r'M([\d.]+)', path)[1]), [None] * n, None
    x = x0
    pixel = (WIDTH - LEFT - RIGHT) / n
    for kind, value in re.findall(r'([HVZ])([\d.]*)', path.split(' ', 1)[1]):
        if kind == 'V':
            y = float(value)
        if kind == 'H':
            new = float(value)
            for m in range(n):
                if x <= LEFT + (m + 0.5) * pixel <= new:
                    edge[m] = y
            if new > WIDTH - RIGHT - 0.2:
                return edge
            x = new
    return edge


def check_pictures(name, page, doc):
    """Height of each part in a month against the tallest column's, from the paths themselves."""
    o = doc['over_time']
    n = o['months']
    pictures = re.findall(r'<svg.*?</svg>', page)
    expect(len(pictures) == 3, f'{name}: {len(pictures)} pictures')
    rent = [[float(x['rent'][m]) for m in range(n)] for x in o['tiers']]
    moves = [sum(float(x['moves'][m]) for x in o['tiers']) for m in range(n)]
    for svg, parts in zip(pictures, ([x['bytes'] for x in o['tiers']], rent + [moves])):
        areas = re.findall(r'class="s\d area" d="([^"]*)"', svg)
        expect(len(areas) == len(parts), f'{name}: {len(areas)} areas of {len(parts)}')
        ground = [float(re.match(r'M[\d.]+ ([\d.]+)', areas[0])[1])] * n
        whole = ground[0]
        tallest = max(sum(p[m] for p in parts) for m in range(n))
        edges = [steps(a, n) for a in areas]
        top = min(e for e in edges[-1])
        for k, edge in enumerate(edges):
            for m in range(n):
                want = sum(p[m] for p in parts[:k + 1]) / tallest * (whole - top)
                expect(abs((whole - edge[m]) - want) < 0.35, f'{name}: part {k} month {m}: {whole - edge[m]:.1f} px, {want:.1f}')


def cells(text):
    return sum(1 + (unicodedata.east_asian_width(c) in 'WF') for c in text)


def check_maps(name, page, doc):
    """Tiles of both treemaps: one a row of the table, area by its bytes and its money, no gap, no overlap, not thin, in
    the colour of the tier where the path ends, with words that stay inside."""
    *rows, _ = tables(html_check.rows(page))['Data']
    tiers = [x['tier'] for x in doc['over_time']['tiers']]
    svg = re.findall(r'<svg.*?</svg>', page)[2]
    number = r'"(-?[\d.]+)"'
    tiles = [(m[1], *map(float, m.group(2, 3, 4, 5)), html.unescape(m[6])) for m in re.finditer(
        rf'<rect class="tile (\w+)" x={number} y={number} width={number} height={number}><title>([^<]*)</title>', svg)]
    words = [(float(m[1]), float(m[2]), html.unescape(m[3])) for m in re.finditer(
        rf'<text class="(?:in|b)" x={number} y={number}>([^<]*)</text>', svg)]
    half = (WIDTH - 16) / 2
    exact = sorted(doc['groups'], key=lambda g: -Decimal(g['saving']))
    for title, column, key, at in (('Bytes at the start', 1, 'bytes', 0), ('over', 3, 'cost', half + 16)):
        mine = [t for t in tiles if at <= t[1] < at + half]
        expect(any(title in w for _, _, w in words), f'{name}: no map {title}')
        want = {f'{r[0]}: {r[column]}': r for r in rows}
        values = [max(0, float(g[key])) for g in exact]
        shown = [v for v in values[:60] + [sum(values[60:])] if v > 0]
        area = sorted((t[3] * t[4] / (half * 300) for t in mine), reverse=True)
        expect(len(shown) == len(area), f'{name} {key}: {len(area)} tiles, {len(shown)} in JSON')
        for a, v in zip(area, sorted(shown, reverse=True)):
            expect(abs(a - v / sum(shown)) < 1e-4 + a * 2e-3, f'{name} {key}: a tile of {a:.5f}, not {v / sum(shown):.5f}')
        top = min(t[2] for t in mine)
        for i, (kind, x, y, w, h, told) in enumerate(mine):
            expect(told in want, f'{name} {key}: tile {told} is no row')
            end = re.search(r'(\w+) \d+(?:–\d+)?$', want[told][2]) if told in want else None
            expect(kind == (f's{tiers.index(end[1]) % 8}' if end else 'none'), f'{name}: {told} has colour {kind}')
            expect(x >= at - .01 and x + w <= at + half + .02 and y + h <= top + 300.02, f'{name}: {told} is outside')
            for _, x2, y2, w2, h2, other in mine[:i]:
                expect(min(x + w, x2 + w2) - max(x, x2) < .02 or min(y + h, y2 + h2) - max(y, y2) < .02,
                       f'{name} {key}: {told} over {other}')
            for tx, ty, word in words:
                if x < tx < x + w and y < ty < y + h:
                    expect(tx + cells(word) * 7.4 <= x + w + .02, f'{name}: {word} leaves {told}')
        if len(mine) > 20:
            thin = sorted(max(w / h, h / w) for _, _, _, w, h, _ in mine if w > 1 and h > 1)
            expect(thin[len(thin) // 2] < 2, f'{name} {key}: half of the tiles are thinner than {thin[len(thin) // 2]:.1f}')
        largest = max(mine, key=lambda t: t[3] * t[4])
        expect(any(largest[1] < tx < largest[1] + largest[3] and largest[2] < ty < largest[2] + largest[4] for tx, ty, _ in words),
               f'{name} {key}: the largest tile says nothing')


def check(name, path, *args):
    web, md = tmp / f'{name}.html', tmp / f'{name}.md'
    doc = json.loads(run('tier', path, *args, '--format', 'json', '--report', web).stdout)
    run('tier', path, *args, '--report', md)
    page, text = web.read_text(), md.read_text()
    expect(html_check.problems(page) == [], f'{name}: {html_check.problems(page)}')
    expect(md_rows(text) and tables(md_rows(text)).keys() >= tables(html_check.rows(page)).keys(), f'{name}: tables')
    check_tables(f'{name}.md', md_rows(text), doc)
    check_tables(f'{name}.html', html_check.rows(page), doc)
    check_pictures(name, page, doc)
    check_maps(name, page, doc)
    for r in doc['policy']['rules']:
        expect(re.search(rf"(?m)^- .*: to {r['to_tier'].replace('_', '.*')} {r['days']} days", text.replace('\\', '')),
               f'{name}: rule {r}')
    for step in doc['first_steps']:
        shown = step.replace('\u202e', '\ufffd')
        expect(step in html_check.text(page) or shown in html_check.text(page), f'{name}: first step {step}')
    return page, text


rows = [('cold/', 'STANDARD', 1 << 24, 400, 70_001, 0), ('warm/', 'STANDARD', 1 << 21, 200, 33_333, 17_000),
        ('tiny/', 'STANDARD', 4096, 100, 1_000_003, 0), ('new/', 'STANDARD', 1 << 27, 0, 777, 0),
        (HOSTILE, 'STANDARD_IA', 1 << 27, 10, 777, 0)]
check('plain', histogram('plain.csv', rows[:4]))
check('long', histogram('long.csv', rows[:4]), '--horizon', '120mo', '--forecast', 'half-life:6mo')
check('scenario', Path('data/examples/vision-team.yaml'))
page, text = check('hostile', histogram('hostile.csv', rows), '--robust', '3', '--capacity', 's3_deep_archive=2TiB')
expect('<script' not in page and '\u202e' not in page + text, 'names are text')
expect('alert(1)' in page and 'Limits' in page, 'names and limits are told')
check('azure', histogram('azure.csv', [('a/', 'Hot', 1 << 24, 10, 7001, 0), ('b/', 'Cool', 1 << 24, 10, 7001, 90_000)]),
      '--from', 'azure_blob_lrs')
many = histogram('many.csv', [(f'p{i}/', 'STANDARD', 1 << 24, 100, 1000 + 13 * i, 7 * (i % 5)) for i in range(150)])
page, _ = check('many', many)
expect('90 more groups' in page, 'the rest of 150 groups is one row')
resting = histogram('rest.csv', [('a/', 'STANDARD', 4096, 5, 1000, 0)])
page, _ = check('resting', resting, '--horizon', '2mo')
expect('Leave the' in page, 'what does not pay is left')
p = run('tier', '/no/such/input.csv', '--report', 'x.pdf', code=2)
expect('.html or .md' in p.stderr, p.stderr)
sys.exit(asked.verdict())
