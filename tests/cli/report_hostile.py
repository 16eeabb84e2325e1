#!/usr/bin/env python3
"""report and export with hostile names and hostile places to write to: everything is escaped in every format, nothing
half-written is left, an existing file stays when a new one cannot be written; audit names the hash of an imported file."""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import html_check
import json_schema

GPUTIER = os.path.abspath(os.environ['GPUTIER'])
work = Path(tempfile.mkdtemp())
env = dict(os.environ, HOME=str(work), GPUTIER_DB=str(work / 'a.db'), GPUTIER_NOW='2026-06-01T00:00:00Z')
failures = []


def check(what, ok, detail=''):
    if not ok:
        failures.append(what)
        print(f'FAIL {what} {str(detail)[:500]}')


def run(*args, code=0, **options):
    r = subprocess.run([GPUTIER, *map(str, args)], capture_output=True, env=env, timeout=100, **options)
    check(f'exit status {code} of {args}', r.returncode == code, (r.returncode, r.stderr[-400:]))
    return r.stdout.decode('utf-8'), r.stderr.decode('utf-8')


HOSTILE = {
    'script': '<script>alert(1)</script><img src=x onerror=alert(2)>',
    'attribute': '" onload="alert(1)" x=\'y\'',
    'cells': 'a | b || c \\| d',
    'formula': '=cmd|\' /C calc\'!A0',
    'plus': '+1+cmd', 'minus': '-2-3', 'at': '@SUM(1)',
    'lines': 'first\nsecond\r\nthird\ttab',
    'escape': '\x1b[31mred\x1b]0;title\x07\u009b31m',
    'bidi': 'safe\u202egnp.exe\u2066x\u2069',
    'entity': '&lt;b&gt; &amp; &#60;',
    'markdown': '# **bold** [link](http://evil.example) `code` ![i](http://evil.example/p.png) <http://evil.example>',
    'wide': '\u4e2d\u6587\U0001f680e\u0301',
    'long': 'x' * 10000,
    'style': '</style></main><style>*{display:none}</style>',
    'comment': '<!-- --><![CDATA[x]]>',
    'format': '%s%n%d {{7*7}} ${HOME}',
}


def scenario(name, **extra):
    return json.dumps({'schema': 'gputier/scenario/1', 'name': name,
                       'workload': {'kind': 'training', 'model': 'resnet50', 'epochs': 3, 'samples': 100000,
                                    'batch_per_gpu': 64, 'precision': 'amp'},
                       'constraints': {'vendors': ['aws'], 'regions': ['aws/us-east-1']},
                       'data': [{'name': name, 'role': 'logs', 'size': '50GiB', 'files': 1000, 'tier': 's3_standard',
                                 'lives_in': 'aws/us-east-1', 'keep': '36mo'}], **extra}, ensure_ascii=False)


CONTROL = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]')


def check_html(kind, html, name):
    problems = html_check.problems(html)
    check(f'{kind}: html stays well-formed', not problems, problems[:3])
    check(f'{kind}: no control or bidi character in html', not CONTROL.search(html.replace('\n', '')))
    if name:
        check(f'{kind}: html shows the name as it is', name in html_check.text(html))


def check_md(kind, md):
    check(f'{kind}: no control or bidi character in Markdown', not CONTROL.search(md.replace('\n', '')))
    bare = re.sub(r'\\.', '', md.replace('**', ''))
    check(f'{kind}: no markup in Markdown', not re.search(r'[<>*`\[\]]|https?://|(?m:^#{1,6}[^# ])', bare),
          re.findall(r'.{0,20}[<>*`\[\]].{0,20}|.{0,9}https?://.{0,20}', bare)[:3])
    widths = []
    for line in md.split('\n'):
        if line.startswith('|'):
            widths.append(len(re.findall(r'(?<!\\)(?:\\\\)*\|', line)))
        elif widths:
            check(f'{kind}: rows of a table have the same cells', len(set(widths)) == 1, widths)
            widths = []


def check_csv(kind, out):
    rows = list(csv.DictReader(io.StringIO(out, newline='')))
    check(f'{kind}: csv is rectangular', rows and all(None not in r and None not in r.values() for r in rows))
    for r in rows:
        for column, cell in r.items():
            number = column in ('rank', 'instances', 'quantity', 'rate', 'amount')
            check(f'{kind}: no cell runs as a formula', number or cell[:1] not in ('=', '+', '-', '@', '\t', '\r'), cell)
            if number:
                Decimal(cell)


def check_exports(kind, path, prefix_of):
    launch, err = run('export', 'aws-run-instances', path)
    tag = {t['Key']: t['Value'] for t in json.loads(launch)['TagSpecifications'][0]['Tags']}
    check(f'{kind}: tags hold only letters that every service takes',
          all(len(v) <= 256 and re.fullmatch(r'[A-Za-z0-9 +\-=._:/@]*', v) for v in tag.values()), tag)
    check(f'{kind}: stderr is safe', not CONTROL.search(err.replace('\n', '')), err)
    r = subprocess.run([GPUTIER, 'export', 's3-lifecycle', str(path)], capture_output=True, env=env, timeout=100)
    if r.returncode == 0:
        prefix = json.loads(r.stdout)['Rules'][0]['Filter']
        prefix = prefix.get('Prefix') or prefix.get('And', {}).get('Prefix')
        check(f'{kind}: the rule keeps to the data set', prefix == prefix_of, prefix)
    else:
        check(f'{kind}: exit status 3 and nothing written', r.returncode == 3 and r.stdout == b'', r)
    check(f'{kind}: stderr is safe', not CONTROL.search(r.stderr.decode().replace('\n', '')), r.stderr)


accepted = []
for kind, name in HOSTILE.items():
    path = work / f'{kind}.yaml'
    path.write_text(scenario(name))
    r = subprocess.run([GPUTIER, 'plan', str(path), '--format', 'json'], capture_output=True, env=env, timeout=100)
    if r.returncode == 4:  # refused with a reason: fine, but then nothing may come out
        check(f'{kind}: refusal says where', r.stdout == b'' and b'.yaml:' in r.stderr, r.stderr)
        for form in ('html', 'md', 'csv', 'json'):
            run('report', path, '--format', form, code=4)
        continue
    check(f'{kind}: planned', r.returncode == 0, r.stderr)
    accepted.append(kind)
    doc = json.loads(r.stdout)
    check(f'{kind}: json carries the name', doc['scenario']['name'] == name, doc['scenario']['name'])
    html, _ = run('report', path, '--format', 'html', '--audit')
    check_html(kind, html, name if kind != 'bidi' else None)
    md, _ = run('report', path, '--format', 'md', '--audit')
    check_md(kind, md)
    check_csv(kind, run('report', path, '--format', 'csv')[0])
    out, _ = run('report', path, '--format', 'json')
    problems = json_schema.validate(json.loads(out), json_schema.load('plan'))
    check(f'{kind}: json keeps to its schema', not problems, problems[:2])
    check_exports(kind, path, name + '/')
check('the common ones are names that one may give', {'script', 'cells', 'formula', 'entity', 'wide'} <= set(accepted),
      accepted)

# A document may come from anywhere: every text in it is hostile at once.
base, _ = run('plan', work / 'wide.yaml', '--format', 'json')
for kind, name in HOSTILE.items():
    doc = json.loads(base)
    for p in doc['plans'] + doc['front']:
        p['zones'] = [name]
        p['notes'] = [name, name]
        doc['pareto'] = [f'{name}{p["id"]}' if i == p['id'] else i for i in doc['pareto']]
        p['id'] = f'{name}{p["id"]}'
        for key in ('region', 'instance_type', 'gpu'):
            p[key] = name
        p['interruption']['basis'] = p['checkpoint']['tier'] = name
        for x in p['placement']:
            x['data_set'] = x['tier'] = name
        for line in p['bill']:
            for key in ('text', 'unit', 'formula', 'source_id', 'sku'):
                line[key] = name
    doc['warnings'] = [name]
    doc['rejected'] = [{'vendor': name, 'region': name, 'instance_type': name, 'purchase': name, 'reason': name}]
    path = work / f'{kind}.json'
    path.write_text(json.dumps(doc))
    html, _ = run('report', path, '--format', 'html', '--audit')
    check_html(kind + ' document', html, name if kind in ('script', 'attribute', 'entity', 'style', 'comment') else None)
    md, _ = run('report', path, '--format', 'md', '--audit')
    check_md(kind + ' document', md)
    check_csv(kind + ' document', run('report', path, '--format', 'csv')[0])
    r = subprocess.run([GPUTIER, 'export', 'aws-run-instances', str(path)], capture_output=True, env=env, timeout=100)
    check(f'{kind} document: an export refuses what is no hourly bill', r.returncode in (1, 3, 4) and r.stdout == b'', r)
    check(f'{kind} document: stderr is safe', not CONTROL.search(r.stderr.decode().replace('\n', '')), r.stderr)

# Places to write to.
run('plan', work / 'wide.yaml', '--save', 'demo')
good, _ = run('report', 'demo', '--format', 'html')
out, _ = run('report', 'demo', '--format', 'html', '-o', '-')
check('-o - is standard output', out == good)
folder = work / 'folder'
folder.mkdir()
for command in (('report', 'demo', '--format', 'html'), ('export', 'aws-run-instances', 'demo')):
    for place, code in ((folder, 1), (work / 'missing' / 'x.html', 1), ('/dev/full', 1), ('', 1), ('/dev/null', 0),
                        (work / ('n' * 300), 1)):
        out, err = run(*command, '-o', place, code=code)
        check(f'{command[0]} to {place}: nothing on stdout', out == '', out)
        check(f'{command[0]} to {str(place)[:40]}: the error names the place', code == 0 or err.startswith('gputier: '), err)
    with open('/dev/full', 'wb') as full:
        r = subprocess.run([GPUTIER, *command], stdout=full, stderr=subprocess.PIPE, env=env, timeout=100)
        check(f'{command[0]}: a full standard output is exit status 1', r.returncode == 1 and b'stdout' in r.stderr, r)
check('nothing is left in a folder given as file', not list(folder.iterdir()))
target = work / 'kept.html'
target.write_text('before')
r = subprocess.run(['sh', '-c', 'ulimit -f 1; exec "$0" report demo --format html -o "$1"', GPUTIER, str(target)],
                   capture_output=True, env=env, timeout=100)
check('a file that does not fit fails', r.returncode != 0, r)
check('and the one that was there stays', target.read_text() == 'before')
run('export', 'efs-lifecycle', 'demo', '-o', target, code=3)
check('an export that does not apply leaves the file as it was', target.read_text() == 'before')
if os.geteuid() != 0:
    folder.chmod(0o500)
    run('report', 'demo', '--format', 'html', '-o', folder / 'x.html', code=1)
link = work / 'link.html'
link.symlink_to(target)
run('report', 'demo', '--format', 'html', '-o', link)
check('a link is written through or replaced whole', link.read_text() == good)

# Ctrl-C while planning: no file, exit status 130.
p = subprocess.Popen([GPUTIER, 'report', '-', '--format', 'html', '-o', str(work / 'never.html')],
                     stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
p.stdin.write(scenario('x')[:40].encode())
p.stdin.flush()
p.send_signal(signal.SIGINT)
p.send_signal(signal.SIGINT)
p.stdin.close()
p.wait(timeout=20)
check('Ctrl-C leaves no file', not (work / 'never.html').exists() and p.returncode != 0, p.returncode)
check('no temporary file is left', not list(work.glob('*.tmp')), list(work.glob('*.tmp')))

# Audit of an imported list: the hash of the file, and the rows that rest on it.
prices = work / 'own.csv'
prices.write_text('vendor,region,instance_type,gpu,gpu_count,vcpus,memory_gib,purchase,price_per_hour,currency,sku\n'
                  'lambda,us-west-1,own_h100,H100 SXM,8,208,1800,on_demand,0.0101,USD,"=HYPERLINK(""http://evil"")"\n')
run('import', 'prices-csv', prices)
(work / 'own.yaml').write_text(json.dumps({
    'schema': 'gputier/scenario/1', 'name': 'own',
    'workload': {'kind': 'training', 'model': 'resnet50', 'epochs': 3, 'samples': 100000, 'batch_per_gpu': 64,
                 'precision': 'amp'}, 'constraints': {'vendors': ['lambda']}}))
md, _ = run('report', work / 'own.yaml', '--format', 'md', '--audit')
# what b3sum prints of the file
check('audit names the hash of the raw file', 'blake3:bbf327f194cf08c75f3796183705cf8713ed6e8ad5b0983eee66e562fec6067a' in md, md[-1500:])
check('audit says imported', 'imported, as of' in md and 'own\\_h100' in md)
out, _ = run('report', work / 'own.yaml', '--format', 'csv')
check('a SKU does not run as a formula', "'=HYPERLINK" in out and '"=HYPERLINK' not in out, out[:400])

print(f'report with hostile input: {len(failures)} failures')
sys.exit(bool(failures))
