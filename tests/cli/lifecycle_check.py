"""Validators of lifecycle files of S3, EFS, Cloud Storage and Azure for tests, written from the published rules (R-LC-01
and R-LC-04 to 06 of the project's storage rules; S3: codes L01 to L22), apart from the program's own. Returns the codes that are violated."""

CLASSES = ['STANDARD', 'STANDARD_IA', 'INTELLIGENT_TIERING', 'ONEZONE_IA', 'GLACIER_IR', 'GLACIER', 'DEEP_ARCHIVE']
BELOW = {'STANDARD': set(CLASSES[1:]), 'STANDARD_IA': set(CLASSES[2:]), 'INTELLIGENT_TIERING': set(CLASSES[3:]),
         'ONEZONE_IA': {'GLACIER', 'DEEP_ARCHIVE'}, 'GLACIER_IR': {'GLACIER', 'DEEP_ARCHIVE'},
         'GLACIER': {'DEEP_ARCHIVE'}, 'DEEP_ARCHIVE': set()}
INFREQUENT = {'STANDARD_IA', 'ONEZONE_IA'}
LARGEST = 10000 * 5 * 2 ** 30
ACTIONS = {'Transitions', 'Expiration', 'NoncurrentVersionTransitions', 'NoncurrentVersionExpiration',
           'AbortIncompleteMultipartUpload'}
CRITERIA = {'Prefix', 'Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan'}


def filter_codes(rule):
    found = set()
    if ('Filter' in rule) == ('Prefix' in rule):
        found.add('L06' if 'Filter' in rule else 'L07')
    f = rule.get('Filter', {})
    outside, inside = set(f) & CRITERIA, f.get('And', {})
    if len(outside) > 1 or ('And' in f and outside) or set(f) - CRITERIA - {'And'}:
        found.add('L08')
    both = dict(f, **inside)
    low, high = both.get('ObjectSizeGreaterThan'), both.get('ObjectSizeLessThan')
    if any(v is not None and not 0 <= v <= LARGEST for v in (low, high)) or None not in (low, high) and low >= high:
        found.add('L09')
    tagged = 'Tag' in both or 'Tags' in inside
    if tagged and ('AbortIncompleteMultipartUpload' in rule or 'ExpiredObjectDeleteMarker' in rule.get('Expiration', {})):
        found.add('L10')
    return found


def noncurrent(rule):
    """Transitions of old versions as if they were of current objects."""
    return [dict({k: v for k, v in t.items() if k != 'NoncurrentDays'}, **({'Days': t['NoncurrentDays']} if 'NoncurrentDays' in t else {}))
            for t in rule.get('NoncurrentVersionTransitions', [])]


def transition_codes(moves, expiration=None):
    found = set()
    for t in moves:
        if ('Days' in t) == ('Date' in t):
            found.add('L12')
        if t.get('StorageClass') not in CLASSES[1:]:
            found.add('L13')
        if t.get('StorageClass') == 'STANDARD':
            found.add('L18')
        if t.get('StorageClass') in INFREQUENT and t.get('Days', 30) < 30:
            found.add('L14')
    kinds = {k for t in moves + ([expiration] if expiration else []) for k in ('Days', 'Date') if k in t}
    if len(kinds) > 1:
        found.add('L15')
    names = [t.get('StorageClass') for t in moves]
    if len(set(names)) < len(names):
        found.add('L16')
    days = [t['Days'] for t in moves if 'Days' in t]
    if len(set(days)) < len(days):
        found.add('L17')
    order = sorted((t for t in moves if 'Days' in t), key=lambda t: t['Days'])
    at = 'STANDARD'
    for i, t in enumerate(order):
        if t['StorageClass'] not in BELOW.get(at, set()) and t['StorageClass'] in CLASSES:
            found.add('L18')
        if i and order[i - 1]['StorageClass'] in INFREQUENT and t['Days'] - order[i - 1]['Days'] < 30:
            found.add('L19')
        at = t['StorageClass']
    if expiration:
        if len({'Days', 'Date', 'ExpiredObjectDeleteMarker'} & set(expiration)) != 1:
            found.add('L22')
        if expiration.get('Days', 1) < 1:
            found.add('L20')
        if 'Days' in expiration and days and expiration['Days'] <= max(days):
            found.add('L21')
    return found


def s3(document):
    """Codes that an S3 LifecycleConfiguration violates, sorted."""
    rules = document.get('Rules', [])
    found = set()
    if len(rules) > 1000:
        found.add('L01')
    if not rules:
        found.add('L02')
    ids = [r['ID'] for r in rules if 'ID' in r]
    if len(set(ids)) < len(ids):
        found.add('L03')
    for rule in rules:
        if len(rule.get('ID', '')) > 255:
            found.add('L04')
        if rule.get('Status') not in ('Enabled', 'Disabled'):
            found.add('L05')
        if not ACTIONS & set(rule):
            found.add('L11')
        found |= filter_codes(rule) | transition_codes(rule.get('Transitions', []), rule.get('Expiration'))
        found |= transition_codes(noncurrent(rule))
        if any(t.get('NoncurrentDays', 1) < 1 for t in rule.get('NoncurrentVersionTransitions', [])):
            found.add('L12')
        if any('NewerNoncurrentVersions' in t for t in rule.get('NoncurrentVersionTransitions', [])) and 'Filter' not in rule:
            found.add('L07')
    return sorted(found)


def efs(policies):
    """What is wrong with an EFS list of lifecycle policies; empty when nothing is."""
    order = [1, 7, 14, 30, 60, 90, 180, 270, 365]
    after = {f'AFTER_{d}_DAY' + ('S' if d > 1 else ''): d for d in order}
    wrong, seen = [], {}
    if not isinstance(policies, list) or not 1 <= len(policies) <= 3:
        return ['no list of one to three policies']
    for p in policies:
        if len(p) != 1:
            wrong.append(f'not one key: {p}')
        for key, value in p.items():
            if key in seen:
                wrong.append(f'{key} twice')
            seen[key] = value
            if key == 'TransitionToPrimaryStorageClass':
                if value != 'AFTER_1_ACCESS':
                    wrong.append(value)
            elif key not in ('TransitionToIA', 'TransitionToArchive') or value not in after:
                wrong.append(f'{key}: {value}')
    if 'TransitionToArchive' in seen and 'TransitionToIA' in seen and \
            after.get(seen['TransitionToArchive'], 0) <= after.get(seen['TransitionToIA'], 0):
        wrong.append('archive not later than IA')
    return wrong


GCS_CLASSES = ['STANDARD', 'NEARLINE', 'COLDLINE', 'ARCHIVE']


def gcs(doc):
    """What is wrong with a Cloud Storage lifecycle document (R-LC-05); empty when nothing is."""
    wrong = []
    rules = doc.get('lifecycle', {}).get('rule') if set(doc) == {'lifecycle'} else None
    if not isinstance(rules, list) or not 1 <= len(rules) <= 100:
        return ['no list of 1 to 100 rules under lifecycle.rule']
    for r in rules:
        action, condition = r.get('action', {}), r.get('condition', {})
        if set(r) != {'action', 'condition'} or not condition:
            wrong.append(f'not one action and one condition: {r}')
        if action.get('type') != 'SetStorageClass' or action.get('storageClass') not in GCS_CLASSES[1:]:
            wrong.append(f'action: {action}')
            continue
        if set(condition) - {'age', 'daysSinceNoncurrentTime', 'isLive', 'matchesStorageClass', 'matchesPrefix'}:
            wrong.append(f'conditions unknown here: {condition}')
        clock = 'age' if condition.get('isLive') is True else 'daysSinceNoncurrentTime'  # a rule without isLive takes both kinds
        if not isinstance(condition.get('isLive'), bool) or {'age', 'daysSinceNoncurrentTime'} & set(condition) != {clock}:
            wrong.append(f'live or not, and from when: {condition}')
        if not isinstance(condition.get(clock), int) or condition[clock] < (0 if clock == 'age' else 1):
            wrong.append(f'{clock}: {condition}')
        colder = GCS_CLASSES.index(action['storageClass'])
        classes = condition.get('matchesStorageClass', [])
        if not classes or any(GCS_CLASSES.index(c) >= colder for c in classes):
            wrong.append(f'moves up or nowhere: {r}')
        if not all(isinstance(p, str) and p for p in condition.get('matchesPrefix', ['x'])):
            wrong.append(f'prefix: {condition}')
    return wrong


def azure_moves(moves, clock):
    """Of current blobs by their modification, of versions by their creation."""
    wrong, days = [], []
    if not moves or set(moves) - {'tierToCool', 'tierToCold', 'tierToArchive'}:
        wrong.append(f'actions: {moves}')
    for name in ('tierToCool', 'tierToCold', 'tierToArchive'):
        c = moves.get(name)
        if c is None:
            continue
        days.append(c.get(clock))
        extra = set(c) - {clock}
        if extra - {'daysAfterLastTierChangeGreaterThan'} or (extra and name != 'tierToArchive'):
            wrong.append(f'conditions: {c}')
    if any(not isinstance(d, int) or d < 0 for d in days) or days != sorted(set(days)):
        wrong.append(f'the colder tier must come later: {moves}')
    return wrong


def azure(doc):
    """What is wrong with an Azure management policy (R-LC-04); empty when nothing is."""
    wrong = []
    rules = doc.get('rules') if set(doc) == {'rules'} else None
    if not isinstance(rules, list) or not 1 <= len(rules) <= 100:
        return ['no list of 1 to 100 rules']
    names = [r.get('name', '') for r in rules]
    if len(set(names)) != len(names) or not all(n.isalnum() and len(n) <= 256 for n in names):
        wrong.append(f'names: {names}')
    for r in rules:
        if r.get('type') != 'Lifecycle' or r.get('enabled') is not True:
            wrong.append(f'type or enabled: {r}')
        filters, actions = r['definition']['filters'], r['definition']['actions']
        if filters.get('blobTypes') != ['blockBlob'] or set(filters) - {'blobTypes', 'prefixMatch'}:
            wrong.append(f'filters (there is no size filter): {filters}')
        prefixes = filters.get('prefixMatch', [])
        if len(prefixes) > 10 or any('*' in p or p.startswith('/') for p in prefixes):
            wrong.append(f'prefixes: {prefixes}')
        if not actions or set(actions) - {'baseBlob', 'version'}:
            wrong.append(f'actions: {actions}')
        for of, moves in actions.items():
            wrong += azure_moves(moves, 'daysAfterModificationGreaterThan' if of == 'baseBlob' else 'daysAfterCreationGreaterThan')
    return wrong
