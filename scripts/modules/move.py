#!/usr/bin/env python3
"""Applies mapping.py to a working tree.

  python3 move.py ROOT [--only m1,m2,platform,main] [--barrels] [--postgres] [--dry]

Without --only every file moves. With it only files whose new place is in one of these modules (or in platform/ or main/)
move; everything else stays, and barrels of old folders stay as long as nothing that they re-export moves.
--barrels   only dissolves all barrels and moves nothing: the first, preparing commit
--postgres  packages/postgres is its own step; without it those files go to platform/postgres

What it does: `git mv`; rewrites import, export … from, import(), import('…').Type, new URL(…, import.meta.url), vi.mock and
join(import.meta.dirname, '…') in every .ts/.tsx/.mts/.mjs/.js file of the repository; follows names through barrels to
the file that defines them; writes modules/*/index.ts with exactly the names that other modules, main/ and old folders
use (tests, testkit, bench and the other harnesses import the defining file); rewrites `packages/server/src/…` and
src-relative paths (`modules/ingest/accept/flush.ts`) in every tracked text file. It prints what is left for a human.
Run `npx oxfmt` on the changed files afterwards. The tree must be clean in git.
"""
import collections, json, os, re, subprocess, sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import mapping as M
from graph import Graph, SRC, CODE, is_test, resolve, strip_comments, FROM, SIDE, CALL, URLS, MOCK, names_of

DIRECT_FROM_MAIN = re.compile(r'(?:^|[/-])(?:routes|job)\.ts$')
opts = [a for a in sys.argv[1:] if a.startswith('-')]
root = os.path.abspath(sys.argv[1])
only = None
for i, a in enumerate(sys.argv):
    if a == '--only':
        only = set(sys.argv[i + 1].split(','))
dry, barrels_only, postgres = '--dry' in opts, '--barrels' in opts, '--postgres' in opts
g = Graph(root)
full = M.mapping(g)
report = collections.defaultdict(list)


def area(p):
    """platform, main, old, a module, or None for what is outside of packages/server/src"""
    if p.startswith('packages/postgres/'):
        return 'postgres'
    if not p.startswith(SRC + '/'):
        return None
    parts = p[len(SRC) + 1:].split('/')
    if parts[0] == 'modules':
        return 'module:' + parts[1]
    return parts[0] if parts[0] in ('platform', 'main') else 'old'


def module_index(p):
    return re.fullmatch(SRC + r'/modules/[^/]+/index\.ts', p) is not None


def selected(new):
    a = area(new)
    return only is None or (a or '').replace('module:', '') in only


move = {}
for f, n in full.items():
    if n and n != '-' and n.startswith('packages/postgres/') and not postgres:
        n = n.replace('packages/postgres/src', SRC + '/platform/postgres')
    if n and n != '-' and not barrels_only and n != f and selected(n):
        move[f] = n
dissolved = set()
for f, n in full.items():
    if module_index(f):
        dissolved.add(f)          # rewritten below
    elif n == '-' and g.barrel(f):
        touched = any(t in move for t, _ in g.reexport[f].values()) or any(s in move for s in g.stars[f])
        if barrels_only or only is None or touched:
            dissolved.add(f)
# a barrel that stays must not name a barrel that goes
grew = True
while grew:
    grew = False
    for f, n in full.items():
        if n == '-' and f not in dissolved and any(t in dissolved for t, _ in g.reexport[f].values()):
            dissolved.add(f); grew = True


def newpath(f):
    return move.get(f, f)


# An index file with code of its own also re-exports: those statements go as those of a barrel do, once it moves.
mixed = {f for f in full if f.endswith('/index.ts') and not g.barrel(f) and g.reexport[f] and not module_index(f)
         and f != SRC + '/io/embedded/index.ts' and (barrels_only or f in move)}


def exports_of(f):
    """Names that a file re-exports by `export … from`: of a mixed file only those go."""
    return {l for kind, spec, names, *_ in g.st[f] if kind == 'export' for n, l, t in names}


def rel(frm, to):
    r = os.path.relpath(to, os.path.dirname(frm))
    return r if r.startswith('.') else './' + r


api = collections.defaultdict(dict)     # module -> {(defining file new path, name): public name}
taken = collections.defaultdict(dict)   # module -> {public name: key}


def public_name(module, key, old):
    if key in api[module]:
        return api[module][key]
    name = key[1]
    if name in taken[module] and taken[module][name] != key:
        stem = os.path.basename(os.path.dirname(key[0])) if key[0].count('/') > 5 else os.path.splitext(os.path.basename(key[0]))[0]
        suffix = ''.join(w.capitalize() for w in stem.split('-'))
        name = name + suffix if name[0].isupper() else name + suffix
        report['two exports of one name in a public API, renamed on the way out'].append(f'{module}: {key[1]} of {key[0]} -> {name}')
    api[module][key], taken[module][name] = name, key
    return name


def find(target, name):
    """(defining file, name), through dissolved barrels only."""
    seen = set()
    while (target in dissolved or target in mixed and name in exports_of(target)) and (target, name) not in seen:
        seen.add((target, name))
        t, n = g.reexport[target].get(name, (None, None))
        if t is None:
            t, n = next(((s, name) for s in g.stars[target] if g.defining(target, name)[0] in (s, g.defining(s, name)[0])), (None, None))
        if t is None:
            return target, name
        target, name = t, n
    return target, name


RANK = {m: i for i, m in enumerate(M.ORDER)}


def upward(a, module):
    return a.startswith('module:') and RANK.get(a[7:], -1) < RANK.get(module, -1)


def destination(importer_new, importer_old, target, name):
    """(specifier, name to import)"""
    t, n = find(target, name)
    tn = newpath(t)
    a, b = area(importer_new), area(tn)
    inside = importer_old.startswith(SRC + '/') and not is_test(importer_old)
    if inside and b and b.startswith('module:') and a != b and not (a == 'main' and DIRECT_FROM_MAIN.search(tn)):
        module = b[7:]
        if upward(a, module):
            # Straight to the file: through index.ts it would be a cycle at run time. modules.test.ts names it until it is gone.
            report['import of a later module, see violations.txt'].append(f'{importer_new} -> {tn}: {n}')
            return rel(importer_new, tn), n
        if n in ('*', ''):
            report['namespace, side effect or dynamic import of a module from outside'].append(f'{importer_new} -> {tn}')
            return rel(importer_new, tn), n
        return rel(importer_new, f'{SRC}/modules/{module}/index.ts'), public_name(module, (tn, n), t)
    return rel(importer_new, tn), n


def part(n, l, t, all_type):
    s = n if n == l else f'{n} as {l}'
    return s if all_type or not t else 'type ' + s


def statement(kw, spec, names):
    stars = [f"{kw} * as {l} from '{spec}';" if l != '*' else f"{kw} * from '{spec}';" for n, l, t in names if n == '*']
    if kw == 'import':
        stars = [s if not t else s.replace('import *', 'import type *') for s, (n, l, t) in zip(stars, [x for x in names if x[0] == '*'])]
    named = [x for x in names if x[0] not in ('*', 'default')]
    dflt = [l for n, l, t in names if n == 'default']
    out = [f"import {l} from '{spec}';" for l in dflt if kw == 'import'] + stars
    if named:
        all_type = all(t for *_, t in named)
        out.append(f"{kw}{' type' if all_type else ''} {{ {', '.join(part(n, l, t, all_type) for n, l, t in dict.fromkeys(named))} }} from '{spec}';")
    return out


def is_type_of(file, name):
    return re.search(r'(?m)^export\s+(?:declare\s+)?(?:type|interface)\s+' + re.escape(name) + r'\b', g.text.get(file, '')) is not None


def rewrite(f, text):
    new = newpath(f)
    if not f.endswith(CODE) or f not in g.text:
        return text
    code = strip_comments(text)
    edits, blocks, order = [], collections.OrderedDict(), []
    moved = new != f

    def rebase(spec):
        """A path that is no module: a folder, a fixture, a template string."""
        if not spec.startswith('.') and not moved:
            return spec
        full_path = os.path.normpath(os.path.join(os.path.dirname(f), spec))
        t = newpath(full_path) if full_path in g.known else full_path
        r = rel(new, t)
        if not spec.startswith('.') and r.startswith('./'):
            r = r[2:]
        return r + ('/' if spec.endswith('/') and not r.endswith('/') else '')

    sts = [m for m in FROM.finditer(code)]
    local = [m for m in sts if resolve(f, m['spec']) in g.known and resolve(f, m['spec']).startswith(SRC + '/')]
    for m in sts:
        if m in local or not m['spec'].startswith('.') or not moved:
            continue
        edits.append((m.start(), m.end(), text[m.start():m.end()].replace(m['q'] + m['spec'] + m['q'], m['q'] + rebase(m['spec']) + m['q'])))
    if f in mixed:
        for m in [m for m in local if m['kw'] == 'export']:
            end = m.end() + (text[m.end():m.end() + 1] == ';')
            edits.append((m.start(), end + (text[end:end + 1] == '\n'), ''))
        local = [m for m in local if m['kw'] == 'import']
    plans, changed = [], False

    def names_in(m):
        t = resolve(f, m['spec'])
        names = names_of(m['what'], bool(m['type']))
        if names == [('*', '*', bool(m['type']))] and t in dissolved:   # export * of a barrel that goes
            names = [(l, l, is_type_of(*find(t, l))) for l in g.reexport[t]]
            for x in g.stars[t]:
                names += [(n, n, is_type_of(x, n)) for n in re.findall(r'(?m)^export\s+(?:async\s+)?(?:function\*?|const|let|class|type|interface|enum)\s+([\w$]+)', g.text[x])]
        return names
    for m in local:
        t = resolve(f, m['spec'])
        dest = [(destination(new, f, t, n), l, ty) for n, l, ty in names_in(m)]
        plans.append((m, dest))
        specs = {d[0] for d, *_ in dest}
        if specs != {m['spec']} or any(d[1] != n for (d, *_), (n, *_r) in zip(dest, names_in(m))):
            changed = True
    if changed:
        where = {}
        for i, (m, dest) in enumerate(plans):
            for (spec, n), l, ty in dest:
                k = (m['kw'], spec)
                where.setdefault(k, i)
                blocks.setdefault(k, []).append((n, l, ty))
        for i, (m, dest) in enumerate(plans):
            mine = [k for k in blocks if where[k] == i]
            end = m.end() + (1 if text[m.end():m.end() + 1] == ';' else 0)
            lines = [s for k in mine for s in statement(k[0], k[1], blocks[k])]
            if not lines and text[end:end + 1] == '\n':
                end += 1
            edits.append((m.start(), end, '\n'.join(lines)))
    for rx in (SIDE, URLS, MOCK):
        for m in rx.finditer(code):
            spec = m.group(2)
            if rx is not URLS and not spec.startswith('.'):
                continue
            t = resolve(f, spec if spec.startswith('.') else './' + spec)
            if t in g.known and t.startswith(SRC + '/'):
                to = rel(new, newpath(t))
                to = to[2:] if not spec.startswith('.') and to.startswith('./') else to
            elif moved and '://' not in spec and not (rx is URLS and spec.startswith('$')):
                to = rebase(spec)
            else:
                continue
            if to != spec:
                s = m.start(2)
                edits.append((s, s + len(spec), to))
    for m in CALL.finditer(code):
        spec = m.group(2)
        t = resolve(f, spec)
        if not t:
            continue
        if t in g.known and t.startswith(SRC + '/'):
            before = re.search(r'const \{([^{}]*)\} = await $', code[max(0, m.start() - 200):m.start()])
            after = re.match(r'\)\s*\.\s*([A-Z]\w*)', code[m.end():m.end() + 80])
            names = [x.split(':')[0].strip() for x in before.group(1).split(',') if x.strip()] if before else [after.group(1)] if after else ['']
            found = {destination(new, f, t, n) for n in names} if names != [''] or t in dissolved else {(rel(new, newpath(t)), '')}
            specs = {s for s, _ in found}
            if len(specs) != 1 or any(n2 not in names and n2 for _, n2 in found):
                report['dynamic import of several files, split by hand'].append(f'{new}: {spec} {names} -> {sorted(specs)}')
            to = sorted(specs)[0]
        elif moved:
            to = rebase(spec)
        else:
            continue
        if to != spec:
            s = m.start(2)
            edits.append((s, s + len(spec), to))
    if moved:
        for m in re.finditer(r"import\.meta\.dirname,\s*'(\.[^'\n]*|[\w-]+\.ts)'", code):
            spec = m.group(1)
            to = rebase(spec)
            if to != spec:
                edits.append((m.start(1), m.end(1), to))
        for m in re.finditer(r"(?:cwd|root): import\.meta\.dirname|import\.meta\.dirname\)", code):
            report['folder of the file itself is used, look'].append(f'{new}')
    for s, e, r in sorted(edits, reverse=True):
        text = text[:s] + r + text[e:]
    return text


FULL_RX = re.compile(r'packages/server/src/([\w./-]*\w\.(?:test\.ts|ts|css|mjml|compiled))')
SHORT_RX = re.compile(r'(?<![\w/.@-])((?:base|io|features|flows|http|worker|operator|main)/[\w./-]*\w\.(?:test\.ts|ts|css|mjml|compiled))\b')


def paths(f, text):
    def sub(prefix):
        def one(m):
            old = f'{SRC}/{m.group(1)}'
            if old in move:
                n = move[old]
                return n if prefix else (n[len(SRC) + 1:] if n.startswith(SRC) else n)
            if old in dissolved and not module_index(old):
                report['text names a barrel that is gone'].append(f'{f}: {m.group(0)}')
            return m.group(0)
        return one
    def braces(m):
        pre, d, names, test = m.group(1) or '', m.group(2), m.group(3).split(','), m.group(4) or ''
        to = [move.get(f'{SRC}/{d}/{n}{test}.ts') for n in names]
        if None in to:
            return m.group(0)
        to = [t[len(SRC) + 1:] for t in to]
        folders = collections.OrderedDict()
        for t in to:
            folders.setdefault(os.path.dirname(t), []).append(re.sub(r'(\.test)?\.ts$', '', os.path.basename(t)))
        parts = [f"{pre}{k}/{v[0] if len(v) == 1 else '{' + ','.join(v) + '}'}{test}.ts" for k, v in folders.items()]
        return ('`, `' if f.endswith('.md') else ' ').join(parts) if len(parts) == 1 or f.endswith('.md') else m.group(0)

    def folders_of(m):
        return M.DIRS[m.group(1)] + m.group(2) if m.group(1) in M.DIRS and not M.DIRS[m.group(1)].startswith('packages/') else m.group(0)
    text = FULL_RX.sub(sub(True), text)
    text = SHORT_RX.sub(sub(False), text)
    text = re.sub(r'(?<![\w/.@-])(packages/server/src/)?((?:base|io|features|flows|http|worker|operator|main)(?:/[\w-]+)*)/\{([\w,-]+)\}(\.test)?\.ts\b', braces, text)
    if only is None and f.endswith(('.md', '.sql', '.pml')) or f.startswith('simulation/'):
        text = re.sub(r'(?<![\w/.@-])((?:base|io|features|flows|http)/[\w-]+(?:/[\w-]+)?)(/?)(?=[`\s,;)\'"]|$)', folders_of, text)
    return text


written = {}
for f in g.all:
    p = os.path.join(root, f)
    if f in dissolved or not os.path.isfile(p) or os.path.islink(p):
        continue
    if re.search(r'\.(png|jpg|woff2?|ico|pdf|eml|gz|zip|key|crt|lock)$', f) or f == 'package-lock.json':
        continue
    try:
        old = open(p, encoding='utf-8', newline='').read()
    except UnicodeDecodeError:
        continue
    text = rewrite(f, old) if f.endswith(CODE) else old
    # Imports are done; now paths in strings, comments and documents.
    text = paths(newpath(f), text)
    if text != old:
        written[f] = text
indexes = {}
for module, names in sorted(api.items()):
    by = collections.defaultdict(list)
    idx = f'{SRC}/modules/{module}/index.ts'
    types = {}
    for e in g.edges:
        if e['type']:
            types.setdefault((newpath(e['b']), e['name']), True)
        else:
            types[(newpath(e['b']), e['name'])] = False
    for (file, name), public in names.items():
        src = next((k for k, v in move.items() if v == file), file)
        is_type = re.search(r'(?m)^export\s+(?:declare\s+)?(?:type|interface)\s+' + re.escape(name) + r'\b', g.text.get(src, '')) is not None
        by[file].append((name, public, is_type))
    lines = []
    for file in sorted(by):
        lines += statement('export', rel(idx, file), sorted(by[file]))
    indexes[idx] = '\n'.join(lines) + '\n'

print(f'files that move {len(move)}, barrels dissolved {sum(not module_index(d) for d in dissolved)}, files rewritten {len(written)}, '
      f'public APIs {len(indexes)} with {sum(len(v) for v in api.values())} names')
if not dry:
    for f, text in written.items():
        with open(os.path.join(root, f), 'w', encoding='utf-8', newline='') as o:
            o.write(text)
    git = lambda *a: subprocess.run(['git', '-C', root, *a], check=True, stdout=subprocess.DEVNULL)
    gone = [d for d in dissolved if not (module_index(d) and d in indexes)]
    for i in range(0, len(gone), 200):
        git('rm', '-qf', '--', *gone[i:i + 200])
    # Through a parking place, so that a swap of two names cannot overwrite.
    for f, n in move.items():
        os.makedirs(os.path.dirname(os.path.join(root, n)), exist_ok=True)
        tmp = n + '.moving'
        os.rename(os.path.join(root, f), os.path.join(root, tmp))
    for f, n in move.items():
        os.rename(os.path.join(root, n + '.moving'), os.path.join(root, n))
    for idx, text in indexes.items():
        os.makedirs(os.path.dirname(os.path.join(root, idx)), exist_ok=True)
        open(os.path.join(root, idx), 'w').write(text)
    for d, subs, files in os.walk(os.path.join(root, SRC), topdown=False):
        if not os.listdir(d):
            os.rmdir(d)
    git('add', '-A', '--', 'packages')
# What a human has to look at: old folders in globs, patterns and prose.
left = re.compile(r'packages/server/src/(?:base|io|features|flows|http|worker|operator)\b[^\s\'"`)]*|(?<![\w/.@-])(?:features|flows|operator|worker)/[\w{},*./-]+')
if only is None and not barrels_only:
    for f in g.all:
        p = os.path.join(root, newpath(f))
        if os.path.isfile(p) and not f.startswith(('site/content', 'node_modules')) and f.endswith((*CODE, '.md', '.json', '.yaml', '.yml', '.patch', '')) :
            try:
                t = open(p, encoding='utf-8').read()
            except (UnicodeDecodeError, IsADirectoryError):
                continue
            for i, line in enumerate(t.split('\n'), 1):
                if len(line) < 3000 and left.search(line) and not re.search(r"from '|import\(", line):
                    report['old folder in a glob, pattern or sentence'].append(f'{newpath(f)}:{i}: {left.search(line).group(0)}')
for k in sorted(report):
    print(f'\n== {k} ({len(report[k])})')
    for x in sorted(set(report[k])):
        print('  ', x)
