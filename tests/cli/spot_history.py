#!/usr/bin/env python3
"""aws-spot-history as a fetch: an EC2 responder on loopback that recomputes SigV4 from what it received
(the published algorithm, with hashlib) and answers 401 AuthFailure when it differs; pages by NextToken,
an empty page in the middle, tokens that go round, throttling, refusals with their words, what a second
fetch asks for, all regions; keys are never shown."""
import hashlib
import hmac
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

GPUTIER = os.environ['GPUTIER']
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
ID, SECRET, TOKEN = 'AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', 'token/with+signs=='
log, failures = [], []
answers = {}  # region -> list of answers to come; each a page, or (status, body)


def item(zone, kind, price, when, product='Linux/UNIX'):
    return (f'<item><instanceType>{kind}</instanceType><productDescription>{product}</productDescription>'
            f'<spotPrice>{price}</spotPrice><timestamp>{when}</timestamp>'
            f'<availabilityZone>{zone}</availabilityZone><availabilityZoneId>use1-az9</availabilityZoneId></item>')


def page(items, token=''):
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<DescribeSpotPriceHistoryResponse '
            'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">\n<requestId>r</requestId>\n<spotPriceHistorySet>\n'
            + '\n'.join(items) + f'\n</spotPriceHistorySet>\n<nextToken>{token}</nextToken>\n'
            '</DescribeSpotPriceHistoryResponse>\n')


def error(code, text):
    return f'<?xml version="1.0"?>\n<Response><Errors><Error><Code>{code}</Code><Message>{text}</Message></Error></Errors></Response>'


def signature(region, method, path, query, headers, signed, body):
    """AWS Signature Version 4 of a request, by AWS's description of it."""
    def mac(key, text):
        return hmac.new(key, text.encode(), hashlib.sha256).digest()
    canonical = '\n'.join([method, path, '&'.join(sorted(query.split('&'))) if query else '',
                           ''.join(f'{h}:{" ".join(headers[h].split())}\n' for h in signed), ';'.join(signed),
                           hashlib.sha256(body).hexdigest()])
    date = headers['x-amz-date']
    scope = f'{date[:8]}/{region}/ec2/aws4_request'
    text = '\n'.join(['AWS4-HMAC-SHA256', date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = mac(mac(mac(mac(f'AWS4{SECRET}'.encode(), date[:8]), region), 'ec2'), 'aws4_request')
    return scope, hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Ec2(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def verify(self, body):
        headers = {k.lower(): v for k, v in self.headers.items()}
        given = headers.get('authorization', '')
        if not given.startswith('AWS4-HMAC-SHA256 '):
            return None, 'no signature'
        part = dict(p.strip().split('=', 1) for p in given[17:].split(','))
        credential, signed = part['Credential'].split('/'), part['SignedHeaders'].split(';')
        region = credential[2]
        needed = {'host', 'x-amz-date', 'content-type'} | ({'x-amz-security-token'} if 'x-amz-security-token' in headers else set())
        if not needed <= set(signed) or signed != sorted(signed):
            return region, f'signed are {signed}'
        path, _, query = self.path.partition('?')
        scope, wanted = signature(region, self.command, path, query, headers, signed, body)
        ok = part['Signature'] == wanted and '/'.join(credential) == f'{ID}/{scope}'
        return region, '' if ok else 'AWS was not able to validate the provided access credentials'

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        region, fault = self.verify(body)
        ask = {k: v[0] for k, v in parse_qs(body.decode(), keep_blank_values=True).items()}
        log.append((region, ask, dict(self.headers)))
        status, text = 200, ''
        if fault:
            status, text = 401, error('AuthFailure', fault)
        elif ask['Action'] == 'DescribeRegions':
            text = ('<DescribeRegionsResponse><regionInfo>' + ''.join(
                f'<item><regionName>{r}</regionName><regionEndpoint>ec2.{r}.amazonaws.com</regionEndpoint></item>'
                for r in ('eu-west-1', 'us-east-1', 'us-west-2')) + '</regionInfo></DescribeRegionsResponse>')
        else:
            text = answers[region].pop(0) if answers.get(region) else page([item(region + 'a', 'g5.xlarge', '1', '2026-11-30T00:00:00.000Z')])
            if isinstance(text, tuple):
                status, text = text
        data = text.encode()
        self.send_response(status)
        self.send_header('Content-Type', 'text/xml;charset=UTF-8')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = ThreadingHTTPServer(('127.0.0.1', 0), Ec2)
threading.Thread(target=server.serve_forever, daemon=True).start()
ENV = {'AWS_ACCESS_KEY_ID': ID, 'AWS_SECRET_ACCESS_KEY': SECRET, 'AWS_SESSION_TOKEN': TOKEN}


def fetch(*args, status=0, db='s.db', now='2026-12-02T10:00:00Z', keys=ENV, base='/'):
    log.clear()
    env = {k: v for k, v in os.environ.items() if not k.startswith('AWS_') and not k.lower().endswith('_proxy')}
    env.update(keys, GPUTIER_DB=str(work / db), GPUTIER_DATA=str(work / 'empty'), GPUTIER_NOW=now,
               GPUTIER_URL_AWS_SPOT_HISTORY=f'http://127.0.0.1:{server.server_port}{base}')
    p = subprocess.run([GPUTIER, '-v', 'fetch', 'aws-spot-history', *(args or ('--region', 'aws/us-east-1'))], env=env,
                       capture_output=True, text=True, timeout=120, check=False)
    if p.returncode != status:
        failures.append(f'{args}: exit {p.returncode}, expected {status}: {p.stderr[-600:]}')
    if any(k in p.stdout + p.stderr for k in (ID, SECRET, TOKEN)):
        failures.append(f'{args}: a key shows')
    return p


def points(db='s.db'):
    with sqlite3.connect(work / db) as c:
        return c.execute('SELECT l.region, l.zone, t.name, x.time, x.price FROM spot_point x JOIN place l ON l.id = x.place '
                         'JOIN instance_type t ON t.id = x.instance_type ORDER BY 1, 2, 3, 4').fetchall()


def check(name, found, wanted=True):
    print(('ok   ' if found == wanted else 'FAIL ') + name, flush=True)
    if found != wanted:
        failures.append(f'{name}: found {found}, expected {wanted}')


def many(n, first=0):
    return [item('us-east-1a', f'g5.t{first + i}', '0.5', '2026-11-30T00:00:00.000Z') for i in range(n)]


# one page with a session token, then without: both signatures hold
answers['us-east-1'] = [page([item('us-east-1a', 'g5.xlarge', '0.413400', '2026-11-10T06:31:05.000Z'),
                              item('us-east-1a', 'g5.xlarge', '0.9', '2026-11-10T06:31:05.000Z', 'Windows'),
                              item('us-east-1a', 'g5.xlarge', '0.4', '2026-08-01T00:00:00.000Z'),
                              item('us-east-1-bos-1a', 'g4dn.2xlarge', '0.3', '2026-11-10T06:31:05.000Z')])]
fetch()
region, ask, head = log[0]
check('one request', len(log), 1)
check('the token goes into its header', head.get('X-Amz-Security-Token'), TOKEN)
check('ninety days', (ask['StartTime'], ask['EndTime']), ('2026-09-03T10:00:00Z', '2026-12-02T10:00:00Z'))
check('Linux, on accelerated families', ([ask[f'ProductDescription.{i}'] for i in (1, 2)], ask['Filter.1.Name'],
                                         [ask[f'Filter.1.Value.{i}'] for i in range(1, 6)]),
      (['Linux/UNIX', 'Linux/UNIX (Amazon VPC)'], 'instance-type', ['g*', 'p*', 'dl*', 'inf*', 'trn*']))
check('trap_26_local_zone', [x[:3] for x in points() if 'bos' in x[1]], [('us-east-1-bos-1', 'us-east-1-bos-1a', 'g4dn.2xlarge')])
check('f065_first_record_before_start: kept at its own time',
      [(t, p) for _, _, k, t, p in points() if k == 'g5.xlarge'], [(1785542400, '0.4'), (1794292265, '0.4134')])
fetch('--region', 'aws/us-east-1', '--region', 'aws/us-east-1-bos-1', keys={k: v for k, v in ENV.items() if 'TOKEN' not in k},
      now='2026-12-02T11:00:00Z')
check('without a token, one region once', [(r, 'X-Amz-Security-Token' in h) for r, _, h in log], [('us-east-1', False)])
check('a second fetch asks for what is new', log[0][1]['StartTime'], '2026-12-02T09:00:00Z')

# pages
answers['us-east-1'] = [page(many(1000), 'a b/+='), page([], 'two'), page(many(37, 1000))]
fetch(db='pages.db')
check('f063_empty_page_mid: 1000 rows, none, 37', len(points('pages.db')), 1037)
check('tokens travel encoded', [a.get('NextToken') for _, a, _ in log], [None, 'a b/+=', 'two'])
before = points('pages.db')
for name, tokens in (('itself', ['x', 'x']), ('a cycle of two', ['x', 'y', 'x'])):
    answers['us-east-1'] = [page(many(1, 5000 + i), t) for i, t in enumerate(tokens)]
    p = fetch(status=1, db='pages.db')
    check(f'f061_self_link: {name}', 'names a page before it' in p.stderr and len(log) == len(tokens))
    check(f'f061_self_link: {name} publishes nothing', points('pages.db'), before)
answers['us-east-1'] = [page([])]
p = fetch(status=4, db='pages.db')
check('no row at all is refused', ('without a Linux price' in p.stderr, points('pages.db')), (True, before))

# refusals
for status, code in ((503, 'RequestLimitExceeded'), (400, 'Throttling')):
    answers['us-east-1'] = [(status, error(code, 'Request limit exceeded.')), page(many(3))]
    fetch(db=f'{code}.db')
    check(f'{code} passes', (len(log), len(points(f'{code}.db'))), (2, 3))
p = fetch(status=1, db='auth.db', keys=dict(ENV, AWS_SECRET_ACCESS_KEY='wrong'))
check('AuthFailure is not tried again, and shown', (len(log), 'AuthFailure: AWS was not able to validate' in p.stderr), (1, True))
answers['us-east-1'] = [(403, error('SignatureDoesNotMatch', f'should have been POST x-amz-security-token:{TOKEN} {SECRET}'))]
check('an echo of the keys is masked', '****' in fetch(status=1, db='auth.db').stderr)
answers['us-east-1'] = [(403, error('UnauthorizedOperation', 'You are not authorized\x01 to perform'))]
fetch(status=1, db='auth.db')
answers['us-east-1'] = [(200, error('InternalFault', 'odd'))]
p = fetch(status=4, db='auth.db')
check('f093_error_codes_change: an error under HTTP 200', 'the answer is an error: InternalFault: odd' in p.stderr)
answers['us-east-1'] = [page(many(3))[:300]]
check('a cut page', 'cut file' in fetch(status=4, db='auth.db').stderr)
p = fetch(status=2, keys={'AWS_ACCESS_KEY_ID': ID})
check('the secret is missing', 'AWS_SECRET_ACCESS_KEY' in p.stderr)
p = fetch(status=2, keys={})
check('the key is missing', 'set AWS_ACCESS_KEY_ID' in p.stderr)
p = fetch('--region', 'aws/nowhere', status=1)
check('no region', 'nowhere' in p.stderr and not log)

# regions
fetch('--all-regions', db='all.db')
check('all regions', sorted({r for r, *_ in points('all.db')}), ['eu-west-1', 'us-east-1', 'us-west-2'])
check('each signed for itself', sorted(r for r, *_ in log), ['eu-west-1', 'us-east-1', 'us-east-1', 'us-west-2'])
fetch('--region', 'aws/cn-north-1', db='cn.db', base='/REGION')
check('China is in CNY', [(r, z) for r, z, *_ in points('cn.db')], [('cn-north-1', 'cn-north-1a')])
listed = subprocess.run([GPUTIER, 'sources', '--format', 'json'], env=dict(os.environ, GPUTIER_DB=str(work / 's.db'),
                        GPUTIER_DATA=str(work / 'empty'), **ENV), capture_output=True, text=True, check=True).stdout
state = [s for s in json.loads(listed)['sources'] if s['source_id'] == 'aws-spot-history' and s['scope'] != 'nowhere'][0]
check('sources', (state['scope'], state['key_variable'], state['key_set'], state['as_of']),
      ('us-east-1', 'AWS_ACCESS_KEY_ID', True, '2026-11-30T00:00:00Z'))
print('\n'.join(failures))
sys.exit(bool(failures))
