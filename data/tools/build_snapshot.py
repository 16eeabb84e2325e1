#!/usr/bin/env python3
"""Builds data/snapshot/*.csv and data/traces/*.csv from the research facts.

usage: build_snapshot.py [--facts DIR] [--out DIR] [--gputier PROGRAM]

DIR defaults to ../shared beside the repository and to data/, PROGRAM to the one built there: what an importer
reads is imported (snap_import.py). Python 3 standard library only; the same facts give the same bytes. data/README.md explains the rules, check_snapshot.py checks the result.
"""
import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import snap_facts  # noqa: E402
import snap_history  # noqa: E402
import snap_small  # noqa: E402
import snap_storage  # noqa: E402
import snap_storage_rules  # noqa: E402
from snap_common import Facts, Sources, write_csv  # noqa: E402
from snap_gpus import Gpus  # noqa: E402
from snap_import import Imports  # noqa: E402
from snap_offers import OFFER_COLUMNS, TYPE_COLUMNS, Offers  # noqa: E402
from snap_sources import declare  # noqa: E402

GPU_COLUMNS = ['model', 'maker', 'arch', 'form', 'compute_capability', 'launch_year', 'fp64_tflops',
               'fp32_tflops', 'tf32_tflops', 'fp16_tflops', 'bf16_tflops', 'fp8_tflops', 'int8_tops',
               'mem_gb', 'bandwidth_gbs', 'l2_mb', 'nvlink_gbs', 'pcie', 'tdp_w', 'mig_slices', 'note',
               'source']


def build_offers(facts, sources, gpus, imports):
    o = Offers(facts, sources, gpus, imports)
    o.aws()
    o.azure()
    o.gcp()
    snap_small.lambda_cloud(o)
    snap_small.vast(o)
    snap_small.nebius(o)
    snap_small.oci(o)
    snap_small.hyperbolic_and_runpod(o)
    snap_small.china(o)
    o.aws_commitments()
    return o


def offer_order(row):
    return [row[c] for c in ('vendor', 'region', 'zone', 'instance_type', 'purchase', 'payment',
                             'offering_class', 'valid_from', 'source')]


def regions_of(offers):
    out = {}
    for key in offers.rows:
        out.setdefault(key[0], set()).add(key[1])
    return {v: sorted(r) for v, r in out.items()}


def main():
    here = Path(__file__).resolve().parents[2]
    ap = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ap.add_argument('--facts', default=here.parent / 'shared')
    ap.add_argument('--out', default=here / 'data')
    ap.add_argument('--gputier', default=os.environ.get('GPUTIER', here / 'gputier'))
    args = ap.parse_args()
    if not (Path(args.facts) / 'catalog').is_dir():
        print(f'{args.facts}: no research facts there; the snapshot in the repository is kept', file=sys.stderr)
        return 1
    facts, sources = Facts(args.facts), Sources()
    declare(sources)
    gpus, imports = Gpus(facts, sources), Imports(facts, args.gputier)
    offers = build_offers(facts, sources, gpus, imports)
    regions = regions_of(offers)
    past = snap_history.former(offers)

    st = snap_storage.Storage(facts, sources)
    st.load(imports, regions['oci'], regions['gcp'])
    snap_storage_rules.china(st, [r for r in regions['alibaba'] if r.startswith('cn-') and r != 'cn-hongkong'])
    snap_storage_rules.add_rules(st)
    tr = snap_facts.Transfer(facts, sources)
    tr.load(regions)

    out = Path(args.out)
    snap = out / 'snapshot'
    snap.mkdir(parents=True, exist_ok=True)
    used = {(k[0], k[3]) for k in offers.rows}
    types = [t for k, t in sorted(offers.types.items()) if k in used]
    gpu_types = {t['instance_type'] for t in types if t['vendor'] == 'aws' and t['gpu_num'] != '0'}
    sources.use('spot-traces-2024-03-31')
    sources.cite(list(offers.rows.values()) + offers.second)
    tables = [
        ('offers', OFFER_COLUMNS, sorted(list(offers.rows.values()) + offers.second + past, key=offer_order)),
        ('instance_types', TYPE_COLUMNS, types),
        ('storage_rates', snap_storage.COLUMNS, st.table()),
        ('transfer_rates', snap_facts.TRANSFER_COLUMNS, tr.table()),
        ('interruption', ['vendor', 'region', 'instance_type', 'band_lo_pct', 'band_hi_pct', 'savings_pct',
                          'as_of', 'source'], snap_facts.interruption(imports, sources, gpu_types)),
        ('gpu_models', GPU_COLUMNS, gpus.models()),
        ('gpu_aliases', ['vendor', 'alias', 'model', 'memory_gib'], gpus.aliases()),
        ('models', snap_facts.MODEL_COLUMNS, snap_facts.models(facts)),
        ('allowances', ['vendor', 'product', 'rule', 'value', 'unit', 'valid_from', 'source', 'confidence'],
         snap_facts.allowances(facts)),
        ('fx', ['currency', 'per_usd', 'date', 'source'], snap_facts.fx(sources)),
        ('traces', ['name', 'vendor', 'region', 'zone', 'instance_type', 'gap_s', 'nodes_probed', 'path'],
         snap_facts.traces(facts, out / 'traces')),
    ]
    tables.append(('sources', ['source', 'name', 'url', 'licence', 'as_of'], sources.table()))
    for name, columns, rows in tables:
        write_csv(snap / f'{name}.csv', columns, rows)
        print(f'{name:16} {len(rows):6} rows {(snap / (name + ".csv")).stat().st_size:9} bytes')
    for why, n in sorted(offers.skipped.items()):
        print(f'left out {n:5}  {why}', file=sys.stderr)
    return 0


if __name__ == '__main__':
    sys.exit(main())
