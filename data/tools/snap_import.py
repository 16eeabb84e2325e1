"""What the program's own importers make of a recorded file: `gputier import` into a database of its own.

Each call imports files as one list with the clock at the day of the recording, without bundled data,
and reads the rows back. So the snapshot says what `gputier import` says, fault for fault.
"""
import os
import sqlite3
import subprocess
import tempfile
from datetime import datetime, timezone
from fractions import Fraction
from pathlib import Path

OFFERS = """
SELECT p.vendor, p.region, p.zone, t.name AS instance_type, coalesce(t.gpu, '') AS gpu, t.gpu_num, t.gpu_den,
  t.gpu_memory_gib, t.vcpus, t.memory_gib, t.local_nvme_gb, u.name AS purchase, o.price_state,
  coalesce(o.price, '') AS price, o.currency, coalesce(o.note, '') AS note, o.valid_from, o.valid_to, o.as_of
FROM offer o JOIN place p ON p.id = o.place JOIN instance_type t ON t.id = o.instance_type
  JOIN purchase_option u ON u.id = o.purchase
WHERE o.known_to IS NULL
ORDER BY p.vendor, p.region, p.zone, t.name, u.id, o.valid_from"""
BANDS = """
SELECT p.region, t.name AS instance_type, i.band_lo_pct, i.band_hi_pct, i.savings_pct
FROM interruption i JOIN place p ON p.id = i.place JOIN instance_type t ON t.id = i.instance_type
WHERE i.known_to IS NULL ORDER BY p.region, t.name"""
POINTS = """
SELECT p.region, p.zone, t.name AS instance_type, s.time, s.price
FROM spot_point s JOIN place p ON p.id = s.place JOIN instance_type t ON t.id = s.instance_type
WHERE s.price IS NOT NULL ORDER BY t.name, p.zone, s.time"""

RATES = """
SELECT p.vendor, p.region, r.tier, r.component, r.unit, r.unit_qty, r.from_qty, coalesce(r.to_qty, '') AS to_qty,
  r.rate, r.currency, r.as_of, coalesce(r.note, '') AS note
FROM storage_rate r JOIN place p ON p.id = r.place
WHERE r.known_to IS NULL AND r.valid_to IS NULL
ORDER BY p.vendor, p.region, r.tier, r.component, CAST(r.from_qty AS REAL)"""
TRANSFER = """
SELECT p.vendor, p.region, r.destination, r.from_gb, coalesce(r.to_gb, '') AS to_gb, r.gb_bytes, r.rate, r.currency,
  r.as_of
FROM transfer_rate r JOIN place p ON p.id = r.place
WHERE r.known_to IS NULL AND r.valid_to IS NULL
ORDER BY p.vendor, p.region, r.destination, CAST(r.from_gb AS REAL)"""


def day(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).date().isoformat()


def figure(value):
    """A number as the store has it, without digits that a binary fraction adds; '' for none."""
    return '' if value is None else f'{value:.6g}'


class Imports:
    def __init__(self, facts, program):
        self.facts, self.program = facts, Path(program)

    def rows(self, query, kind, files, date, vendor=''):
        """The rows that an import of files (below the facts) gives, as recorded on a day."""
        with tempfile.TemporaryDirectory() as home:
            (Path(home) / 'data' / 'snapshot').mkdir(parents=True)
            env = dict(os.environ, GPUTIER_DB=f'{home}/prices.db', GPUTIER_DATA=f'{home}/data', HOME=home,
                       XDG_CONFIG_HOME=home, XDG_CACHE_HOME=home, GPUTIER_NOW=f'{date}T00:00:00Z')
            args = [self.program, 'import', '--quiet', kind, *(['--vendor', vendor] if vendor else []),
                    *(self.facts.path(f) for f in files)]
            p = subprocess.run(args, env=env, capture_output=True, text=True, check=False)
            if p.returncode != 0:
                raise RuntimeError(f"{' '.join(map(str, args))}: exit status {p.returncode}\n{p.stderr}")
            db = sqlite3.connect(f'file:{home}/prices.db?mode=ro', uri=True)
            db.row_factory = sqlite3.Row
            out = [dict(r) for r in db.execute(query)]
            db.close()
        return out

    def offers(self, kind, files, date, vendor=''):
        out = self.rows(OFFERS, kind, files, date, vendor)
        for r in out:
            r['count'] = Fraction(r['gpu_num'], r['gpu_den'])
            r['price'] = r['price'] if r['price_state'] == 0 else ''
            for column in ('gpu_memory_gib', 'vcpus', 'memory_gib', 'local_nvme_gb'):
                r[column] = figure(r[column])
        return out

    def bands(self, files, date):
        return self.rows(BANDS, 'aws-spot-advisor', files, date)

    def storage(self, kind, files, date):
        return self.rows(RATES, kind, files, date)

    def transfer(self, kind, files, date):
        return self.rows(TRANSFER, kind, files, date)

    def points(self, files, date):
        return self.rows(POINTS, 'aws-spot-history', files, date)
