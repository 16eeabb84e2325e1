"""Former prices: closed rows of offers.csv for `history` and `--as-of`, and since when today's hold.

AWS us-east-1 on demand (the four accelerator types whose price changed since 2022) and Google's GPU
machines in the main regions, on demand and spot, since their first recording.
"""
from datetime import datetime, timezone
from decimal import Decimal

from snap_common import decimal_text, is_zero
from snap_import import day

GCP_REGIONS = {'us-central1', 'us-east4', 'us-west1', 'europe-west4', 'asia-southeast1'}
SAME = Decimal('0.000001')  # two files of one origin round differently


def utc_day(stamp):
    return datetime.fromisoformat(stamp).astimezone(timezone.utc).date().isoformat()


def steps(points):
    """[(day, price)] -> the days on which the price became another one; the last of a day counts."""
    out = []
    for day, price in points:
        if out and out[-1][0] == day:
            out.pop()
        if out and out[-1][1] and price and abs(Decimal(price) / Decimal(out[-1][1]) - 1) < SAME:
            continue
        if not out or out[-1][1] != price:
            out.append((day, price))
    return out


def close(offers, past, key, points, source):
    """Rows for every former price; today's row gets its start when its price is the last recorded."""
    now = offers.rows.get(key)
    if not now or now['price_state'] != 'known':
        return
    line = steps(points)
    last_day, last_price = line[-1]
    if last_price and abs(Decimal(last_price) / Decimal(now['price_per_hour']) - 1) < SAME:
        if last_day <= now['as_of']:
            now['valid_from'] = last_day
    ends = [d for d, _ in line[1:]] + [now['valid_from']]
    for (day, price), end in zip(line, ends):
        if price and day < end <= now['valid_from']:
            past.append(dict(now, price_per_hour=price, as_of=day, valid_from=day, valid_to=end,
                             source=source, note=''))


def aws(offers, past):
    key, series = 'karpenter-aws-2026-07-20', {}
    for r in offers.imported(key, 'prices-csv', ['catalog/aws-ondemand-history-us-east-1.csv.gz'], 'aws'):
        series.setdefault(r['instance_type'], []).append((day(r['valid_from']), r['price']))
    for itype, points in sorted(series.items()):
        if len(points) > 1:
            close(offers, past, ('aws', 'us-east-1', '', itype, 'on_demand', '', ''), sorted(points), key)


def gcp(offers, past):
    series = {}
    for r in offers.facts.rows('catalog/gcp-gpu-price-history-gcosts.csv.gz'):
        if r['region'] in GCP_REGIONS:
            series.setdefault((r['instance_type'], r['region']), []).append(r)
    for (itype, region), rows in sorted(series.items()):
        rows.sort(key=lambda r: datetime.fromisoformat(r['observed_at']))
        for purchase, column in (('on_demand', 'usd_per_hour'), ('spot', 'spot_usd_per_hour')):
            points = [(utc_day(r['observed_at']), '' if is_zero(r[column]) else decimal_text(r[column]))
                      for r in rows]
            while points and not points[0][1]:
                points.pop(0)
            if points:
                close(offers, past, ('gcp', region, '', itype, purchase, '', ''), points,
                      'gcosts-gcp-2026-07-30')


def former(offers):
    past = []
    aws(offers, past)
    gcp(offers, past)
    return past
