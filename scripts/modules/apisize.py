#!/usr/bin/env python3
"""Symbol-level estimate: how small the public APIs get when a declaration that only one other module uses moves there.
A declaration that writes a table stays. Output: names per module now, after, and the declarations that move."""
import collections, re, sys, json
import analyze as A, mapping as M
from graph import SRC, is_test, strip_comments, names_of, resolve
g, m = A.load(sys.argv[1] if len(sys.argv) > 1 else '.')
mod = {f: A.area(n) for f, n in m.items() if n not in ('-', None) and not is_test(f) and f.endswith('.ts')}
DECL = re.compile(r'(?m)^(export\s+)?(?:declare\s+)?(?:default\s+)?(?:async\s+)?(function\*?|const|let|class|type|interface|enum)\s+([\w$]+)')
WRITE = re.compile(r'\b(?:INSERT INTO|(?<!FOR )(?<!DO )UPDATE|DELETE FROM|MERGE INTO|COPY)\s+(?:ONLY\s+)?beckon')
ID = re.compile(r'[A-Za-z_$][\w$]*')
body, kind, deps, users, owner = {}, {}, collections.defaultdict(set), collections.defaultdict(set), {}
for f in mod:
    t = strip_comments(g.text[f])
    ds = list(DECL.finditer(t))
    for i, d in enumerate(ds):
        key = (f, d.group(3))
        b = t[d.start():ds[i + 1].start() if i + 1 < len(ds) else len(t)]
        body[key] = body.get(key, '') + b
        kind[key] = d.group(2)
        owner[key] = mod[f]
imp = collections.defaultdict(dict)
for e in g.edges:
    if e['a'] in mod and e['kind'] == 'import':
        imp[e['a']][e['local']] = (e['b'], e['name'])
star = collections.defaultdict(set)
for key, b in body.items():
    f, n = key
    for w in set(ID.findall(b)):
        k = (f, w)
        if w != n and k in body:
            deps[key].add(k)
        elif w in imp[f] and imp[f][w] in body:
            deps[key].add(imp[f][w])
    for d in deps[key]:
        users[d].add(key)
pinned = {k for k in body if WRITE.search(body[k]) or 'routes' in m[k[0]].rsplit('/', 1)[1]}
R = A.RANK
FREE = {'platform', 'postgres', 'main'}


def crossing(k):
    return owner[k] not in FREE and any(owner[u] != owner[k] and owner[u] != 'main' for u in users[k])


def total():
    c = collections.Counter(owner[k] for k in body if crossing(k))
    return c


before = total()
print('now', sum(before.values()), dict(before))
moved = {}
for _ in range(30):
    changed = 0
    for k in sorted(body):
        if owner[k] in FREE or k in pinned or not users[k]:
            continue
        us = {owner[u] for u in users[k]}
        if len(us) != 1 or us <= FREE or owner[k] in us:
            continue
        (b,) = us
        # closure: what only k uses moves along
        group, grew = {k}, True
        while grew:
            grew = False
            for x in list(group):
                for d in deps[x]:
                    if d not in group and d not in pinned and owner[d] == owner[k] and users[d] <= group:
                        group.add(d); grew = True
        touched = group | {d for x in group for d in deps[x]}
        if any(owner[d] not in FREE and R[owner[d]] > R[b] for x in group for d in deps[x]):
            continue
        old = sum(crossing(x) for x in touched)
        src = owner[k]
        for x in group:
            owner[x] = b
        if sum(crossing(x) for x in touched) > old:
            for x in group:
                owner[x] = src
            continue
        for x in group:
            moved[x] = (moved.get(x, (src,))[0], b)
        changed += 1
    if not changed:
        break
after = total()
print('after', sum(after.values()), dict(after))
print('declarations moved', len(moved), 'lines', sum(body[k].count('\n') for k in moved))
rest = [k for k in body if crossing(k)]
kinds = collections.Counter(('type' if kind[k] in ('type', 'interface') else 'value', 'pinned' if k in pinned else 'free', min(3, len({owner[u] for u in users[k] if owner[u] != owner[k] and owner[u] != 'main'}))) for k in rest)
print('what is left (kind, writes a table?, modules that use it)', dict(kinds))
json.dump([[a, n, s, d] for (a, n), (s, d) in sorted(moved.items())], open('apisize.json', 'w'), indent=0)
if '-v' in sys.argv:
    for k in sorted(rest, key=lambda k: (R[owner[k]], k)):
        print(owner[k], k[0][len(SRC)+1:], k[1], kind[k], 'PIN' if k in pinned else '', sorted({owner[u] for u in users[k] if owner[u] != owner[k]}))
if '-m' in sys.argv:
    mat = collections.Counter()
    for k in rest:
        for u in {owner[u] for u in users[k]} - {owner[k], 'main'}:
            mat[(owner[k], u)] += 1
    cols = M.ORDER
    print('owner \\ user'.ljust(14), ' '.join(c[:6].rjust(6) for c in cols))
    for o in M.ORDER:
        print(o.ljust(14), ' '.join(str(mat[(o, c)] or '.').rjust(6) for c in cols))
    def groups(gs):
        of = {x: i for i, gr in enumerate(gs) for x in gr}
        return sum(1 for k in rest if any(of[owner[u]] != of[owner[k]] for u in users[k] if owner[u] != 'main'))
    base = [[x] for x in M.ORDER]
    print(groups(base))
    import itertools
    for a, b in itertools.combinations(M.ORDER, 2):
        gs = [[a, b]] + [[x] for x in M.ORDER if x not in (a, b)]
        d = groups(base) - groups(gs)
        if d > 12: print('merge', a, b, d)
if '-r' in sys.argv:
    J = {'profiles', 'operations', 'administration', 'sandbox'}
    def um(k): return {owner[u] for u in users[k]} - {owner[k], 'main'}
    j = [k for k in rest if um(k) <= J]
    print('only journeys use', len(j), collections.Counter(owner[k] for k in j), collections.Counter(u for k in j for u in um(k)))
    one = [k for k in rest if len({u[0] for u in users[k] if owner[u] != owner[k] and owner[u] != 'main'}) == 1]
    print('used by one file outside', len(one), collections.Counter('type' if kind[k] in ('type','interface') else 'value' for k in one))
    ty = [k for k in rest if kind[k] in ('type', 'interface')]
    print('types', len(ty))
    # types that a consumer could take from a value's signature: used only beside a value of the same file
    beside = [k for k in ty if all(any(d in rest and d[0] == k[0] and kind[d] not in ('type','interface') for d in deps[u]) for u in users[k] if owner[u] != owner[k])]
    print('types always used beside a value of their file', len(beside))
    rd = [k for k in rest if re.search(r"\b(SELECT|prepared|query)\b", body[k]) and k not in pinned]
    print('reads', len(rd), 'of one module', sum(len(um(k)) == 1 for k in rd))
