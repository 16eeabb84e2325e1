"""A small JSON Schema validator for tests: the part of the language that data/schema/ uses.

Keywords: type, properties, required, additionalProperties, enum, items, anyOf, pattern, minimum, and $ref to
#/$defs/NAME. Any other keyword is refused, so that a schema cannot ask for more than is checked.

    errors = json_schema.validate(document, json_schema.load('prices'))

The list is empty when the document is valid; each entry is "PATH: found …, allowed: …".
"""
import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / 'data' / 'schema'
TEXTS = {'$schema', '$id', 'title', 'description', '$defs'}
KEYWORDS = {'type', 'properties', 'required', 'additionalProperties', 'enum', 'items', 'anyOf', 'pattern', 'minimum', '$ref'}


class SchemaError(Exception):
    """The schema itself is wrong."""


def load(name, folder=FOLDER):
    with open(Path(folder) / f'{name}.json', encoding='utf-8') as f:
        return json.load(f)


def type_of(value):
    """JSON's name of a type; 1.0 counts as a number only, True is no integer."""
    if value is None:
        return 'null'
    for kind, name in ((bool, 'boolean'), (int, 'integer'), (float, 'number'), (str, 'string'), (list, 'array'),
                       (dict, 'object')):
        if isinstance(value, kind):
            return name
    raise SchemaError(f'no JSON value: {value!r}')


def same(a, b):
    """JSON equality: true is not 1."""
    return type_of(a) == type_of(b) and a == b or (
        {type_of(a), type_of(b)} == {'integer', 'number'} and a == b)


def resolve(schema, root):
    name = schema['$ref']
    m = re.fullmatch(r'#/\$defs/([A-Za-z0-9_]+)', name)
    if not m or m[1] not in root.get('$defs', {}):
        raise SchemaError(f'$ref {name} leads nowhere')
    return root['$defs'][m[1]]


def brief(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + '...'


def check_type(value, allowed, path):
    allowed = [allowed] if isinstance(allowed, str) else allowed
    for name in allowed:
        if name not in ('null', 'boolean', 'integer', 'number', 'string', 'array', 'object'):
            raise SchemaError(f'unknown type {name}')
    found = type_of(value)
    if found in allowed or found == 'integer' and 'number' in allowed:
        return []
    return [f"{path}: found {found} {brief(value)}, allowed: {' or '.join(allowed)}"]


def check_object(value, schema, root, path):
    errors = [f'{path}: found no key "{k}", allowed: present, null when unknown'
              for k in schema.get('required', []) if k not in value]
    known = schema.get('properties', {})
    for key, item in value.items():
        if key in known:
            errors += walk(item, known[key], root, f'{path}.{key}')
        elif schema.get('additionalProperties', True) is False:
            errors.append(f"{path}: found key \"{key}\", allowed: {', '.join(known)}")
        elif isinstance(schema.get('additionalProperties'), dict):
            errors += walk(item, schema['additionalProperties'], root, f'{path}.{key}')
    return errors


def walk(value, schema, root, path):
    unknown = set(schema) - KEYWORDS - TEXTS
    if unknown:
        raise SchemaError(f'{path}: keyword {sorted(unknown)[0]} is not supported')
    if '$ref' in schema:
        return walk(value, resolve(schema, root), root, path)
    errors = check_type(value, schema['type'], path) if 'type' in schema else []
    if 'enum' in schema and not any(same(value, e) for e in schema['enum']):
        errors.append(f"{path}: found {brief(value)}, allowed: {', '.join(brief(e) for e in schema['enum'])}")
    if 'pattern' in schema and isinstance(value, str) and not re.search(schema['pattern'], value):
        errors.append(f"{path}: found {brief(value)}, allowed: {schema['pattern']}")
    if 'minimum' in schema and type_of(value) in ('integer', 'number') and value < schema['minimum']:
        errors.append(f"{path}: found {brief(value)}, allowed: {schema['minimum']} or more")
    if 'anyOf' in schema:
        tries = [walk(value, s, root, path) for s in schema['anyOf']]
        if all(tries):
            errors += min(tries, key=len)
    if isinstance(value, dict):
        errors += check_object(value, schema, root, path)
    if isinstance(value, list) and 'items' in schema:
        for i, item in enumerate(value):
            errors += walk(item, schema['items'], root, f'{path}[{i}]')
    return errors


def validate(value, schema):
    return walk(value, schema, schema, '$')
