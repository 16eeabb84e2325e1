#!/usr/bin/env python3
"""The validator against documents that it must accept and refuse, and every schema of data/schema/
against a right document and against each way to spoil it: a missing key, a wrong type, a wrong name."""
import copy
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import json_schema  # noqa: E402

failures = []


def expect(ok, what):
    if not ok:
        failures.append(what)


def accepts(schema, value):
    expect(json_schema.validate(value, schema) == [], f'{schema} refuses {value!r}')


def refuses(schema, value, word=''):
    errors = json_schema.validate(value, schema)
    expect(errors and word in errors[0], f'{schema} on {value!r} gives {errors}')


def validator():
    accepts({'type': 'integer'}, 3)
    refuses({'type': 'integer'}, True, 'boolean')
    refuses({'type': 'integer'}, 3.5, 'number')
    accepts({'type': 'number'}, 3)
    accepts({'type': ['string', 'null']}, None)
    refuses({'type': 'string'}, None, 'null')
    refuses({'enum': [1]}, True)
    accepts({'enum': [None, 'a']}, None)
    refuses({'type': 'object', 'required': ['a']}, {}, 'no key "a"')
    accepts({'type': 'object', 'required': ['a']}, {'a': None})
    refuses({'properties': {'a': {}}, 'additionalProperties': False}, {'b': 1}, 'key "b"')
    refuses({'additionalProperties': {'type': 'string'}}, {'b': 1}, '$.b')
    refuses({'items': {'type': 'string'}}, ['x', 2], '$[1]')
    accepts({'anyOf': [{'type': 'string'}, {'type': 'null'}]}, None)
    refuses({'anyOf': [{'type': 'string'}, {'type': 'null'}]}, 1)
    accepts({'minimum': 3}, 3)
    refuses({'minimum': 3}, 2.5, '3 or more')
    accepts({'minimum': 3}, None)
    accepts({'pattern': '^a+$'}, 'aa')
    refuses({'pattern': '^a+$'}, 'ab')
    accepts({'pattern': '^a+$'}, 7)
    root = {'$ref': '#/$defs/t', '$defs': {'t': {'type': 'integer'}}}
    accepts(root, 1)
    refuses(root, 'x')
    for wrong in ({'$ref': '#/$defs/none'}, {'maximum': 3}, {'type': 'float'}):
        try:
            json_schema.validate(1, wrong)
            failures.append(f'{wrong} is taken for a schema')
        except json_schema.SchemaError:
            pass


OFFER = {
    'vendor': 'azure', 'region': 'eastus', 'zone': None, 'instance_type': 'Standard_NV6ads_A10_v5', 'gpu': 'A10',
    'gpu_form': None, 'gpu_count': '1/6', 'gpu_memory_gib': 4, 'vcpus': 6, 'memory_gib': 55,
    'local_nvme_gb': None, 'network_gbps': 5, 'purchase': 'on_demand', 'payment': None, 'price_state': 'known',
    'price_per_hour': '0.454', 'price_per_gpu_hour': '2.724', 'currency': 'USD', 'source_id': 'azure-retail',
    'sku': None, 'as_of': '2026-06-18', 'fetched_at': '2026-06-18T10:00:00Z', 'origin': 'bundled'}
GOOD = {
    'prices': {'schema': 'gputier/prices/1', 'as_of': '2026-12-01T00:00:00Z', 'offers': [OFFER]},
    'prices-check': {'schema': 'gputier/prices-check/1', 'findings': [
        {'kind': 'spot_above_on_demand', 'severity': 'warning', 'text': 'spot above on demand', 'rows': [{}]}]},
    'tier': {'schema': 'gputier/tier/1', 'groups': [
        {'group': 'logs/', 'objects': 10, 'bytes': 5368709120, 'path': [
            {'tier': 's3_standard', 'from_month': 0, 'to_month': 1},
            {'tier': 's3_deep_archive', 'from_month': 1, 'to_month': 36}], 'cost': '0.31', 'baseline_cost': '4.14',
         'saving': '3.83', 'break_even_month': 2}], 'total': '0.31', 'baseline': '4.14', 'saving': '3.83',
             'lower_bound': '0.31', 'policy': {'rules': [
                 {'prefix': 'logs/', 'to_tier': 's3_deep_archive', 'days': 0, 'min_bytes': 131072, 'max_bytes': 0,
                  'noncurrent': False}], 'cost': '0.31', 'gap': '0'},
             'first_steps': ['put the rule on the bucket']},
    'savings': {'schema': 'gputier/savings/1', 'as_of': '2026-12-01T00:00:00Z', 'currency': 'USD', 'horizon_months': 36, 'savings': [
        {'kind': 'unattached_volumes', 'place': 'vol-1', 'vendor': 'aws', 'region': 'us-east-1', 'tier': 'ebs_gp3', 'objects': 1,
         'bytes': 1073741824, 'month_now': '0.08', 'month_then': '0', 'one_off': '0', 'saving': '2.88', 'break_even_month': 0,
         'upper_bound': False, 'do_it': True, 'how': 'delete it', 'note': None}], 'month': '0.08', 'saving': '2.88',
                'at_least': False, 'at_most': False, 'notes': []},
    'inventory': {'schema': 'gputier/inventory/1', 'as_of': '2026-12-01T00:00:00Z', 'depth': 2, 'rows': [
        {'prefix': 'logs/', 'storage_class': 'STANDARD', 'is_latest': True, 'size_lo': 131072, 'age_lo_days': 30,
         'idle_lo_days': 0, 'objects': 3, 'bytes': 600000, 'bytes_min128k': 600000}],
                  'skipped_delete_markers': 1, 'bad_rows': 0},
    'verify': {'schema': 'gputier/verify/1', 'cases': [
        {'id': 'S-01', 'computed': {'total': '1'}, 'expected': None, 'ok': None, 'reason': None}], 'summary': {}},
    'bench': {'schema': 'gputier/bench/1', 'device': {'name': 'x', 'class': 'gpu', 'backend': 'cuda', 'driver': '1'},
              'results': [{'metric': 'copy', 'value': 1.5, 'unit': 'GB/s', 'median': 1.5, 'min': 1.4, 'p95': 1.6,
                           'spread': 0.01, 'checked': True}]},
    'bench-history': {'schema': 'gputier/bench-history/1', 'runs': [
        {'run': 1, 'measured_at': None, 'device': 'x', 'backend': 'cuda', 'class': 'gpu', 'origin': None, 'medians': {}}],
        'drift': [{'run': 1, 'device': 'x', 'metric': 'copy', 'unit': 'GB/s', 'latest': 1.5, 'median_before': 1.7,
                   'runs_before': 2, 'change': -0.1, 'spread': 0.03}]},
    'sources': {'schema': 'gputier/sources/1', 'sources': [
        {'source_id': 'aws-offer', 'rows': 3, 'as_of': '2026-11-30', 'fetched_at': None, 'bytes': None,
         'state': 'bundled', 'why': None, 'needs_key': False}]},
    'error': {'schema': 'gputier/error/1', 'error': {'code': 'usage', 'message': 'unknown option', 'where': None}},
}
SPOILT = [  # schema, path, value that must be refused
    ('prices', ('offers', 0, 'price_per_hour'), 0.454), ('prices', ('offers', 0, 'price_per_hour'), '4.540'),
    ('prices', ('offers', 0, 'price_per_hour'), '4e-1'), ('prices', ('offers', 0, 'purchase'), 'reserved'),
    ('prices', ('offers', 0, 'gpu_count'), 0.1667), ('prices', ('offers', 0, 'vendor'), 'aliyun'),
    ('prices', ('offers', 0, 'price_state'), 'unknown'), ('prices', ('offers', 0, 'currency'), 'usd'),
    ('prices', ('offers', 0, 'fetched_at'), '2026-06-18 10:00'), ('prices', ('offers', 0, 'origin'), None),
    ('prices-check', ('findings', 0, 'severity'), 'fatal'), ('tier', ('total',), 0.31),
    ('tier', ('groups', 0, 'break_even_month'), 1.5), ('tier', ('groups', 0, 'path', 0, 'from_month'), '0'),
    ('inventory', ('rows', 0, 'size_lo'), 100), ('inventory', ('as_of',), '2026-12-01'),
    ('verify', ('cases', 0, 'ok'), 'yes'), ('bench', ('device', 'class'), 'cpu'),
    ('sources', ('sources', 0, 'state'), 'ok'), ('error', ('error', 'code'), 'E42'),
    ('error', ('error', 'extra'), 1), ('prices', ('schema',), 'gputier/prices/2')]


def each_key(value, path=()):
    """Every key of every object in a document, as a path."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield path + (k,)
            yield from each_key(v, path + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from each_key(v, path + (i,))


def holder(doc, path):
    for step in path[:-1]:
        doc = doc[step]
    return doc


FREE = {('prices-check', 'rows'), ('tier', 'prefix'), ('verify', 'total')}  # objects whose keys are open


def schemas():
    names = {p.stem for p in json_schema.FOLDER.glob('*.json')} - {'plan'}
    expect(names >= set(GOOD), f'schemas missing: {set(GOOD) - names}')
    for name, doc in GOOD.items():
        schema = json_schema.load(name)
        expect(json_schema.validate(doc, schema) == [], f'{name}: {json_schema.validate(doc, schema)}')
        for path in each_key(doc):
            if (name, path[-1]) in FREE:
                continue
            less = copy.deepcopy(doc)
            del holder(less, path)[path[-1]]
            expect(json_schema.validate(less, schema), f'{name}: accepted without {path}')
    for name, path, value in SPOILT:
        doc = copy.deepcopy(GOOD[name])
        holder(doc, path)[path[-1]] = value
        expect(json_schema.validate(doc, json_schema.load(name)), f'{name}: accepts {path} = {value!r}')


def well_formed():
    """Schemas of other rooms too: readable, with the name of their file."""
    for path in sorted(json_schema.FOLDER.glob('*.json')):
        doc = json.loads(path.read_text(encoding='utf-8'))
        expect(doc.get('properties', {}).get('schema', {}).get('enum') == [f'gputier/{path.stem}/1'] or
               'const' in doc.get('properties', {}).get('schema', {}), f'{path.name}: schema is not its own name')


validator()
schemas()
well_formed()
for text in failures:
    print(text)
sys.exit(1 if failures else 0)
