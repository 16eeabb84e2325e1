#!/usr/bin/env python3
"""Exchange rates of the European Central Bank from import to price: each day's own, the last one on or
before the day that is asked for, fetched over HTTP in any of its forms; a currency that is not quoted is
not converted; native amounts stay."""
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

GPUTIER = os.environ['GPUTIER']
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
failures = []
DAYS = [('2026-05-04', {'USD': '1.25', 'CNY': '10'}), ('2026-04-30', {'USD': '1.25', 'CNY': '7.5'}), ('2022-03-01', {'USD': '1.25', 'CNY': '5', 'RUB': '125'})]


def cubes(days):
    return ('<?xml version="1.0"?><gesmes:Envelope xmlns:gesmes="g" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube>'
            + ''.join(f"<Cube time='{d}'>" + ''.join(f"<Cube currency='{c}' rate='{v}'/>" for c, v in r.items()) + '</Cube>'
                      for d, r in days) + '</Cube></gesmes:Envelope>')


class Bank(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        data = cubes(DAYS[:1]).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = HTTPServer(('127.0.0.1', 0), Bank)
threading.Thread(target=server.serve_forever, daemon=True).start()


def run(*args, status=0, now='2026-05-10T10:00:00Z', stdin=None):
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith('_proxy')}
    env.update(GPUTIER_DB=str(work / 'x.db'), GPUTIER_DATA=str(work / 'empty'), GPUTIER_NOW=now,
               GPUTIER_URL_ECB_FX=f'http://127.0.0.1:{server.server_port}/eurofxref-daily.xml')
    p = subprocess.run([GPUTIER, *map(str, args)], env=env, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    if p.returncode != status:
        failures.append(f'{args}: exit {p.returncode}, expected {status}: {p.stderr[-400:]}')
    return p


def check(name, found, wanted=True):
    print(('ok   ' if found == wanted else 'FAIL ') + name, flush=True)
    if found != wanted:
        failures.append(f'{name}: found {found}, expected {wanted}')


def price(*args, kind='usd.1', **more):
    p = run('prices', '--instance', kind, '--format', 'json', *args, **more)
    o = json.loads(p.stdout)['offers'][0] if p.returncode == 0 else {}
    return o.get('price_per_hour'), o.get('currency')


own = work / 'own.csv'
own.write_text('vendor,region,instance_type,purchase,price_per_hour,currency,valid_from\n'
               'aws-cn,cn-north-1,cny.1,on_demand,60,CNY,2022-01-01\n'
               'coreweave,moscow,rub.1,on_demand,100,RUB,2022-01-01\n'
               'aws,us-east-1,usd.1,on_demand,1,USD,2022-01-01\n')
run('import', 'prices-csv', own, now='2022-02-01T00:00:00Z')
run('import', 'ecb-fx', '-', stdin=cubes(DAYS[1:]), now='2026-05-01T00:00:00Z')
run('fetch', 'ecb-fx')
check('f089_aws_cn: yuan stay yuan', price(kind='cny.1'), ('60', 'CNY'))
check('converted at the last rate', price('--currency', 'USD', kind='cny.1'), ('7.5', 'USD'))
p = run('prices', '--currency', 'CNY', '--instance', 'usd.1')
check('shown with its date', 'exchange rate: 8 CNY for 1 USD, of 2026-05-04' in p.stderr and '8.000000' in p.stdout)
p = run('prices', '--currency', 'CNY', '--instance', 'usd.1', '--as-of', '2026-05-02')
check('trap_60_holiday: the last rate on or before the day', 'exchange rate: 6 CNY for 1 USD, of 2026-04-30' in p.stderr)
check('trap_60_euro_base: the euro is one over', price('--currency', 'EUR'), ('0.8', 'EUR'))
check('f091_label_only: roubles are not relabelled', price('--currency', 'USD', kind='rub.1'), ('100', 'RUB'))
p = run('prices', '--currency', 'RUB', status=2)
check('f091_label_only: not quoted since 2022, refused', 'no exchange rate is known' in p.stderr)
check('while it was quoted', price('--currency', 'RUB', '--fx', 'RUB=90@2026-05-01'), ('90', 'RUB'))
state = [s for s in json.loads(run('sources', '--format', 'json').stdout)['sources'] if s['source_id'] == 'ecb-fx'][0]
check('its date in sources', state['as_of'], '2026-05-04T00:00:00Z')
for name, text in (('csv', 'Date, USD, CNY, \n11 May 2026, 1.25, 11.25, \n'),
                   ('csvdata', 'FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,TIME_PERIOD,OBS_VALUE\nD,USD,EUR,SP00,2026-05-12,1.25\n'
                               'D,CNY,EUR,SP00,2026-05-12,12.5\n')):
    run('import', 'auto', '-', stdin=text, now='2026-05-13T00:00:00Z')
    wanted = {'csv': '9', 'csvdata': '10'}[name]
    check(name, price('--currency', 'CNY', now='2026-05-13T00:00:00Z'), (wanted, 'CNY'))
print('\n'.join(failures))
sys.exit(bool(failures))
