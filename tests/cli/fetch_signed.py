#!/usr/bin/env python3
"""Alibaba, Tencent and Huawei Cloud against a loopback vendor that checks each signature with Python's own
hmac: what is asked, wrong keys, throttling with HTTP 200 and 400, what is not sold, error envelopes (F093)."""
import hashlib
import hmac
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

GPUTIER = os.environ['GPUTIER']
work = Path(tempfile.mkdtemp())
(work / 'empty').mkdir()
SECRET = {'LTAIalibaba1': 'aliSECRET/+x', 'AKIDtencent1': 'tenSECRET', 'HWIDhuawei1': 'huaSECRET'}
PROJECT = '0123456789abcdef0123456789abcdef'
KEYS = {'alibaba': 'LTAIalibaba1:aliSECRET/+x', 'tencent': 'AKIDtencent1:tenSECRET',
        'huawei': f'HWIDhuawei1:huaSECRET:{PROJECT}'}
asked, nonces, faults, failures = [], set(), {}, []
lock = threading.Lock()


def sha(data):
    return hashlib.sha256(data).hexdigest()


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256)


def canonical(method, path, query, headers, names, body, lower=False):
    lines = ''.join(f'{n}:{(headers[n].lower() if lower else headers[n]).strip()}\n' for n in names.split(';'))
    return sha('\n'.join([method, path, query, lines, names, sha(body)]).encode())


def parts(authorization, scheme):
    assert authorization.startswith(scheme + ' '), authorization
    return dict(p.strip().split('=', 1) for p in authorization[len(scheme) + 1:].split(','))


def recent(text, form):
    return abs(datetime.strptime(text, form).replace(tzinfo=timezone.utc).timestamp() - time.time()) < 300


def alibaba(method, url, headers, body):
    a = parts(headers['authorization'], 'ACS3-HMAC-SHA256')
    names = a['SignedHeaders']
    assert names == ';'.join(sorted(names.split(';'))) and {'host', 'x-acs-action', 'x-acs-date', 'x-acs-version'} < set(
        names.split(';')), names
    assert url.query == '&'.join(sorted(url.query.split('&'))), url.query
    assert recent(headers['x-acs-date'], '%Y-%m-%dT%H:%M:%SZ') and headers['x-acs-content-sha256'] == sha(body)
    with lock:
        assert headers['x-acs-signature-nonce'] not in nonces, 'a nonce twice'
        nonces.add(headers['x-acs-signature-nonce'])
    if a['Credential'] not in SECRET:
        return 404, {'Code': 'InvalidAccessKeyId.NotFound', 'Message': f'{a["Credential"]} is not found'}
    text = 'ACS3-HMAC-SHA256\n' + canonical(method, url.path, url.query, headers, names, body)
    if mac(SECRET[a['Credential']].encode(), text).hexdigest() != a['Signature']:
        return 400, {'Code': 'SignatureDoesNotMatch', 'Message': 'Specified signature is not matched'}
    q = {k: v[0] for k, v in parse_qs(url.query).items()}
    if q['InstanceType'] != 'ecs.gn7i-c8g1.2xlarge':
        return 400, {'Code': 'InvalidInstanceType.ValueNotSupported', 'Message': 'beyond the permitted range'}
    if headers['x-acs-action'] == 'DescribePrice':
        amount = {'Hour': 9.98, 'Month': 3200.5}[q['PriceUnit']]
        return 200, {'PriceInfo': {'Rules': {'Rule': []}, 'Price': {
            'OriginalPrice': amount + 1, 'TradePrice': amount / 2, 'Currency': 'CNY', 'DetailInfos': {'DetailInfo': [
                {'Resource': 'systemDisk', 'OriginalPrice': 1}, {'Resource': 'instanceType', 'OriginalPrice': amount}]}}}}
    first = q['Offset'] == '0'
    rows = [{'ZoneId': f'{q["RegionId"]}-{z}', 'InstanceType': q['InstanceType'], 'NetworkType': 'vpc', 'SpotPrice': p,
             'OriginPrice': 9.98, 'Timestamp': t} for z, p, t in (
        [('i', 2.5, '2026-11-30T10:00:00Z'), ('i', 3, '2026-11-29T10:00:00Z')] if first else
        [('j', 4.25, '2026-11-30T11:00:00Z')])]
    return 200, {'SpotPrices': {'SpotPriceType': rows}, 'NextOffset': 2 if first else 0, 'Currency': 'CNY'}


def tencent(method, url, headers, body):
    a = parts(headers['authorization'], 'TC3-HMAC-SHA256')
    ident, day, service, end = a['Credential'].split('/')
    stamp = headers['x-tc-timestamp']
    assert abs(int(stamp) - time.time()) < 300 and service == 'cvm' and end == 'tc3_request'
    assert datetime.fromtimestamp(int(stamp), timezone.utc).strftime('%Y-%m-%d') == day
    assert {'content-type', 'host'} <= set(a['SignedHeaders'].split(';'))
    key = b'TC3' + SECRET.get(ident, '').encode()
    for step in (day, service, end):
        key = mac(key, step).digest()
    text = '\n'.join(['TC3-HMAC-SHA256', stamp, f'{day}/{service}/{end}',
                      canonical(method, url.path, url.query, headers, a['SignedHeaders'], body, lower=True)])
    if ident not in SECRET:
        return 200, {'Response': {'Error': {'Message': f'The SecretId {ident} is not found', 'Code': 'AuthFailure.SecretIdNotFound'}}}
    if mac(key, text).hexdigest() != a['Signature']:
        return 200, {'Response': {'Error': {'Code': 'AuthFailure.SignatureFailure', 'Message': 'not correct'}}}
    assert headers['x-tc-action'] == 'DescribeZoneInstanceConfigInfos' and headers['x-tc-version'] == '2017-03-12'
    region = headers['x-tc-region']
    return 200, {'Response': {'InstanceTypeQuotaSet': [
        {'Zone': f'{region}-3', 'InstanceType': f'GN7.{t}', 'InstanceFamily': 'GN7', 'InstanceChargeType': kind, 'Cpu': 8,
         'Memory': 32, 'Gpu': 1, 'GpuCount': 1, 'Status': 'SELL', 'Price': {k: 7.5 for k in prices}}
        for t in ('2XLARGE32', '5XLARGE80') for kind, prices in (('POSTPAID_BY_HOUR', ('UnitPrice',)), ('PREPAID', ('OriginalPrice',)))]}}


def huawei(method, url, headers, body):
    a = parts(headers['authorization'], 'SDK-HMAC-SHA256')
    assert recent(headers['x-sdk-date'], '%Y%m%dT%H%M%SZ')
    path = url.path if url.path.endswith('/') else url.path + '/'
    text = 'SDK-HMAC-SHA256\n' + headers['x-sdk-date'] + '\n' + canonical(
        method, path, url.query, headers, a['SignedHeaders'], body)
    if a['Access'] not in SECRET or mac(SECRET[a['Access']].encode(), text).hexdigest() != a['Signature']:
        return 401, {'error_code': 'APIGW.0301', 'error_msg': f'Incorrect IAM authentication information: {a["Access"]}'}
    q = json.loads(body)
    assert url.path.endswith('/v2/bills/ratings/on-demand-resources') and q['project_id'] == PROJECT
    item = q['product_infos'][0]
    if item['resource_spec'] not in ('p2s.2xlarge.8.linux', 'pi2.2xlarge.4.linux'):
        return 400, {'error_code': 'CBC.99005005', 'error_msg': f'no such product in the project {PROJECT}'}
    return 200, {'product_rating_results': [{'id': item['id'], 'official_website_amount': 12.5, 'amount': 10, 'measure_id': 1}],
                 'currency': 'CNY'}


class Vendor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def serve(self):
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        headers = {k.lower(): v for k, v in self.headers.items()}
        vendor = url.path.split('/')[1]
        try:
            status, answer = {'alibaba': alibaba, 'tencent': tencent, 'huawei': huawei}[vendor](
                self.command, url, headers, body)
        except (AssertionError, KeyError, ValueError) as e:
            failures.append(f'{vendor}: {e!r}')
            status, answer = 500, {}
        with lock:
            asked.append(vendor)
            if faults.get(vendor):
                status, answer = faults[vendor].pop(0)
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'text/html' if isinstance(answer, str) else 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = serve


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()


def fetch(*args, status=0, keys=None):
    asked.clear()
    env = dict(os.environ, GPUTIER_DB=str(work / 'f.db'), GPUTIER_DATA=str(work / 'empty'), XDG_STATE_HOME=str(work / 'state'),
               GPUTIER_NOW='2026-12-02T10:00:00Z')
    for v, key in (KEYS | (keys or {})).items():
        env[f'GPUTIER_URL_{v.upper()}'] = f'http://127.0.0.1:{server.server_port}/{v}'
        env[f'GPUTIER_KEY_{v.upper()}'] = key
    p = subprocess.run([GPUTIER, '-v', 'fetch', *args], env=env, capture_output=True, text=True, timeout=120, check=False)
    if p.returncode != status:
        failures.append(f'fetch {args}: exit {p.returncode}, expected {status}: {p.stderr[-600:]}')
    logs = ''.join(f.read_text() for f in (work / 'state').rglob('*') if f.is_file())
    for part in (*SECRET, *SECRET.values(), PROJECT, 'WRONGSECRET', 'NOSUCHKEYID'):
        if part in p.stdout + p.stderr + logs:
            failures.append(f'{args}: a part of a key shows ({part}): {p.stderr[-300:]}')
    return p


def offers(vendor):
    db = sqlite3.connect(work / 'f.db')
    return {(l, z, t, q): (h if h != '0' else m, c) for l, z, t, q, h, m, c in db.execute(
        'SELECT l.region, l.zone, t.name, q.name, coalesce(o.price, \'0\'), o.price_month, o.currency FROM offer o JOIN place l '
        'ON l.id = o.place JOIN instance_type t ON t.id = o.instance_type JOIN purchase_option q ON q.id = o.purchase WHERE '
        'o.known_to IS NULL AND l.vendor = ?', (vendor,))}


def check(name, found, wanted):
    print(('ok   ' if found == wanted else 'FAIL ') + name, flush=True)
    if found != wanted:
        failures.append(f'{name}: found {found}, expected {wanted}')


TYPE = 'ecs.gn7i-c8g1.2xlarge'
fetch('aliyun', '--region', 'alibaba/cn-hangzhou')
ALIBABA = {('cn-hangzhou', '', TYPE, 'on_demand'): ('9.98', 'CNY'), ('cn-hangzhou', '', TYPE, 'monthly'): ('3200.5', 'CNY'),
           ('cn-hangzhou', 'cn-hangzhou-i', TYPE, 'spot'): ('2.5', 'CNY'),
           ('cn-hangzhou', 'cn-hangzhou-j', TYPE, 'spot'): ('4.25', 'CNY')}
check('alibaba: the instance alone at list price, spot of each zone over two pages', offers('alibaba'), ALIBABA)
check('alibaba: three questions a type, one more page', len(asked) % 3 == 1 and len(asked) > 150, True)
fetch('tencent', '--region', 'tencent/ap-guangzhou', '--region', 'aws/us-east-1')
TENCENT = {('ap-guangzhou', 'ap-guangzhou-3', f'GN7.{t}', q): ('7.5', 'CNY') for t in ('2XLARGE32', '5XLARGE80')
           for q in ('on_demand', 'monthly')}
check('tencent', offers('tencent'), TENCENT)
check('tencent: one request', asked, ['tencent'])
fetch('huawei', '--region', 'huawei/cn-north-4')
HUAWEI = {('cn-north-4', '', t, 'on_demand'): ('12.5', 'CNY') for t in ('p2s.2xlarge.8', 'pi2.2xlarge.4')}
check('huawei: list prices', offers('huawei'), HUAWEI)

REGION = {'alibaba': 'cn-hangzhou', 'tencent': 'ap-guangzhou', 'huawei': 'cn-north-4'}
KNOWN = {'alibaba': ALIBABA, 'tencent': TENCENT, 'huawei': HUAWEI}
for v, key in KEYS.items():
    ident, secret, *rest = key.split(':')
    for what, wrong in (('secret', [ident, 'WRONGSECRET', *rest]), ('id', ['NOSUCHKEYID', secret, *rest])):
        p = fetch(v, '--region', f'{v}/{REGION[v]}', status=1, keys={v: ':'.join(wrong)})
        code = {'alibaba': {'secret': 'SignatureDoesNotMatch', 'id': 'InvalidAccessKeyId'}, 'huawei': {'secret': 'APIGW', 'id': 'APIGW'},
                'tencent': {'secret': 'SignatureFailure', 'id': 'SecretIdNotFound'}}[v][what]
        check(f'{v}: a wrong {what} is named by the vendor', code in p.stderr, True)
    p = fetch(v, '--region', f'{v}/{REGION[v]}', status=2, keys={v: 'one-part'})
    check(f'{v}: the form of the key is told', ':' in p.stderr and '_KEY:' in p.stderr.replace('_ID:', '_KEY:') and not asked, True)
    check(f'{v}: prices stay', offers(v), KNOWN[v])

BUSY = {'alibaba': [(400, {'Code': 'Throttling.User', 'Message': 'flow control'}), (503, {'Code': 'ServiceUnavailable'})],
        'tencent': [(200, {'Response': {'Error': {'Code': 'RequestLimitExceeded', 'Message': 'slow down'}}}), (502, '<html>bad')],
        'huawei': [(429, {'error_code': 'APIGW.0308', 'error_msg': 'throttled'})]}
for v, answers in BUSY.items():
    n = len(asked) if not fetch(v, '--region', f'{v}/{REGION[v]}').returncode else 0
    faults[v] = list(answers)
    p = fetch(v, '--region', f'{v}/{REGION[v]}')
    check(f'{v}: throttled requests are signed and sent again', (offers(v), len(asked)), (KNOWN[v], n + len(answers)))

# F093: an unknown error, HTTP 200
for v, answer in (('alibaba', {'Code': 'Account.Arrearage', 'Message': 'pay'}), ('huawei', {'error_msg': 'new', 'error_code': 'APIGW.9999'}),
                  ('tencent', {'Response': {'Error': {'Code': 'NewCode', 'Message': 'renamed'}}})):
    faults[v] = [(200, answer)] * (1 if v != 'alibaba' else 400)
    p = fetch(v, '--region', f'{v}/{REGION[v]}', status=1 if v != 'alibaba' else 4)
    check(f'F093 {v}: an unknown error of HTTP 200 keeps the prices', offers(v), KNOWN[v])
    check(f'F093 {v}: code and message are told', 'Arrearage' in p.stderr or 'NewCode' in p.stderr or 'APIGW.9999' in p.stderr, True)
    faults.clear()
p = fetch('alibaba', status=2)
check('a region is asked for', '--region alibaba/CODE' in p.stderr, True)
p = fetch('alibaba', '--region', 'cn-hang&x=1', status=2)
check('a region of odd letters is refused', 'expected VENDOR/CODE' in p.stderr, True)
print('\n'.join(failures))
sys.exit(bool(failures))
