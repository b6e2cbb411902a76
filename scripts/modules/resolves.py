"""Every relative import of ROOT resolves, and every imported name is exported there. python3 resolves.py ROOT"""
import sys, re, os
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graph import Graph, resolve
g = Graph(sys.argv[1]); bad = 0
for f, ss in g.st.items():
    for kind, spec, names, *_ in ss:
        t = resolve(f, spec)
        if t and t not in g.known and kind in ('import', 'export', 'side', 'call'):
            print('UNRESOLVED', f, spec); bad += 1
for e in g.edges:
    if e['name'] in ('', '*', 'default') or not e['b'].endswith('.ts'): continue
    n = re.escape(e['name'])
    if not re.search(r'export\s+(?:declare\s+)?(?:async\s+)?(?:const|let|function\*?|class|type|interface|enum)\s+' + n + r'\b', g.text[e['b']]) and not re.search(r'export\s+(?:type\s+)?\{[^}]*\b' + n + r'\b', g.text[e['b']]):
        print('NO EXPORT', e['a'], e['b'], e['name']); bad += 1
print('problems', bad)
