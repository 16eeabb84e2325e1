#!/usr/bin/env python3
"""`changes` on real imports: prices that rise, fall, appear, vanish, come back, expire; storage and transfer rates;
the split of a changed price into price and exchange rate, and that a rate alone is never a price change; a broken
list makes nothing vanish."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import json_schema  # noqa: E402

GPUTIER = os.environ['GPUTIER']
work = Path(tempfile.mkdtemp())
(work / 'empty' / 'snapshot').mkdir(parents=True)
failures = []


def expect(what, got, want):
    if got != want:
        failures.append(f'{what}: {got!r}, expected {want!r}')


def run(db, now, *args, status=0):
    env = dict(os.environ, GPUTIER_DB=str(work / db), GPUTIER_DATA=str(work / 'empty'), GPUTIER_NOW=now)
    p = subprocess.run([GPUTIER, *map(str, args)], env=env, capture_output=True, text=True, timeout=60, check=False)
    if p.returncode != status:
        failures.append(f'{args}: exit {p.returncode}, expected {status}: {p.stderr[-500:]}')
    return p


def changes(db, now, *args):
    d = json.loads(run(db, now, 'changes', '--format', 'json', *args).stdout)
    wrong = json_schema.validate(d, json_schema.load('changes'))
    if wrong:
        failures.append(f'changes {args}: {wrong[:3]}')
    return d


HEAD = 'vendor,region,instance_type,gpu,gpu_count,purchase,price_per_hour,currency,valid_from,valid_to,upfront,payment\n'
STILL = [f'aws,us-east-1,still{i},A100-80GB SXM4,1,on_demand,1.5,USD,,,,' for i in range(10)]


def offers(db, now, *rows, status=0, more=()):
    (work / 'o.csv').write_text(HEAD + ''.join(r + '\n' for r in STILL + list(rows)))
    return run(db, now, 'import', 'prices-csv', work / 'o.csv', *more, status=status)


def of(d, item):
    rows = [c for c in d['changes'] if (c['instance_type'] or c['tier'] or c['destination']) == item]
    return rows[0] if len(rows) == 1 else {}


def kinds():
    expect('nothing yet', changes('k.db', '2026-01-01', )['since'], None)
    offers('k.db', '2026-01-01', 'aws,us-east-1,up,H100 SXM,8,on_demand,10,USD,,,,',
           'aws,us-east-1,down,H100 SXM,8,spot,4,USD,,,,', 'aws,us-east-1,gone,,0,on_demand,1,USD,,,,',
           'aws,us-east-1,flaky,,0,on_demand,2,USD,,,,', 'aws,us-east-1,dated,,0,on_demand,2,USD,2025-01-01,2026-01-15,,',
           'aws,us-east-1,upfront,H100 SXM,8,reserved_1y,1,USD,,,8760,partial')
    d = changes('k.db', '2026-01-01')
    expect('a first import has nothing before', (d['changes'], d['summary']['first_fetched_parts']), ([], 1))
    offers('k.db', '2026-02-01', 'aws,us-east-1,up,H100 SXM,8,on_demand,12.5,USD,,,,',
           'aws,us-east-1,down,H100 SXM,8,spot,3.2,USD,,,,', 'aws,us-east-1,new,,0,on_demand,1,USD,,,,',
           'aws,us-east-1,upfront,H100 SXM,8,reserved_1y,2,USD,,,,none')
    d = changes('k.db', '2026-02-01')
    expect('since', d['since'], '2026-01-31T23:59:59Z')
    expect('up', (of(d, 'up').get('kind'), of(d, 'up').get('change'), of(d, 'up').get('change_pct')), ('rose', '2.5', 25))
    expect('down', (of(d, 'down').get('kind'), of(d, 'down').get('before'), of(d, 'down').get('after')), ('fell', '4', '3.2'))
    expect('gone', (of(d, 'gone').get('kind'), of(d, 'gone').get('when')), ('vanished', '2026-02-01T00:00:00Z'))
    expect('new', of(d, 'new').get('kind'), 'appeared')
    expect('by size', [c['kind'] for c in d['changes'][:2]], ['rose', 'fell'])
    expect('median', d['summary']['median_change_pct'], 2.5)
    expect('still is no change', of(d, 'still0'), {})
    two = [c for c in d['changes'] if c['instance_type'] == 'upfront']
    expect('another payment is another offer', sorted(c['kind'] for c in two), ['appeared', 'vanished'])
    expect('spread over the term', [c['before'] for c in two if c['before']], ['2'])
    d = changes('k.db', '2026-02-01', '--gpu', 'H100', '--vendor', 'aws')
    expect('--gpu', {c['instance_type'] for c in d['changes']}, {'up', 'down', 'upfront'})
    run('k.db', '2026-02-01', 'changes', '--gpu', 'H10', status=2)
    run('k.db', '2026-02-01', 'changes', '--since', '2027-01-01', status=2)
    expect('--limit counts all', (len(changes('k.db', '2026-02-01', '--limit', '1')['changes']),
                                  changes('k.db', '2026-02-01', '--limit', '1')['summary']['rose']), (1, 1))
    text = run('k.db', '2026-02-01', 'changes').stdout
    if 'since 2026-01-31T23:59:59Z: 1 rose, 1 fell, 2 appeared, ' not in text or '+25.00 %' not in text:
        failures.append(f'table: {text}')
    rows = list(csv.DictReader(io.StringIO(run('k.db', '2026-02-01', 'changes', '--format', 'csv').stdout)))
    expect('csv', [(r['item'], r['after']) for r in rows if r['kind'] == 'rose'], [('up', '12.5')])


def f113_flaky_rows():
    """Rows that are missing from one list and back in the next are said to be back, not new."""
    d = changes('k.db', '2026-02-01')
    expect('missing row', of(d, 'flaky').get('kind'), 'vanished')
    offers('k.db', '2026-03-01', 'aws,us-east-1,up,H100 SXM,8,on_demand,12.5,USD,,,,',
           'aws,us-east-1,flaky,,0,on_demand,2,USD,,,,', 'aws,us-east-1,gone,,0,on_demand,1.1,USD,,,,')
    d = changes('k.db', '2026-03-01')
    flaky, gone = of(d, 'flaky'), of(d, 'gone')
    expect('back at its price', (flaky.get('kind'), flaky.get('missing_from'), flaky.get('missing_to'), flaky.get('change')),
           ('restored', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', '0'))
    expect('back at another', (gone.get('kind'), gone.get('change_pct')), ('restored', 10))
    expect('median without what came back', d['summary']['median_change_pct'], None)
    d = changes('k.db', '2026-03-01', '--since', '2026-01-10')
    expect('over both lists', (of(d, 'flaky').get('kind'), of(d, 'gone').get('kind'), of(d, 'up').get('kind')),
           ('restored', 'rose', 'rose'))
    expect('over both lists, gap', of(d, 'gone').get('missing_from'), '2026-02-01T00:00:00Z')
    expect('its date passed', of(d, 'dated').get('kind'), 'vanished')
    d = changes('k.db', '2026-03-01', '--since', '2026-01-10', '--as-of', '2026-01-20')
    expect('its date passed, nothing else', [(c['instance_type'], c['kind'], c['when']) for c in d['changes']],
           [('dated', 'expired', '2026-01-15T00:00:00Z')])
    # a later import that is refused, or cut, closes nothing
    offers('k.db', '2026-04-01', 'aws,us-east-1,up', status=4)
    (work / 'o.csv').write_text(HEAD + STILL[0] + '\n')
    run('k.db', '2026-04-02', 'import', 'prices-csv', work / 'o.csv', status=3)
    d = changes('k.db', '2026-04-02', '--since', '2026-03-15')
    expect('nothing vanishes by a refused list', d['changes'], [])


def f089_fx_is_no_price_change():
    def rates(now, cny):
        (work / 'fx.xml').write_text(f"<gesmes:Envelope><Cube><Cube time='{now}'><Cube currency='USD' rate='1'/>"
                                     f"<Cube currency='CNY' rate='{cny}'/></Cube></Cube></gesmes:Envelope>")
        run('x.db', now, 'import', 'ecb-fx', work / 'fx.xml')

    rows = ['aws-cn,cn-north-1,same,H100 SXM,8,on_demand,700,CNY,,,,', 'aws-cn,cn-north-1,usd,,0,on_demand,3,USD,,,,']
    rates('2026-01-01', '7')
    offers('x.db', '2026-01-01', *rows, 'aws-cn,cn-north-1,moved,H100 SXM,8,on_demand,70,CNY,,,,')
    rates('2026-02-01', '8')
    offers('x.db', '2026-02-01', *rows, 'aws-cn,cn-north-1,moved,H100 SXM,8,on_demand,77,CNY,,,,')
    d = changes('x.db', '2026-02-01', '--since', '2026-01-15', '--currency', 'USD')
    expect('a rate alone changes no price', [c['instance_type'] for c in d['changes']], ['moved'])
    c = of(d, 'moved').get('converted') or {}
    expect('in its own currency', (of(d, 'moved').get('change'), of(d, 'moved').get('change_pct')), ('7', 10))
    expect('split', {k: Decimal(c[k]) for k in c if k != 'currency'},
           {'before': Decimal(10), 'after': Decimal('9.625'), 'price_effect': Decimal('0.875'), 'fx_effect': Decimal('-1.25')})
    expect('rates with day and source', [(r['before']['date'][:10], r['after']['date'][:10], r['after']['source_id'])
                                         for r in d['exchange_rates']], [('2026-01-01', '2026-02-01', 'ecb-fx')])
    d = changes('x.db', '2026-02-01', '--since', '2026-01-15', '--currency', 'USD', '--fx', 'CNY=7@2026-01-01')
    expect('one rate for both days', of(d, 'moved')['converted']['fx_effect'], '0')
    expect('unconverted without --currency', of(changes('x.db', '2026-02-01', '--since', '2026-01-15'), 'moved')['converted'],
           None)
    text = run('x.db', '2026-02-01', 'changes', '--since', '2026-01-15', '--currency', 'USD').stdout
    if 'by rate USD' not in text or '1 USD was 7 CNY on 2026-01-01 (ecb-fx), 8 on 2026-02-01' not in text:
        failures.append(f'table with rates: {text}')
    run('x.db', '2026-02-01', 'changes', '--currency', 'XAU', status=2)
    # the same price in another currency is neither a rise nor a fall
    offers('x.db', '2026-03-01', *rows[1:], 'aws-cn,cn-north-1,same,H100 SXM,8,on_demand,87.5,USD,,,,',
           more=['--accept-large-change'])
    d = changes('x.db', '2026-03-01')
    expect('redenominated', (of(d, 'same').get('kind'), of(d, 'same').get('change'), of(d, 'same').get('change_pct')),
           ('redenominated', None, None))


def rates_of_storage_and_transfer():
    store = 'vendor,region,product,tier,component,unit,from_qty,to_qty,usd,source,date\n'
    move = 'vendor,from,to,tier_from_gb,tier_to_gb,usd_per_gb,source,date\n'
    for now, price, egress in (('2026-01-01', '0.023', '0.09'), ('2026-02-01', '0.0253', '0.08')):
        (work / 's.csv').write_text(
            store + f'gcp,us-central1,GCS,Standard,storage,GiB-month,0,,{price},x,{now}\n'
            f'gcp,us-central1,GCS,Nearline,storage,GiB-month,0,,0.01,x,{now}\n')
        (work / 't.csv').write_text(move + f'aws,us-east-1,internet,0,10240,0.09,x,{now}\n'
                                    f'aws,us-east-1,internet,10240,,{egress},x,{now}\n')
        run('r.db', now, 'import', 'auto', work / 's.csv')
        run('r.db', now, 'import', 'auto', work / 't.csv')
    d = changes('r.db', '2026-02-01', '--since', '2026-01-15')
    expect('rates', sorted((c['what'], c['kind'], c['from_qty'], c['change_pct']) for c in d['changes']),
           [('storage', 'rose', '0', 10), ('transfer', 'fell', '10240', -11.11)])
    expect('a tier', of(d, 'gcs_standard').get('component'), 'storage')


def spot_series():
    """Points of spot series are changes that stand in `history`: they are counted, none is passed over in silence."""
    offers('h.db', '2026-01-01', 'aws,us-east-1,mine,H100 SXM,8,on_demand,9,USD,,,,')
    expect('no series', ('spot series' in run('h.db', '2026-01-02', 'changes').stdout,
                         changes('h.db', '2026-01-02')['summary']['spot_points']), (False, 0))
    (work / 'h.json').write_text(json.dumps({'SpotPriceHistory': [
        {'AvailabilityZone': 'us-east-1a', 'InstanceType': 'p4d.24xlarge', 'ProductDescription': 'Linux/UNIX',
         'SpotPrice': str(10 + day), 'Timestamp': f'2026-01-{day:02}T00:00:00Z'} for day in range(1, 29)]}))
    run('h.db', '2026-01-28', 'import', 'aws-spot-history', work / 'h.json')
    for since, points in (('2026-01-18', 10), ('2026-01-27T12:00:00Z', 1), ('2026-01-28', 0)):
        d = changes('h.db', '2026-01-28', '--since', since)
        text = run('h.db', '2026-01-28', 'changes', '--since', since).stdout
        expect(f'series since {since}', (d['summary']['spot_points'], f'{points} points since then' in text, d['changes']), (points, True, []))
    shown = run('h.db', '2026-01-28', 'history', '-i', 'p4d.24xlarge', '-r', 'aws/us-east-1', '--purchase', 'spot', '--format', 'json',
                '--since', '2026-01-18T00:00:01Z')
    expect('and where they stand', sum(p['when'] > '2026-01-18T12' for p in json.loads(shown.stdout)['points']), 10)


def names():
    """What vanished altogether is found by its name; a name that no price has is refused, with the nearest."""
    last = 'aws,eu-west-9,last,H200 SXM,8,on_demand,10,USD,,,,'
    offers('n.db', '2026-01-01', last, 'aws,us-east-1,up,H100 SXM,8,on_demand,10,USD,,,,')
    offers('n.db', '2026-02-01', 'aws,us-east-1,up,H100 SXM,8,on_demand,11,USD,,,,', more=['--accept-large-change'])
    for args in (['--gpu', 'H200'], ['--region', 'eu-west-9'], ['--region', 'aws/eu-west-9']):
        expect(f'{args}', [(c['instance_type'], c['kind']) for c in changes('n.db', '2026-02-01', *args)['changes']], [('last', 'vanished')])
    for args, near in ((['--region', 'us-eest-1'], 'us-east-1'), (['--region', 'azure/us-east-1'], 'us-east-1'), (['--gpu', 'A10-80GB'], 'A100')):
        p = run('n.db', '2026-02-01', 'changes', *args, status=2)
        expect(f'{args} is refused', (p.stdout, near in p.stderr, args[1] in p.stderr), ('', True, True))
    expect('no change of a region that is', changes('n.db', '2026-02-01', '--region', 'us-east-1', '--gpu', 'A100')['changes'], [])


kinds()
names()
f113_flaky_rows()
f089_fx_is_no_price_change()
rates_of_storage_and_transfer()
spot_series()
for f in failures:
    print('FAIL', f)
sys.exit(1 if failures else 0)
