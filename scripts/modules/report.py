#!/usr/bin/env python3
"""Writes violations.txt and api.tsv. python3 report.py [root]"""
import collections, json, os, sys
import analyze as A, mapping as M
from graph import SRC, is_test
g, m = A.load(sys.argv[1] if len(sys.argv) > 1 else '.')
r = A.analyze(g, m)
S = A.short
REMEDY = [  # (from, to, remedy). First match wins; '' matches all.
    ('', 'main/dashboard-deps.ts', 'D', 'each routes file declares the deps it needs; `DashboardRoute<D>`, `createDashboardApi<D>`; the sum stays in main (see plan.md, step 2)'),
    ('audiences/', 'rules/runs/rules-in-force.ts', 'R', 'invert: audiences owns `type RuleNeed = { name; isPresent; windowsMs; events; audienceIds }` and takes `listRuleNeeds` as a dependency; rules implements it; main passes it to the audience and settings routes'),
    ('audiences/routes.ts', 'processing/test-audience.ts', 'M', 'move the one route (`POST …/audiences/test`) to processing/routes.ts'),
    ('', 'explain/backtest/routes.ts', 'M', 'listed in main/dashboard-routes.ts, not in rules/routes.ts'),
    ('', 'explain/suppression-check-routes.ts', 'M', 'listed in main/dashboard-routes.ts, not in suppressions/routes.ts'),
    ('', 'explain/backtest/limits.ts', 'A', '`backtests` is made in main and passed as one of the deps; the kit no longer names it'),
    ('', 'review/emails/email-view.ts', 'F', 'move `timeOf` (4 lines; six private copies exist) to platform/time/clock.ts as `isoOrNull`'),
    ('rules/', 'templates/templates.ts', 'F', 'move `loadLetters`, `listTemplates` and their two reads to rendering/published.ts (reads of `template`, `template_version`)'),
    ('delivery/team-email.ts', 'review/send-team-digest.ts', 'F', 'move `type TeamTransport` to delivery/team-email.ts, which implements it'),
    ('workspace/members/caller.ts', 'delivery/team-email.ts', 'A', '`sendTeamEmail(to, email)` becomes a dependency of the member routes; main passes delivery\'s'),
    ('workspace/members/links-routes.ts', 'administration/set-up.ts', 'M', 'move the one route that sets up an installation to administration/set-up-routes.ts'),
]
KIND = {'M': 'move a route', 'F': 'move a function or type', 'A': 'pass as argument', 'R': 'invert', 'D': 'typed deps per routes file'}


def remedy(a, b):
    for x, y, k, t in REMEDY:
        if S(a).startswith(x) and S(b) == y:
            return k, t
    return '?', 'TO DECIDE'


CYCLES = {
    'backup/archive.ts': 'move `type Home` to its own home-types part of settings.ts, or pass `backupDir` instead of `Home`',
    'follow.ts': 'move `EmbeddedConnection` to settings.ts',
    'outbound/exchange.ts': 'move `OutboundAnswer` to exchange.ts, which makes it',
    'dkim-key.ts': 'three moves: `Verdict`, `Finding`, `Judged`, `DomainRecord`, `RecordKind` into records.ts\' place as findings.ts (types only); `invalid` into domain-name.ts; `Tracking` into domain.ts',
    'emails/gate.ts': 'move `GateFacts` and `Outlet` to one types file of the send checks (facts.ts)',
    'tokens/device.ts': 'move `DeviceAsking`, `DeviceState` to store.ts',
    'partition-store.ts': 'move `Month` to partition-store.ts',
    'heed-refusals.ts': 'ends with the one `SendResult` (send-result.ts)',
    'file-source.ts': 'move `ImportFile` to file-format.ts',
    'views/reads.ts': 'view.ts holds types and checks only; reads.ts merges into store.ts; the use cases go to view-routes',
    'wire.ts': 'move `ServerOptions` from wire.ts to main/options.ts',
    'serve.ts': 'move `Running` to main/options.ts',
    'read-snapshot.ts': 'move `StripeDeps` to imports/run/deps.ts and `inSeconds` to stripe-source.ts',
}
out = []
w = out.append
kinds = collections.Counter()
groups = collections.OrderedDict()
for (a, b), n in sorted(r['up'].items()):
    k, t = remedy(a, b)
    kinds[k] += 1
    groups.setdefault((k, t), []).append((a, b, n))
# module graph without the edges that the remedies take away
mods = collections.defaultdict(set)
for e in g.edges:
    a, b = m.get(e['a']), m.get(e['b'])
    if not a or not b or '-' in (a, b) or not e['a'].startswith(SRC) or is_test(e['a']):
        continue
    if (a, b) in r['up']:
        continue
    A1, B1 = A.area(a), A.area(b)
    if A1 != B1:
        mods[A1].add(B1)
left = A.sccs(sorted(mods), mods)
files = collections.Counter(); lines = collections.Counter()
for f, n in m.items():
    if n and n != '-' and not is_test(f) and f.endswith('.ts'):
        files[A.area(n)] += 1; lines[A.area(n)] += g.lines(f)
w('# What breaks the rules once the mapping is applied\n')
w('Computed by `report.py` from `mapping.py`; barrels are followed to the file that defines a name; tests are left out.\n')
w('| check | count |\n|---|---|')
w(f"| (a) imports of a later module | {len(r['up'])} file pairs, {len(groups)} causes |")
w(f"| (b) names that other modules use = public APIs | {sum(len(v) for v in r['api'].values())} with main's, {sum(sum(1 for k,u in v.items() if not all(A.area(x)=='main' for x in u)) for v in r['api'].values())} between modules (today's doors of features/: 1,142) |")
w(f"| (c) file cycles | {len(r['cycles'])}, all through types; through values {len(r['value_cycles'])} |")
w(f"| (c) module cycles | {len(r['module_cycles'])} (of {max([len(c) for c in r['module_cycles']] or [0])} modules, by the imports of (a)); without (a): {len(left)} |")
w(f"| (d) platform imports a module | {len(r['plat'])} |\n")
w('## Modules in their order\n')
w('| module | files | lines | names other modules use | used by one file only |\n|---|---|---|---|---|')
for x in ['platform'] + M.ORDER + ['main', 'postgres']:
    api = r['api'].get(x, {})
    real = {k: u for k, u in api.items() if not all(A.area(y) == 'main' for y in u)}
    w(f"| {x} | {files[x]} | {lines[x]:,} | {len(real) or ''} | {sum(len(u) == 1 for u in real.values()) or ''} |")
w('\n## (a) Imports of a later module\n')
for (k, t), es in groups.items():
    w(f'### {KIND.get(k, k)}: {t}\n')
    for a, b, n in es:
        w(f"- `{S(a)}` → `{S(b)}`: {', '.join(sorted(x.rstrip('~') + (' (type)' if x.endswith('~') else '') for x in n))}")
    w('')
w('## (c) File cycles\n')
for c in r['cycles']:
    t = next((v for k, v in CYCLES.items() if any(x.endswith(k) for x in c)), 'TO DECIDE')
    w(f"- {' ↔ '.join('`' + S(x) + '`' for x in c)}: {t}")
w('\n## (d) Platform imports a module\n\nNone. Two pairs that did were moved: `http/refuse-body` to platform/http, `http/edge` (which knows the tracking paths) to main/http.\n')
w('## (b) Public APIs by module\n\nThe names with their users are in api.tsv. Used by main alone are left out here.\n')
moved = {(f, n): d for f, n, s, d in json.load(open('apisize.json'))}
with open('api.tsv', 'w') as o:
    o.write('module\tfile\tname\tmodules that use it\tfiles that use it\tremedy\n')
    inv = {}
    for f, n in m.items():
        inv.setdefault(n, f)
    for x in M.ORDER:
        per = collections.defaultdict(list)
        for (name, file), us in sorted(r['api'][x].items(), key=lambda z: (z[0][1], z[0][0])):
            um = sorted({A.area(u) for u in us} - {'main'})
            act = f"moves to {moved[(inv[file], name)]}" if (inv[file], name) in moved else 'main only' if not um else ''
            o.write('\t'.join([x, S(file), name, ' '.join(um), str(len(us)), act]) + '\n')
            if um:
                per[S(file)].append(name)
        if per:
            w(f"**{x}** ({sum(map(len, per.values()))}): " + '; '.join(f"{f.split('/', 1)[1]}: {', '.join(n)}" for f, n in per.items()) + '\n')
open('violations.txt', 'w').write('\n'.join(out) + '\n')
print(dict(kinds), 'causes', len(groups), 'left module cycles', left, 'undecided', [k for k in groups if k[0] == '?'])
