import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The declared order of the modules. A module imports the public API of modules before it, and platform/. */
const MODULES = [
  'workspace',
  'webhooks',
  'users',
  'ingest',
  'audiences',
  'drafts',
  'sending',
  'rendering',
  'rules',
  'outcomes',
  'processing',
  'delivery',
  'inbound',
  'explain',
  'review',
  'templates',
  'imports',
  'profiles',
  'search',
  'sandbox',
  'administration',
  'operations',
];

type Imports = Map<string, string[]>;

/** Matches static imports and re-exports, and dynamic imports of a literal path. */
const SPECIFIER =
  /^(?:import|export)\s[^;'"`]*?\bfrom\s*'(\.[^'\n]+)'|^import\s*'(\.[^'\n]+)'|\bimport\(\s*'(\.[^'\n]+)'\s*\)/gm;

/**
 * Files that main/ may import beside index.ts, because it registers routes and metrics. No index.ts exports them, so that a command
 * which uses a module does not load a web server.
 */
const REGISTERED = /(?:^|[/-])(?:routes|endpoints|mount)\.ts$|\/metrics\//;

function readImports(): Imports {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  return new Map(files.map((file) => [file, importsOf(file, readSource(file))]));
}

function readSource(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8');
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(SPECIFIER)].map((match) =>
    posix.join(posix.dirname(file), match[1] ?? match[2] ?? match[3] ?? ''),
  );
}

type Area = { kind: 'platform' | 'main' | 'module' | 'none'; module: string };

function areaOf(file: string): Area {
  const [top = '', module = ''] = file.split('/');
  if (top === 'platform' || top === 'main') return { kind: top, module: '' };
  return top === 'modules' ? { kind: 'module', module } : { kind: 'none', module: '' };
}

/** Returns the rule that an import breaks, or null if it is allowed. */
function broken(from: string, to: string): string | null {
  if (to.startsWith('..'))
    return to.includes('testing/') ? 'only tests import testing/' : 'import a package by its name';
  const [a, b] = [areaOf(from), areaOf(to)];
  if (a.kind === 'none' || b.kind === 'none') return 'every file is in main/, modules/ or platform/';
  if ((a.kind === b.kind && a.module === b.module) || b.kind === 'platform') return null;
  if (a.kind === 'platform') return 'platform/ knows no module';
  return b.kind === 'main' ? 'only main/ imports main/' : brokenByModule(a, b, to);
}

function brokenByModule(from: Area, to: Area, file: string): string | null {
  const isPublic = file === `modules/${to.module}/index.ts`;
  if (from.kind === 'main') return isPublic || REGISTERED.test(file) ? null : ENTER_BY_INDEX;
  if (!isPublic) return ENTER_BY_INDEX;
  return isBefore(to, from) ? null : `${to.module} comes after ${from.module}`;
}

const ENTER_BY_INDEX = 'enter a module by its index.ts';

function isBefore(area: Area, other: Area): boolean {
  return MODULES.indexOf(area.module) < MODULES.indexOf(other.module);
}

function violations(imports: Imports): string[] {
  return [...imports].flatMap(([from, targets]) =>
    targets.flatMap((to) => {
      const rule = broken(from, to);
      return rule === null ? [] : [`${from} -> ${to}: ${rule}`];
    }),
  );
}

/** Finds the strongly connected groups of more than one node (Tarjan). Imports of types count. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  function visit(node: string): number {
    const position = index.size;
    let lowest = position;
    index.set(node, position);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (stack.includes(next)) lowest = Math.min(lowest, index.get(next) ?? lowest);
    }
    low.set(node, lowest);
    if (lowest === position) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) found.push(group.toSorted());
    }
    return lowest;
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}

const imports = readImports();

describe('modules', () => {
  test('import only platform/ and the public API of modules before them', () => {
    expect(violations(imports)).toEqual([]);
  });

  test('are all in the declared order, and the order names no other', () => {
    const found = new Set([...imports.keys()].map((file) => areaOf(file).module).filter(Boolean));
    expect([...found].toSorted()).toEqual(MODULES.toSorted());
  });

  test('have no cycle between files', () => {
    // A pattern that matches no import would find no cycle either.
    expect([...imports.values()].flat().length).toBeGreaterThan(4_000);
    expect(cycles(imports)).toEqual([]);
  });

  test('export each type name once', () => {
    const names = [...imports.keys()].flatMap((file) =>
      [...readSource(file).matchAll(/^export (?:type|class|interface|enum) (\w+)/gm)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(500);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test.each([
    ['modules/users/x.ts', '../drafts/index.ts', 'drafts comes after users'],
    ['modules/drafts/x.ts', '../users/people/store.ts', 'enter a module by its index.ts'],
    ['modules/drafts/x.ts', '../../main/config.ts', 'only main/ imports main/'],
    ['modules/drafts/x.ts', '../../../testing/servers/server.ts', 'only tests import testing/'],
    ['main/x.ts', '../../../postgres/src/home.ts', 'import a package by its name'],
    ['platform/db/x.ts', '../../modules/users/index.ts', 'platform/ knows no module'],
    ['main/x.ts', '../modules/users/people/store.ts', 'enter a module by its index.ts'],
    ['modules/drafts/x.ts', '../../features/x.ts', 'every file is in main/, modules/ or platform/'],
  ])('reject %s -> %s', (file, specifier, rule) => {
    const planted = importsOf(file, `import { a } from '${specifier}';\n`);
    expect(planted.map((to) => broken(file, to))).toEqual([rule]);
  });

  test.each([
    ['modules/drafts/x.ts', '../users/index.ts'],
    ['modules/drafts/x.ts', './store.ts'],
    ['modules/drafts/x.ts', '../../platform/db/database.ts'],
    ['main/x.ts', '../modules/ingest/activity/feed-routes.ts'],
  ])('allow %s -> %s', (file, specifier) => {
    expect(importsOf(file, `import { a } from '${specifier}';\n`).map((to) => broken(file, to))).toEqual([
      null,
    ]);
  });

  test('finds a planted cycle', () => {
    const planted = new Map([
      ['a.ts', ['b.ts']],
      ['b.ts', ['c.ts']],
      ['c.ts', ['a.ts']],
    ]);
    expect(cycles(planted)).toEqual([['a.ts', 'b.ts', 'c.ts']]);
  });
});
