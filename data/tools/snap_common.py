"""Helpers of build_snapshot.py: reading the research facts, dates, decimals, sources, writing CSV.

Every fact keeps the digits its source printed; only exponents are written out. A date that the
source gives as a month, a year or a range becomes its first day, so a price is never presented as
newer than it is known to be.
"""
import csv
import gzip
import re
from decimal import Decimal
from pathlib import Path

MONEY_PLACES = 12


class Facts:
    """Opens files of the research folder by name, gzip or plain."""

    def __init__(self, root):
        self.root = Path(root)

    def path(self, rel):
        return self.root / rel

    def rows(self, rel):
        path = self.path(rel)
        opener = gzip.open if path.suffix == '.gz' else open
        with opener(path, 'rt', encoding='utf-8', newline='') as f:
            yield from csv.DictReader(f)


def decimal_text(text):
    """The number as plain decimal digits, '' for an empty field. Digits are kept as printed."""
    text = (text or '').strip()
    if text == '':
        return ''
    if re.fullmatch(r'\d+(\.\d+)?', text):
        frac = text.partition('.')[2]
        if len(frac) <= MONEY_PLACES:
            return text
    value = round(Decimal(text), MONEY_PLACES)
    out = format(value, 'f')
    if '.' in out:
        out = out.rstrip('0').rstrip('.')
    return out


def short(value):
    """A Decimal or number as text without trailing zeros."""
    return decimal_text(format(Decimal(str(value)).normalize(), 'f'))


def per_month(monthly):
    """A monthly price over 730 h, rounded to what money can hold."""
    return decimal_text(str(round(Decimal(monthly) / 730, MONEY_PLACES)))


def is_zero(text):
    return text == '' or Decimal(text) == 0


def iso_date(text, default=''):
    """First day of whatever the source said: 2024-09 -> 2024-09-01, 'about 2019-2020' -> 2019-01-01."""
    text = (text or '').strip()
    m = re.search(r'(\d{4})-(\d{2})-(\d{2})', text)
    if m:
        return m.group(0)
    m = re.search(r'(20\d\d)-(0[1-9]|1[0-2])(?!\d)', text)
    if m:
        return m.group(0) + '-01'
    m = re.search(r'(20\d\d)', text)
    return m.group(1) + '-01-01' if m else default


def write_csv(path, columns, rows):
    with open(path, 'w', encoding='utf-8', newline='') as f:
        w = csv.writer(f, lineterminator='\n')
        w.writerow(columns)
        for row in rows:
            w.writerow([row.get(c, '') for c in columns])


def slug(text):
    """Repository and file of 'owner/repo path/file @commit', else the first words."""
    words = text.split()
    parts = [words[0].split('/')[1]] if '/' in words[0] else words[:3]
    if '/' in words[0] and len(words) > 1 and '/' in words[1]:
        parts.append(words[1].rsplit('/', 1)[-1].split('.')[0].replace('_test', ''))
    return re.sub(r'[^a-z0-9]+', '-', '-'.join(parts).lower()).strip('-')[:40].strip('-')


def no_signal(spot, on_demand):
    """Catalogues fill an unknown spot price with the on-demand price, sometimes rounded."""
    return on_demand != '' and abs(Decimal(spot) - Decimal(on_demand)) <= Decimal(on_demand) / 10000


class Sources:
    """The register behind sources.csv; asking for a key that was not declared is a mistake."""

    def __init__(self):
        self.rows = {}
        self.used = set()

    def add(self, key, name, url, licence, as_of):
        self.rows[key] = {'source': key, 'name': name, 'url': url, 'licence': licence,
                          'as_of': as_of}

    def use(self, key):
        if key not in self.rows:
            raise KeyError(f'source {key} is not declared')
        self.used.add(key)
        return key

    def as_of(self, key):
        return self.rows[key]['as_of']

    def text_key(self, prefix, text, licence, date):
        """Key for a source that the facts name in words: one register row per distinct text."""
        for key, row in self.rows.items():
            if row['url'] == text and key.startswith(prefix + '-'):
                return key
        stem = f'{prefix}-{slug(text)}-{date}'
        key, n = stem, 2
        while key in self.rows:
            key, n = f'{stem}.{n}', n + 1
        self.add(key, re.split(r'[ @]', text)[0], text, licence, date)
        return key

    def cite(self, rows):
        """Marks the sources of rows, and those that a note names beside the chosen one."""
        for row in rows:
            self.use(row['source'])
            for word in re.findall(r'[a-z0-9.-]+', row.get('note', '')):
                if word in self.rows:
                    self.use(word)

    def table(self):
        return [self.rows[k] for k in sorted(self.used)]
