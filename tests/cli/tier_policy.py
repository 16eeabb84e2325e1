#!/usr/bin/env python3
"""The lifecycle policy of Cloud Storage, Azure and EFS against brute force: random histograms, every schedule of the family
that tier_policy.c declares, every set of disjoint rules, billed here month by month from the rates that `prices storage`
shows; the files by the vendors' rules and the same rules as in JSON."""
import itertools
import json
import math
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked  # noqa: E402
import json_schema  # noqa: E402
import lifecycle_check  # noqa: E402
from asked import expect  # noqa: E402

GIB = 2**30
USUAL = [0, 30, 60, 90, 180, 365]
EFS_DAYS = [1, 7, 14, 30, 60, 90, 180, 270, 365]
POOL = ['a/', 'a/b/', 'a/b/c/', 'a/d/', 'b/', 'c/f/', 'c/g/']


class Vendor:
    def __init__(self, product, region, tiers, classes, minimum, month=1.0):
        self.product, self.region, self.tiers, self.classes, self.minimum, self.month = product, region, tiers, classes, minimum, month
        vendor = region.split('/')[0]
        self.rate = {}
        for r in ask('prices', 'storage', '--vendor', vendor, '--region', region)['rates']:
            if float(r.get('from_qty') or 0) == 0:
                self.rate[r['tier'], r['component']] = float(r['rate']) / int(r['unit_qty'])

    def price(self, k, what):
        return self.rate.get((self.tiers[k], what), 0.0)

    def stay(self, g, k, t):
        """One month without and with reads; small objects do not occur here."""
        efs = self.product == 'efs'
        cost = g['bytes'] * self.month * self.price(k, 'storage') / GIB
        cost += g['objects'] * 2048 * self.price(0, 'storage') / GIB if efs else 0
        cost += g['gets'] * (self.price(k, 'get') if not efs else 0) + g['read'] / GIB * self.price(k, 'retrieval')
        archive = self.product.startswith('azure') and k == 3  # a restored copy stands in Hot for 7 days
        return cost + (g['read'] / GIB * self.price(0, 'storage') * 7 / 30 if archive else 0)

    def move(self, g, k, to, served):
        fee = g['bytes'] / GIB if self.product == 'efs' else g['objects']
        left = 0 if self.product == 'gcs' else max(0, self.minimum[k] - 30 * served)
        return fee * self.price(to, 'transition') + left / 30 * g['bytes'] / GIB * self.price(k, 'storage')


def ask(*args):
    return json.loads(asked.run(*args, '--format', 'json', text=True).stdout or '{}')


def clock(v, g):
    """Days that the vendor counts from."""
    if v.product == 'efs':
        return g['idle']
    return 0 if not g['latest'] and v.product == 'gcs' else g['age']


def play(v, g, plan, months):
    k, served, cost = 0, g['age'] // 30, 0.0
    gap = 30 * g['objects'] / g['gets'] if v.product == 'efs' and g['gets'] else math.inf
    for t in range(months):
        due = [to for to, day in plan if day <= clock(v, g) + 30 * t and day < gap]
        if due and due[-1] > k:
            cost += v.move(g, k, due[-1], served)
            k, served = due[-1], 0
        cost += v.stay(g, k, t)
        served += 1
    return cost


def plans(v, days):
    """One to three transitions to ever colder tiers on later days; EFS: IA first."""
    out = [()]
    for n in (1, 2, 3):
        for tiers in itertools.combinations(range(1, len(v.tiers)), n):
            if v.product != 'efs' or tiers[0] == 1:
                out += [tuple(zip(tiers, d)) for d in itertools.combinations(sorted(days), n)]
    return out


def days_of(v, doc, groups):
    if v.product == 'efs':
        return EFS_DAYS
    weight = {}
    for told, g in zip(doc['groups'], groups):
        for step in told['path'][1:]:
            day = clock(v, g) + 30 * step['from_month']
            if float(told['saving']) > 0 and day > 0 and day not in USUAL:
                weight[day] = weight.get(day, 0) + float(told['saving'])
    return USUAL + sorted(weight, key=lambda d: (-weight[d], d))[:6]


def nodes_of(v, groups):
    if v.product == 'efs':
        return ['']
    out = {''} | {g['prefix'] for g in groups}
    for a, b in itertools.combinations({g['prefix'] for g in groups}, 2):
        out.add(os.path.commonprefix([a, b]).rpartition('/')[0] + '/')
    return sorted(out - {'/'})


def ways(v, groups, saved, family):
    """(prefix, rules it counts for, saving): the best by number of transitions, of current objects and of old versions."""
    out = []
    for node in nodes_of(v, groups):
        best = [{0: 0.0}, {0: 0.0}]
        for old in (0, 1):
            inside = [i for i, g in enumerate(groups) if g['prefix'].startswith(node) and (v.product == 'efs' or g['latest'] != old)]
            if v.product == 'efs' and old:
                continue
            for s, plan in enumerate(family):
                if plan and not (old and v.product == 'gcs' and plan[0][1] == 0):
                    n = len(plan)
                    best[old][n] = max(best[old].get(n, 0.0), sum(saved[i][s] for i in inside))
        for (n, x), (k, y) in itertools.product(best[0].items(), best[1].items()):
            if x + y > 0:
                out.append((node, n + k if v.product == 'gcs' else 1, x + y))
    return out


def best_set(way, rules, taken=(), start=0):
    best = 0.0
    for i in range(start, len(way)):
        node, weight, gain = way[i]
        if weight <= rules and not any(node.startswith(o) or o.startswith(node) for o in taken):
            best = max(best, gain + best_set(way, rules - weight, taken + (node,), i + 1))
    return best


def histogram(path, groups, v):
    lines = ['prefix,storage_class,is_latest,size_lo,age_lo_days,idle_lo_days,objects,bytes,bytes_min128k,gets_30d,bytes_read_30d']
    for g in groups:
        lines.append(f'{g["prefix"]},{v.classes[0]},{str(g["latest"]).lower()},1048576,{g["age"]},{g["idle"]},{g["objects"]},{g["bytes"]},'
                     f'{g["bytes"]},{g["gets"]},{g["read"]}')
    path.write_text('\n'.join(lines) + '\n')
    return path


def random_groups(r, v):
    out = {}
    for _ in range(r.randint(1, 5)):
        objects, size = r.choice((100, 10000, 200000)), 1048576 * r.choice((1, 3, 40))  # below the first volume bracket
        gets = 0 if r.random() < 0.5 else round(objects * r.choice((0.01, 0.2, 1.5)))
        g = {'prefix': r.choice(POOL), 'latest': v.product == 'efs' or r.random() < 0.7, 'age': r.choice((0, 30, 90, 180)), 'objects': objects,
             'bytes': objects * size, 'gets': gets, 'read': gets * size}
        g['idle'] = r.choice([d for d in (0, 30, 90, 180) if d <= g['age']])
        out[g['prefix'], g['latest'], g['age'], g['idle']] = g
    return sorted(out.values(), key=lambda g: (g['prefix'], not g['latest'], g['age'], g['idle']))


def documents(v, doc, life):
    """The file holds the rules of the answer, by the vendor's rules."""
    file = json.loads(life.read_text())
    check = {'gcs': lifecycle_check.gcs, 'efs': lifecycle_check.efs}.get(v.product, lifecycle_check.azure)
    expect(check(file) == [], f'{v.product}: {check(file)}')
    want = sorted((r['prefix'], r['noncurrent'], r['days'], v.classes[v.tiers.index(r['to_tier'])]) for r in doc['policy']['rules'])
    got = []
    if v.product == 'gcs':
        for r in file['lifecycle']['rule']:
            c = r['condition']
            got.append((c.get('matchesPrefix', [''])[0], not c['isLive'], c['age'] if c['isLive'] else c['daysSinceNoncurrentTime'],
                        r['action']['storageClass']))
    elif v.product == 'efs':
        names = {'TransitionToIA': 'IA', 'TransitionToArchive': 'ARCHIVE'}
        got = [('', False, int(value.split('_')[1]), names[key]) for p in file for key, value in p.items() if key in names]
    else:
        for r in file['rules']:
            for of, moves in r['definition']['actions'].items():
                for name, c in moves.items():
                    day = c['daysAfterModificationGreaterThan' if of == 'baseBlob' else 'daysAfterCreationGreaterThan']
                    got.append((r['definition']['filters'].get('prefixMatch', [''])[0], of == 'version', day, name[6:].lower()))
    expect(sorted(got) == want, f'{v.product}: the file {got}, the answer {want}')


def one(v, r, tmp, number):
    groups, months, rules = random_groups(r, v), r.choice((3, 7, 14, 24)), r.randint(1, 4)
    life = tmp / 'life.json'
    if life.exists():
        life.unlink()
    file = histogram(tmp / 'h.csv', groups, v)
    args = ('tier', file, '--from', v.product, '--region', v.region, '--horizon', f'{months}mo', '--rules', str(rules))
    doc = ask(*args)
    expect(json_schema.validate(doc, json_schema.load('tier')) == [], f'{v.product}: schema')
    family = plans(v, days_of(v, doc, groups))
    stay = [play(v, g, (), months) for g in groups]
    what = f'{v.product} case {number}: {groups}, {months} months, {rules} rules'
    expect(abs(sum(stay) - float(doc['baseline'])) < 1e-6 * sum(stay), f'{what}: as it is {sum(stay)}, said {doc["baseline"]}')
    saved = [[stay[i] - play(v, g, p, months) for p in family] for i, g in enumerate(groups)]
    want = sum(stay) - best_set(ways(v, groups, saved, family), 1 if v.product == 'efs' else rules)
    got = float(doc['policy']['cost'])
    expect(abs(want - got) < 1e-7 * want, f'{what}: brute force {want}, policy {got} {doc["policy"]["rules"]}')
    if doc['policy']['rules'] and number < 8:
        asked.run(*args, '--lifecycle', life, text=True)
        documents(v, doc, life)


def main():
    with tempfile.TemporaryDirectory() as d:
        os.environ.update(GPUTIER_NOW='2026-12-02T00:00:00Z', GPUTIER_DB=d + '/x.db')
        r = random.Random(6)
        for v in (Vendor('gcs', 'gcp/us-central1', ['gcs_standard', 'gcs_nearline', 'gcs_coldline', 'gcs_archive'],
                         ['STANDARD', 'NEARLINE', 'COLDLINE', 'ARCHIVE'], [0] * 4, 720 / 730),
                  Vendor('azure_blob_lrs', 'azure/eastus', [f'azure_blob_{k}_lrs' for k in ('hot', 'cool', 'cold', 'archive')],
                         ['hot', 'cool', 'cold', 'archive'], [0, 30, 90, 180]),
                  Vendor('efs', 'aws/us-east-1', ['efs_standard', 'efs_ia', 'efs_archive'], ['STANDARD', 'IA', 'ARCHIVE'], [0, 0, 90])):
            if v.product == 'efs' and ('efs_archive', 'retrieval') not in v.rate:
                v.tiers.pop()  # reads there have no price, so nothing is sent there
            for i in range(20):
                one(v, r, Path(d), i)
    return asked.verdict()


sys.exit(main())
