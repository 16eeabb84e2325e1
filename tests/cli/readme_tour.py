#!/usr/bin/env python3
"""The README's tour is real output: every line shown after a "$ gputier …" must be printed by that command, in
that order; the table of worked cases must say what `verify` says. `--write` writes both anew, and the tables of
situations that situations.py and storage_situations.py check."""
import os
import re
import subprocess
import sys
import tempfile

G = os.environ.get('GPUTIER', './gputier')
SHARED = os.environ.get('GPUTIER_SHARED', '../shared')
CUT = 168
work = tempfile.TemporaryDirectory()
env = dict(os.environ, GPUTIER_DB=work.name + '/x.db', HOME=work.name)
LISTS = (('storage-examples', 'storage bills, paths, lifecycle rules'), ('spot-policies', 'policies on availability traces'),
         ('checkpoint-model', 'checkpoint formulas'), ('capacity-mix', 'commitment mixes, autoscaling'),
         ('input-pipeline', 'input pipelines'), ('memory-fit', 'memory fit'), ('throughput', 'published training rates'),
         ('throughput-2', 'published training rates, second list'))

# goals: blind, then with one measured point
LIMITS = {'throughput': ('0.08', '0.25'), 'throughput-2': ('0.15', '0.45'), 'same-gpu': ('0.035', '0.15'), 'other-gpu': ('0.10', '0.30')}


def limits(name):
    return ('--max-median', LIMITS[name][0], '--max-p90', LIMITS[name][1]) if name in LIMITS else ()


def run(*args, cut=CUT):
    r = subprocess.run([G, *args], capture_output=True, text=True, env=env, timeout=200)
    return [line if len(line) <= cut else line[:cut] + '…' for line in r.stdout.splitlines()]


def verify_table():
    rows = []
    for name, what in LISTS:
        line = [x for x in run('verify', f'{SHARED}/oracles/{name}.json', *limits(name), cut=10000) if ' ok, ' in x][-1]
        rows.append(f'| {what} (`{name}.json`) | {line.split(" cases: ")[1]} |')
    for name, what in LISTS[-2:]:
        for point in ('same-gpu', 'other-gpu'):
            line = [x for x in run('verify', f'{SHARED}/oracles/{name}.json', '--calibrate', point, *limits(point), cut=10000) if ' ok, ' in x][-1]
            rows.append(f'| {what}, `--calibrate {point}` | {line[line.index("of the "):]} |')
    return '| cases | result |\n|---|---|\n' + '\n'.join(rows) + '\n'


def tour():
    def block(command, lines):
        return '```\n' + '\n'.join([f'$ gputier {command}'] + lines) + '\n```\n'
    plan = run('plan', 'data/examples/vision-team.yaml', '--top', '3')
    why = next(i for i, x in enumerate(plan) if x.startswith('Why plan'))
    bill = next(i for i, x in enumerate(plan) if x.startswith('The bill'))
    shown = plan[:4] + ['…'] + plan[why:why + 13] + ['…']
    shown += [x for x in plan[why + 13:bill] if 'WARNING' in x or 'other interruption' in x]
    shown += ['…'] + [x for x in plan if x.startswith('Lower bound')]
    tier = run('tier', 'data/examples/vision-team.yaml')
    policy = next(i for i, x in enumerate(tier) if x.startswith('Best plain'))
    prices = 'prices --gpu A100-80GB --gpus 8 --per gpu-hour --limit 3'
    return (block('plan data/examples/vision-team.yaml --top 3', shown) +
            '\nEvery figure unfolds: `gputier explain data/examples/vision-team.yaml` prints the tree down to price rows '
            'and assumptions, `gputier report data/examples/vision-team.yaml -o plan.html --audit` writes it for the person '
            'who signs. `gputier plan … --sensitivity` says how far each input may move before another plan is the better one, '
            'and which. Where should the bytes live?\n\n' +
            block('tier data/examples/vision-team.yaml', tier[:policy + 2] + ['…']) +
            '\nWhat can be rented, cheapest first?\n\n' + block(prices, run(*prices.split())))


def write(text):
    text = re.sub(r'<!-- tour -->.*?(?=\nEverything a screen shows)', lambda _: '<!-- tour -->\n' + tour(), text, flags=re.S)
    text = re.sub(r'<!-- verify -->.*?(?=\nThe throughput constants)', lambda _: '<!-- verify -->\n' + verify_table(), text,
                  flags=re.S)
    for mark, test in (('situations', 'situations'), ('storage', 'storage_situations')):
        table = subprocess.run([sys.executable, f'tests/cli/{test}.py', '--table'], capture_output=True, text=True, check=True).stdout
        text = re.sub(f'<!-- {mark} -->.*?\n\n', lambda _, t=table, m=mark: f'<!-- {m} -->\n{t}\n', text, flags=re.S)
    open('README.md', 'w', encoding='utf-8').write(text)


def main():
    text = open('README.md', encoding='utf-8').read()
    if '--write' in sys.argv:
        write(text)
        return 0
    failures = []
    blocks = re.findall(r'```\n\$ gputier (.*?)\n(.*?)```', text, flags=re.S)
    for command, shown in blocks:
        printed = run(*command.split())
        at = 0
        for line in shown.splitlines():
            if line.strip() == '…':
                continue
            if line not in printed[at:]:
                failures.append(f'`gputier {command}` does not print (here): {line}')
                continue
            at += printed[at:].index(line) + 1
    if len(blocks) < 3:
        failures.append(f'only {len(blocks)} commands in the tour')
    if os.path.exists(SHARED + '/oracles') and verify_table() not in text:
        failures.append('the table of worked cases is not what verify says; tests/cli/readme_tour.py --write')
    for f in failures:
        print('not met:', f)
    return 1 if failures else 0


sys.exit(main())
