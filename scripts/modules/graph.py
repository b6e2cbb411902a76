#!/usr/bin/env python3
"""Import graph of packages/server/src and of everything outside that uses it. Standard library only.

  python3 graph.py [root]            writes graph.json next to this file and prints a summary

An edge is (importer, target, name, isType, kind). The name is '*' for a namespace, '' for a side effect,
import(), new URL() or vi.mock(). Barrels (files that only re-export) are followed to the defining file, so
`target` is where a name is defined and `via` is the file that the specifier names.
"""
import json, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = 'packages/server/src'
CODE = ('.ts', '.tsx', '.mts', '.mjs', '.js', '.cjs')
FROM = re.compile(
    r"""(?<![\w.$'"`])(?P<kw>import|export)(?P<type>\s+type)?\s*(?P<what>\*\s*(?:as\s+[\w$]+)?|[\w$]+(?:\s*,\s*(?:\{[^}]*\}|\*\s*as\s+[\w$]+))?|\{[^}]*\})\s*from\s*(?P<q>['"])(?P<spec>[^'"\n]+)(?P=q)""")
SIDE = re.compile(r"""(?m)^\s*import\s*(['"])([^'"\n]+)\1""")
CALL = re.compile(r"""(?<![\w.$])import\(\s*(['"])([^'"\n]+)\1""")
URLS = re.compile(r"""new URL\(\s*(['"`])([^'"`\n]+)\1\s*,\s*import\.meta\.url""")
MOCK = re.compile(r"""\bvi\.(?:mock|doMock|unmock|importActual)\(\s*(['"])([^'"\n]+)\1""")
DIRN = re.compile(r"""(?:join|resolve|path\.join)\(\s*import\.meta\.(?:dirname|filename)\s*,""")


def git_files(root):
    out = subprocess.run(['git', '-C', root, 'ls-files'], capture_output=True, text=True, check=True).stdout
    return [f for f in out.split('\n') if f]


def strip_comments(text):
    """Blank out /* */ and // comments that could hold an import in prose; strings stay."""
    text = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)
    return re.sub(r'(?m)^\s*//.*$', lambda m: ' ' * len(m.group()), text)


def names_of(what, all_type):
    """[(imported name, local or exported name, is type)]"""
    what = what.strip()
    out = []
    if what.startswith('*'):
        m = re.match(r'\*\s*as\s+([\w$]+)', what)
        return [('*', m.group(1) if m else '*', all_type)]
    m = re.match(r'([\w$]+)', what)
    if m and not what.startswith('{'):
        out.append(('default', m.group(1), all_type))
        if '* as' in what:
            out.append(('*', what.split('* as')[1].strip(), all_type))
    b = re.search(r'\{([^}]*)\}', what, re.S)
    for part in (b.group(1).split(',') if b else []):
        part = part.strip()
        if not part:
            continue
        t = all_type
        if part.startswith('type ') and not re.match(r'type\s+as\b', part):
            t, part = True, part[5:].strip()
        a = re.split(r'\s+as\s+', part)
        out.append((a[0].strip(), a[-1].strip(), t))
    return out


def resolve(importer, spec):
    return os.path.normpath(os.path.join(os.path.dirname(importer), spec)) if spec.startswith('.') else None


def statements(path, text):
    """[(kind, spec, [(name, local, type)], start, end)], in order of the file. kind: import export side call url mock"""
    code = strip_comments(text) if path.endswith(CODE) else text
    out = []
    for m in FROM.finditer(code):
        out.append((m['kw'], m['spec'], names_of(m['what'], bool(m['type'])), m.start(), m.end()))
    for kind, rx in (('side', SIDE), ('call', CALL), ('url', URLS), ('mock', MOCK)):
        for m in rx.finditer(code):
            out.append((kind, m.group(2), [('', '', kind == 'call' and False)], m.start(), m.end()))
    return sorted(out, key=lambda s: s[3])


class Graph:
    def __init__(self, root):
        self.root = root
        self.all = git_files(root)
        self.known = set(self.all)
        self.src = [f for f in self.all if f.startswith(SRC + '/')]
        self.text, self.st = {}, {}
        for f in self.all:
            if f.endswith(CODE) and os.path.isfile(os.path.join(root, f)) and '/node_modules/' not in f:
                t = open(os.path.join(root, f), encoding='utf-8', errors='replace').read()
                self.text[f] = t
                self.st[f] = statements(f, t)
        self.reexport = {}   # file -> {exported: (target, name)}
        self.stars = {}
        for f, ss in self.st.items():
            if not f.startswith(SRC + '/'):
                continue
            r, st, imported = {}, [], {}
            for kind, spec, names, *_ in ss:
                t = resolve(f, spec)
                if kind == 'import' and t in self.known:
                    for n, l, _t in names:
                        imported[l] = (t, n)
                if kind == 'export' and t in self.known:
                    for n, l, _t in names:
                        if n == '*' and l == '*':
                            st.append(t)
                        else:
                            r[l] = (t, n)
            for m in re.finditer(r'export\s+(?:type\s+)?\{([^}]*)\}\s*;', strip_comments(self.text[f])):
                for n, l, _t in names_of('{' + m.group(1) + '}', False):
                    if n in imported:
                        r[l] = imported[n]
            self.reexport[f], self.stars[f] = r, st
        self.edges = []
        for f, ss in self.st.items():
            for kind, spec, names, *_ in ss:
                t = resolve(f, spec)
                if not t or t not in self.known or not t.startswith(SRC + '/'):
                    continue
                for n, l, ty in names:
                    d, dn = self.defining(t, n)
                    self.edges.append(dict(a=f, b=d, name=dn, local=l, type=ty, kind=kind, via=t))

    def defining(self, t, n, seen=()):
        if n in ('*', ''):
            return t, n
        r = self.reexport.get(t, {})
        if n in r:
            return self.defining(*r[n], seen)
        for s in self.stars.get(t, []):
            if s not in seen and re.search(r'export\s+(?:declare\s+)?(?:async\s+)?(?:const|let|function\*?|class|type|interface|enum)\s+' + re.escape(n) + r'\b', self.text.get(s, '')):
                return s, n
            d = self.defining(s, n, seen + (t,)) if s not in seen else (s, n)
            if d[0] != s:
                return d
        return t, n

    def barrel(self, f):
        """True for a file of nothing but re-exports and comments."""
        if f not in self.text:
            return False
        code = strip_comments(self.text[f])
        code = FROM.sub(lambda m: '' if m['kw'] == 'export' else m.group(), code)
        return bool(self.reexport.get(f) or self.stars.get(f)) and not re.sub(r'[;\s]', '', code)

    def lines(self, f):
        return self.text.get(f, '').count('\n') if f in self.text else open(os.path.join(self.root, f), 'rb').read().count(b'\n')


def is_test(f):
    return '.test.' in f


def main():
    g = Graph(sys.argv[1] if len(sys.argv) > 1 else '.')
    json.dump(g.edges, open(os.path.join(HERE, 'graph.json'), 'w'))
    inside = [e for e in g.edges if e['a'].startswith(SRC)]
    print('files in src', len(g.src), 'non-test', sum(not is_test(f) for f in g.src))
    print('name edges', len(g.edges), 'from src', len(inside), 'from src without tests', sum(not is_test(e['a']) for e in inside))
    print('barrels', sum(g.barrel(f) for f in g.src))
    bad = [(f, s[1]) for f, ss in g.st.items() for s in ss if s[1].startswith('.') and resolve(f, s[1]) not in g.known]
    print('unresolved relative specifiers', len(bad), bad[:15])


if __name__ == '__main__':
    main()
