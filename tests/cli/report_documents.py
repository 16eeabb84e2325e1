#!/usr/bin/env python3
"""report: Markdown, HTML, CSV and JSON of a saved plan, a plan document and a scenario show the same digits as plan's
table; CSV amounts re-add to the total of the JSON document to the last decimal; the same input gives the same bytes."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal, getcontext
from pathlib import Path

import html_check
import json_schema

getcontext().prec = 60
GPUTIER = os.path.abspath(os.environ['GPUTIER'])
SCENARIO = 'data/examples/vision-team.yaml'
work = Path(tempfile.mkdtemp())
failures = []


def check(what, ok, detail=''):
    if not ok:
        failures.append(what)
        print(f'FAIL {what} {str(detail)[:600]}')


def run(*args, code=0, db='a.db', stdin=None, **env):
    e = dict(os.environ, HOME=str(work), GPUTIER_DB=str(work / db), GPUTIER_NOW='2026-06-01T00:00:00Z', **env)
    r = subprocess.run([GPUTIER, *map(str, args)], capture_output=True, env=e, timeout=100, input=stdin)
    check(f'exit status {code} of {args}', r.returncode == code, (r.returncode, r.stderr))
    return r.stdout.decode('utf-8'), r.stderr.decode('utf-8')


def cents(amount):
    """Half to even to two decimals, with thousands separated."""
    return f'{Decimal(amount).quantize(Decimal("0.01")):,}'


def md_cells(text):
    """Cells of all table rows, escapes and emphasis taken away."""
    rows = []
    for line in text.splitlines():
        if line.startswith('|'):
            cells = re.split(r'(?<!\\)\|', line)[1:-1]
            rows.append([re.sub(r'\\(.)', r'\1', c.strip().removeprefix('**').removesuffix('**')) for c in cells])
    return rows


table, _ = run('plan', SCENARIO, '--save', 'demo')
plan_json, _ = run('plan', SCENARIO, '--format', 'json')
(work / 'plan.json').write_text(plan_json)
doc = json.loads(plan_json)

# One plan, four ways to name it, the same bytes.
ways = {'name': 'demo', 'name and rank': 'demo#1', 'document': work / 'plan.json', 'scenario': SCENARIO}
text = {}
for kind in ('md', 'html', 'csv', 'json'):
    for way, ref in ways.items():
        out, err = run('report', ref, '--format', kind, '--audit')
        check(f'{kind}: nothing on stderr', err == '', err)
        text.setdefault(kind, out)
        check(f'{kind} from {way} has the same bytes', out == text[kind])
    check(f'{kind} of the plan saved last', run('report', '--format', kind, '--audit')[0] == text[kind])
    again, _ = run('report', SCENARIO, '--format', kind, '--audit', db='b.db')
    check(f'{kind} from another database of the same snapshot has the same bytes', again == text[kind])
    stdin, _ = run('report', '-', '--format', kind, '--audit', stdin=plan_json.encode())
    check(f'{kind} from standard input', stdin == text[kind])
    path = work / f'out.{kind}'
    out, _ = run('report', 'demo', '-o', path, '--audit')
    check(f'{kind} chosen by the ending of the file', out == '' and path.read_text() == text[kind])
check('files are for their owner only', (work / 'out.md').stat().st_mode & 0o777 == 0o600)
check('report json is the plan document', text['json'] == plan_json)
problems = json_schema.validate(json.loads(text['json']), json_schema.load('plan'))
check('json keeps to its schema', not problems, problems[:3])

# CSV: full precision, adds up exactly.
rows = list(csv.DictReader(io.StringIO(text['csv'])))
check('csv names ten plans', len({r['rank'] for r in rows}) == len(doc['plans']) == 10)
for p in doc['plans']:
    mine = [r for r in rows if r['plan'] == p['id']]
    total = sum((Decimal(r['amount']) for r in mine), Decimal(0))
    check(f"csv of plan {p['rank']} adds up", total == Decimal(p['cost']['total']), (total, p['cost']['total']))
    check(f"components of plan {p['rank']} add up",
          sum(map(Decimal, p['cost']['components'].values())) == Decimal(p['cost']['total']))
    for name, amount in p['cost']['components'].items():
        part = sum((Decimal(r['amount']) for r in mine if r['component'] == name), Decimal(0))
        check(f"csv of plan {p['rank']}: {name}", part == Decimal(amount), (part, amount))
    for r in mine:
        exact = Decimal(r['quantity']) * Decimal(r['rate'])
        if r['rate_currency'] == r['currency']:
            check('line is quantity x rate, rounded once', abs(exact - Decimal(r['amount'])) <= Decimal('5e-13'), r)
        check('csv line names its source', r['source_id'] and r['as_of'] and r['origin'] == 'bundled', r)

# The same digits on the screen, in Markdown and in HTML.
cells = md_cells(text['md'])
html_rows = html_check.rows(text['html'])
flat = html_check.text(text['html'])
for p in doc['plans']:
    total = cents(p['cost']['total']) + ' USD'
    row = next(line for line in table.splitlines() if re.match(rf"\s*{p['rank']}\*?\s", line))
    check(f"plan {p['rank']}: cost on the screen", total in row, row)
    for name, found in (('md', cells), ('html', html_rows)):
        mine = [c for c in found if c[0] == str(p['rank']) and len(c) == 11]
        check(f"plan {p['rank']}: one row in {name}", len(mine) == 1, mine)
        check(f"plan {p['rank']}: cost in {name}", mine and mine[0][-1] == total, mine)
        check(f"plan {p['rank']}: chance in {name}", mine and mine[0][-2] in row, mine)
        check(f"plan {p['rank']}: times in {name}", mine and mine[0][7] in row and mine[0][8] in row, (mine, row))
first = doc['plans'][0]
screen = dict(re.findall(r'^  ([a-z_]+) +([0-9.,]+) USD$', table, re.M))
check('the screen lists all components', len(screen) == len(first['cost']['components']) + 1, screen)
for name, found in (('md', cells), ('html', html_rows)):
    parts = {c[0].replace(' ', '_'): c[1] for c in found if len(c) == 3 and c[1].endswith(' USD')}
    for component, shown in screen.items():
        check(f'{component} in {name} as on the screen', parts.get(component) == f'{shown} USD',
              (parts.get(component), shown))
    amounts = [Decimal(parts[c].split()[0].replace(',', '')) for c in first['cost']['components']]
    check(f'shown components add up in {name}', sum(amounts) == Decimal(screen['total'].replace(',', '')), amounts)
    lines = [c for c in found if len(c) == 6 and c[0].replace(' ', '_') in screen and c[0] != 'total' and
             c[-1].endswith(' USD')]
    check(f'all lines are in {name}', len(lines) == len(first['bill']), lines)
    for component in first['cost']['components']:
        part = sum(Decimal(c[-1].split()[0].replace(',', '')) for c in lines if c[0].replace(' ', '_') == component)
        check(f'lines of {component} add up in {name}', part == Decimal(screen[component].replace(',', '')), part)
    audit = [c for c in found if len(c) == 6 and 'bundled, as of' in c[-1] and c[4].endswith(' USD')]
    check(f'audit in {name}', [(c[0], c[4]) for c in audit] ==
          [(b['text'], f"{b['amount']} USD") for b in first['bill']], audit)

# What each report must say.
for name, said in (('md', re.sub(r'\\(.)', r'\1', text['md'])), ('html', flat)):
    for words in ('before tax', 'bundled, as of', 'What is left out', 'Taxes', 'Support plans', 'Why not something else',
                  doc['rejected'][0]['reason'], 'lower bound', 'made by gputier' if name == 'html' else '#',
                  '2026-06-01T00:00:00Z', first['id'], 'Assumptions', 'data[0].reads_per_month'):
        check(f'{name} says {words!r}', words.lower() in said.lower())
    for warning in doc['warnings']:
        check(f'{name} carries the warning {warning!r}', warning in said)
check('without --audit no annex of lines', 'Audit' not in run('report', 'demo', '--format', 'md')[0])
second, _ = run('report', 'demo#2', '--format', 'md')
check('NAME#RANK recommends that plan', doc['plans'][1]['id'] in second and first['id'] not in second)

# HTML: well-formed, self-contained, accessible.
for problem in html_check.problems(text['html']):
    check('html', False, problem)
check('two charts', text['html'].count('<svg ') == 2 and text['html'].count('aria-label="Expected cost') == 1)

# "at least" is shown, and is exit status 3 with --strict.
at_least = json.loads(plan_json)
at_least['plans'][0]['cost']['at_least'] = True
(work / 'at_least.json').write_text(json.dumps(at_least))
for kind in ('md', 'html'):
    out, _ = run('report', work / 'at_least.json', '--format', kind)
    check(f'{kind} says at least', f"at least {cents(first['cost']['total'])} USD" in html_check.text(out)
          if kind == 'html' else f"at least {cents(first['cost']['total'])} USD" in out)
run('report', work / 'at_least.json', '--format', 'md', '--strict', code=3)
run('report', 'demo', '--format', 'md', '--strict')

# Amounts whose plain rounding would not add up: thirds and halves of cents, in one component and across.
odd = json.loads(plan_json)
bill = odd['plans'][0]['bill']
amounts = ['0.334', '0.333', '0.333', '10.005', '0.005', '1.115', '2.004', '7.123456789012']
odd['plans'][0]['bill'] = [dict(bill[0], component=c, amount=a, quantity=a, rate='1', text=f'line {i}') for i, (c, a) in
                           enumerate(zip(('storage',) * 3 + ('requests', 'requests', 'other', 'other', 'retrieval'),
                                         amounts))]
parts = {c: sum((Decimal(b['amount']) for b in odd['plans'][0]['bill'] if b['component'] == c), Decimal(0))
         for c in first['cost']['components']}
odd['plans'][0]['cost']['components'] = {c: f'{v:f}' for c, v in parts.items()}
odd['plans'][0]['cost']['total'] = f'{sum(parts.values()):f}'
(work / 'odd.json').write_text(json.dumps(odd))
for kind in ('md', 'html'):
    out, _ = run('report', work / 'odd.json', '--format', kind)
    found = md_cells(out) if kind == 'md' else html_check.rows(out)
    amount = lambda cell: Decimal(cell.removesuffix(' USD').replace(',', ''))
    lines = [c for c in found if len(c) == 6 and re.fullmatch(r'line \d', c[1])]
    shown = {c[0]: amount(c[1]) for c in found if len(c) == 3 and c[1].endswith(' USD')}
    check(f'{kind}: eight lines of odd amounts', len(lines) == len(amounts), lines)
    check(f'{kind}: odd components add up', sum(shown[c.replace('_', ' ')] for c in parts) == shown['total'] ==
          Decimal('21.25'), shown)
    for c in parts:
        c = c.replace('_', ' ')
        check(f'{kind}: odd lines of {c} add up', sum(amount(x[-1]) for x in lines if x[0] == c) == shown[c], lines)
    check(f'{kind}: no line is off by a cent', all(abs(amount(x[-1]) - Decimal(a)) < Decimal('0.01')
                                                   for x, a in zip(lines, amounts)), lines)

# A plan without deadline, model or data sets.
out, _ = run('plan', '--gpu', 'A100-80GB', '--gpus', '4', '--gpu-hours', '340', '--save', 'hours')
for kind in ('md', 'html', 'csv', 'json'):
    out, _ = run('report', 'hours', '--format', kind)
    check(f'no number is "nan" in {kind}', not re.search(r'\bnan\b', out), out)
    if kind == 'html':
        check('html of a plan by GPU-hours', not html_check.problems(out), html_check.problems(out))

# One plan alone is all three offers; no picture of one point.
alone = json.loads(plan_json)
alone['plans'], alone['front'], alone['pareto'] = alone['plans'][:1], [], [first['id']]
(work / 'alone.json').write_text(json.dumps(alone))
out, _ = run('report', work / 'alone.json', '--format', 'html')
check('a plan alone', 'recommended, fastest, least exposed' in out and out.count('<svg ') == 1 and
      not html_check.problems(out), html_check.problems(out))

# Other currencies: their own minor unit, and the budget in the currency it was given in.
for currency, pattern in (('CNY', r'\d\.\d\d CNY$'), ('JPY', r'\d JPY$')):
    fx = ('--fx', 'JPY=150@2026-05-01') if currency == 'JPY' else ()
    screen, _ = run('plan', SCENARIO, '--currency', currency, *fx)
    out, _ = run('report', SCENARIO, '--format', 'md', '--currency', currency, *fx)
    found = {c[0]: c for c in md_cells(out)}
    total = next(line.split('total')[1].split() for line in screen.splitlines() if line.startswith('  total '))
    check(f'{currency}: the total of the screen', found['Expected cost'][1] == ' '.join(total[:2]) and
          re.search(pattern, found['Expected cost'][1]), (found['Expected cost'], total))
    check(f'{currency}: the budget', found['Budget'][1] == '5,000.00 USD' and 'exchange rate' in out, found['Budget'])

# Nothing is written when no plan meets the constraints.
(work / 'poor.yaml').write_text(Path(SCENARIO).read_text().replace('5000 USD', '5 USD'))
(work / 'kept.md').write_text('before')
out, err = run('report', work / 'poor.yaml', '-o', work / 'kept.md', code=3)
check('an infeasible scenario leaves the file', (work / 'kept.md').read_text() == 'before' and 'budget' in err, err)

# Usage and bad input.
out, err = run('report', 'no-such-plan', '--format', 'json', code=1)
problems = json_schema.validate(json.loads(err), json_schema.load('error'))
check('errors of json are json', out == '' and not problems, problems)
run('report', 'demo', '--format', 'pdf', code=2)
run('report', 'demo', 'other', code=2)
run('report', 'demo#99', code=1)
run('report', 'no-such-plan', code=1)
(work / 'bad.json').write_text('{"schema":"gputier/plan/1","plans":[{}]}')
run('report', work / 'bad.json', code=4)
(work / 'bad.yaml').write_text('schema: gputier/scenario/1\nworkload: {kinds: training}\n')
run('report', work / 'bad.yaml', code=4)

print(f'report: {len(failures)} failures')
sys.exit(bool(failures))
