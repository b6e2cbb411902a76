#!/usr/bin/env python3
"""Applies mapping.py virtually and lists what breaks the rules. python3 analyze.py [root] [-v]"""
import collections, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mapping as M
from graph import Graph, SRC, is_test


def load(root):
    g = Graph(root)
    return g, M.mapping(g)


def area(new):
    if new is None or new == '-':
        return None
    if new.startswith('packages/postgres/'):
        return 'postgres'
    p = new[len(SRC) + 1:].split('/')
    return p[1] if p[0] == 'modules' else p[0]


RANK = {'platform': 0, 'postgres': 0, 'main': 1000, **{m: i + 1 for i, m in enumerate(M.ORDER)}}


def sccs(nodes, succ):
    """Tarjan, iterative."""
    index, low, on, stack, out, n = {}, {}, set(), [], [], 0
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(succ.get(root, ())))]
        index[root] = low[root] = n; n += 1
        stack.append(root); on.add(root)
        while work:
            v, it = work[-1]
            for w in it:
                if w not in index:
                    index[w] = low[w] = n; n += 1
                    stack.append(w); on.add(w)
                    work.append((w, iter(succ.get(w, ()))))
                    break
                if w in on:
                    low[v] = min(low[v], index[w])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    c = []
                    while True:
                        w = stack.pop(); on.discard(w); c.append(w)
                        if w == v:
                            break
                    if len(c) > 1:
                        out.append(sorted(c))
    return out


def analyze(g, m):
    up, api, out = collections.defaultdict(set), collections.defaultdict(lambda: collections.defaultdict(set)), {}
    succ, succ_value, mods = collections.defaultdict(set), collections.defaultdict(set), collections.defaultdict(set)
    plat = collections.defaultdict(set)
    for e in g.edges:
        a, b = e['a'], e['b']
        if not a.startswith(SRC) or is_test(a) or m.get(a) == '-' or m.get(b) in ('-', None) or m.get(a) is None:
            continue
        A, B = area(m[a]), area(m[b])
        if a != b:
            succ[m[a]].add(m[b])
            if not e['type']:
                succ_value[m[a]].add(m[b])
        if A == B:
            continue
        mods[A].add(B)
        if B not in ('platform', 'postgres', 'main'):
            api[B][(e['name'], m[b])].add(m[a])
        key = (m[a], m[b])
        if A in ('platform', 'postgres') and B not in ('platform', 'postgres'):
            plat[key].add(e['name'] + ('~' if e['type'] else ''))
        elif RANK.get(A, -1) < RANK.get(B, -1) and B not in ('platform', 'postgres'):
            up[key].add(e['name'] + ('~' if e['type'] else ''))
    return dict(up=up, plat=plat, api=api, cycles=sccs(sorted(succ), succ), value_cycles=sccs(sorted(succ_value), succ_value),
                module_cycles=sccs(sorted(mods), mods), mods=mods)


def short(p):
    return p.replace(SRC + '/', '').replace('modules/', '')


def main():
    args = [x for x in sys.argv[1:] if not x.startswith('-')]
    g, m = load(args[0] if args else '.')
    r = analyze(g, m)
    print('upward', len(r['up']))
    for (a, b), n in sorted(r['up'].items()):
        print('  ', short(a), '->', short(b), ' '.join(sorted(n)))
    print('platform -> modules', len(r['plat']))
    for (a, b), n in sorted(r['plat'].items()):
        print('  ', short(a), '->', short(b), ' '.join(sorted(n)))
    print('file cycles (with types)', len(r['cycles']), 'value only', len(r['value_cycles']), 'module cycles', len(r['module_cycles']), [len(c) for c in r['module_cycles']])
    for c in r['cycles']:
        print('  ', len(c), '(value)' if any(set(v) & set(c) for v in r['value_cycles']) else '(types)', ' '.join(short(x) for x in c)[:400])
    if '-v' in sys.argv:
        for mod in M.ORDER:
            a = r['api'][mod]
            nm = [k for k, users in a.items() if not all(area(u) == 'main' for u in users)]
            print(mod, 'names', len(a), 'without main-only', len(nm), 'used by one file', sum(len(u) == 1 for u in a.values()))


if __name__ == '__main__':
    main()
