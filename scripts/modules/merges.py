#!/usr/bin/env python3
"""Which small files merge into which, after the mapping: same folder first, then the only user in the same module.
No merged file over MAX lines, no new cycle. Writes merges.tsv: small file (new path), lines, target, lines after, reason."""
import collections, os, sys
import analyze as A
from graph import SRC, is_test
SMALL, MAX, GOAL = 75, 250, 845
g, m = A.load(sys.argv[1] if len(sys.argv) > 1 else '.')
new = {f: n for f, n in m.items() if n and n != '-' and not is_test(f)}
size = {new[f]: g.lines(f) for f in new}
W = collections.Counter(); succ = collections.defaultdict(set)
for e in g.edges:
    a, b = new.get(e['a']), new.get(e['b'])
    if a and b and a != b:
        W[(a, b)] += 1
        succ[a].add(b)
alive = set(size)
into = {}
pre = collections.defaultdict(set)
for a in succ:
    for b in succ[a]: pre[b].add(a)
KEEP = ('index.ts', 'main.ts', 'child.ts', 'thread.ts', 'reader-thread.ts')
ROOT = lambda p: p.replace(SRC + '/', '')
def reach(a, b, skip):
    """b reachable from a by a path of length >= 2 (would be a cycle once merged)"""
    seen, todo = set(), [x for x in succ[a] if x != b]
    while todo:
        x = todo.pop()
        if x == b: return True
        if x in seen: continue
        seen.add(x); todo += succ[x]
    return False
def ok(a, b):
    return not reach(a, b, None) and not reach(b, a, None)
def store(p):
    s = os.path.basename(p)
    return 'store' in s or s in ('reads.ts', 'rows.ts')
rows = []
def area(p): return A.area(p)
extra = 20  # new index.ts
def count(): return len(alive) + extra
order = sorted(alive, key=lambda p: size[p])
for limit in (25, 40, 60, 75):
    for a in sorted([p for p in alive if size[p] < limit and p.endswith('.ts')], key=lambda p: size[p]):
        if a not in alive or os.path.basename(a) in KEEP or '/migrations/' in a: continue
        if count() <= GOAL and limit > 40: break
        best = None
        users = {x for x in pre[a] if x in alive}
        cands = {b for b in (users | succ[a]) if b in alive and area(b) == area(a)} | {b for b in alive if os.path.dirname(b) == os.path.dirname(a)}
        for b in cands:
            if b == a or not b.endswith('.ts') or os.path.basename(b) in KEEP: continue
            if size[a] + size[b] - 4 > MAX: continue
            if store(a) != store(b) and 'store' in os.path.basename(a) + os.path.basename(b): continue
            if ('routes' in a) != ('routes' in b) and not (users == {b}): continue
            same = os.path.dirname(a) == os.path.dirname(b)
            w = W[(a, b)] + W[(b, a)]
            only = users == {b}
            if not same and (not only or area(a) == 'platform'): continue
            if 'recipient-texts/' in a or (not w and size[a] > 45): continue
            s = (4 if only else 0) + (3 if same else 0) + min(w, 6) - (size[b] / 120)
            if w == 0: s -= 4
            if best is None or s > best[0]:
                best = (s, b, only, same, w)
        if best is None: continue
        for s, b, only, same, w in [best]:
            if s < 0.5 or not ok(a, b): continue
            size[b] = size[b] + size[a] - 4
            why = 'its only user' if only else f'same folder, {w} names between them' if same and w else f'{w} names between them' if w else 'same folder and subject'
            rows.append((a, size[a], b, size[b], why))
            alive.discard(a); into[a] = b
            for x in pre[a]:
                succ[x].discard(a)
                if x != b: succ[x].add(b); pre[b].add(x); W[(x, b)] += W[(x, a)]
            for x in succ[a]:
                pre[x].discard(a)
                if x != b: succ[b].add(x); pre[x].add(b); W[(b, x)] += W[(a, x)]
            pre[b].discard(a); succ[b].discard(a)
import statistics
s = sorted(size[p] for p in alive if p.endswith('.ts'))
print('files now', len(size), 'barrels gone already; after merging', count(), 'with', extra, 'index.ts; median', statistics.median(s), 'p90', s[int(len(s)*.9)], 'max', s[-1], 'merged', len(rows))
with open('merges.tsv', 'w') as o:
    for r in sorted(rows, key=lambda r: (r[2], r[0])):
        o.write('\t'.join(map(str, (ROOT(r[0]), r[1], ROOT(r[2]), r[3], r[4]))) + '\n')
c = collections.Counter(area(p) for p in alive); l = collections.Counter()
for p in alive: l[area(p)] += size[p]
print({k: (c[k], l[k]) for k in c})
