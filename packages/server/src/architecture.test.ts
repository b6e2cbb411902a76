import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TABLES } from './platform/db/tables.ts';

/** Compares ARCHITECTURE.md with the repository. `e2e/docs/links.test.ts` checks the links of all pages, so this test reads code spans. */
const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

/** The folders that paths on the page start from, by their first part. Any other path starts from the root of the repository. */
const BASES: Record<string, string> = {
  main: 'packages/server/src',
  modules: 'packages/server/src',
  platform: 'packages/server/src',
  screens: 'packages/dashboard/src',
  contract: 'packages',
};
const CONTRACT = 'packages/contract/src/dashboard';
/** Names of lint rules have a slash too. */
const LINT_RULE = /^(?:import|node|typescript)\//;
const PATH = /^(?:[\w.*{},-]+\/)+[\w.*{},-]*$/;
/** A name without a folder, such as `store.ts`, is the name of some file of the server. */
const FILE_NAME = /^[\w*-]+(?:\.test)?\.ts$/;
const WALK_FILES_MAX = 50;

function pathOf(written: string): string {
  const base = BASES[written.split('/')[0] ?? ''];
  return base === undefined ? written : posix.join(base, written);
}

function isThere(path: string): boolean {
  return /[*{]/.test(path) ? globSync(path, { cwd: ROOT }).length > 0 : existsSync(join(ROOT, path));
}

/** Returns the patterns that `{a,b}` in a path means: each of them has to match a file. */
function expanded(path: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(path);
  if (!braces) return [path];
  const [whole, list = ''] = braces;
  return list.split(',').flatMap((part) => expanded(path.replace(whole, part)));
}

function spansOf(text: string): string[] {
  return [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

function pathsInDiagrams(text: string): string[] {
  const fences = [...text.matchAll(/^```[\s\S]*?^```/gm)].map(([fence]) => fence);
  return fences.flatMap((fence) => fence.match(/\b(?:main|modules|platform)\/[a-z][\w./-]*/g) ?? []);
}

function missing(text: string): string[] {
  const spans = spansOf(text);
  const paths = spans.filter((span) => PATH.test(span) && !LINT_RULE.test(span));
  const names = spans.filter((span) => FILE_NAME.test(span));
  return [
    ...[...paths, ...pathsInDiagrams(text)].flatMap(expanded).filter((path) => !isThere(pathOf(path))),
    ...names.filter(
      (name) => !isThere(`packages/server/src/**/${name}`) && !isThere(posix.join(CONTRACT, name)),
    ),
  ];
}

function sectionOf(heading: string): string {
  const [, after] = PAGE.split(`\n${heading}\n`, 2);
  if (after === undefined) throw new Error(`there is no heading "${heading}"`);
  const level = heading.indexOf(' ');
  return after.split(new RegExp(`^#{1,${level}} `, 'm'), 1)[0] ?? '';
}

/** Returns the cells of a table without its heading and its line of dashes. */
function rowsOf(section: string): string[][] {
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function foldersOf(path: string): string[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Returns the names of the folders below `modules/` or `screens/` that a column names. */
function namedIn(column: string[], folder: string): Set<string> {
  const spans = column.flatMap(spansOf).map((span) => span.split('/'));
  return new Set(spans.flatMap(([top, name = '']) => (top === folder ? [name] : [])));
}

describe('ARCHITECTURE.md', () => {
  test('names only files that exist', () => {
    expect(missing(PAGE)).toEqual([]);
    expect(spansOf(PAGE).filter((span) => PATH.test(span)).length).toBeGreaterThan(200);
    expect(pathsInDiagrams(PAGE).length).toBeGreaterThan(15);
  });

  test('lists the modules in the order that modules.test.ts declares', () => {
    const declared = readFileSync(join(import.meta.dirname, 'modules.test.ts'), 'utf8');
    const list = /const MODULES = \[([^\]]*)\]/.exec(declared)?.[1] ?? '';
    const order = [...list.matchAll(/'([a-z-]+)'/g)].map(([, name]) => name);
    const rows = rowsOf(sectionOf('### Modules in their order'));
    expect(rows.map(([module = '']) => spansOf(module)[0])).toEqual(order);
    const picture = /^modules\/ ([\s\S]*?)^ {3}▼/m.exec(sectionOf('## The server'))?.[1] ?? '';
    const drawn = picture.split('a module imports')[0]?.match(/[a-z]+/g);
    expect(drawn).toEqual(order);
  });

  test('names each table once, beside the module that writes it', () => {
    const rows = rowsOf(sectionOf('### Modules in their order'));
    const owners = rows.map(([module = '', , tables = '']) => ({
      module: spansOf(module)[0] ?? '',
      // An exception to a pattern, such as "`team_*` except `team_digest`", is a table of another module.
      tables: spansOf(tables.replaceAll(/ except `\w+`/g, '')),
    }));
    const outside = ['project_lock', 'project_timer', 'installation'];
    const wrong = TABLES.map(({ name }) => name)
      .filter((name) => !outside.includes(name))
      .flatMap((name) => {
        const exact = owners.filter(({ tables }) => tables.includes(name));
        const byPattern = owners.filter(({ tables }) => tables.some((pattern) => fits(pattern, name)));
        const found = (exact.length > 0 ? exact : byPattern).map(({ module }) => module);
        const isRight = found.length === 1 && writes(found[0] ?? '', name);
        return isRight ? [] : [`${name}: ${found.join(', ') || 'no module'}`];
      });
    expect(wrong).toEqual([]);
  });

  test('has every module, screen and contract file in the table of capabilities, with existing pages', () => {
    const rows = rowsOf(sectionOf('## Capabilities').split('### ', 1)[0] ?? '');
    const column = (index: number): string[] => rows.map((row) => row[index] ?? '');
    const files = column(3)
      .flatMap(spansOf)
      .filter((span) => !span.includes('/'));
    const named = {
      modules: [...namedIn(column(1), 'modules')].toSorted(),
      screens: [...namedIn(column(2), 'screens')].toSorted(),
      contract: [...new Set(files)].toSorted(),
    };
    expect(named).toEqual({
      modules: foldersOf('packages/server/src/modules').toSorted(),
      screens: foldersOf('packages/dashboard/src/screens').toSorted(),
      contract: globSync('*.ts', { cwd: join(ROOT, CONTRACT) })
        .filter((file) => !file.endsWith('.test.ts'))
        .toSorted(),
    });
    const pages = column(4).map((cell) =>
      [...cell.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target),
    );
    expect(pages.filter((targets) => targets.length === 0)).toEqual([]);
    expect(pages.flat().filter((target) => !target.startsWith('docs/') || !isThere(target))).toEqual([]);
  });

  test.each(['From `external_user_id` in a request to the email', 'From the id of a draft to the webhook'])(
    'has a walk of at most 50 existing files, each once: %s',
    (heading) => {
      const files = spansOf(sectionOf(`### ${heading}`))
        .filter((span) => PATH.test(span))
        .flatMap(expanded);
      expect(files.length).toBeGreaterThan(20);
      expect(new Set(files).size).toBeLessThanOrEqual(WALK_FILES_MAX);
      expect(files.filter((file) => !/\.tsx?$/.test(file) || !isThere(pathOf(file)))).toEqual([]);
      const twice = files.filter((file, i) => files.indexOf(file) !== i);
      expect(twice).toEqual([]);
    },
  );

  test('is checked by patterns that find what is missing', () => {
    const planted = [
      '`modules/nothing/store.ts` `modules/drafts/{transitions,nothing}.ts` `flows/accept` `nothing.ts`',
      '```',
      'modules/drafts/gone.ts   text',
      '```',
      '`modules/drafts/{transitions,draft}.ts` `main/wire*.ts` `import/no-cycle` `/docs` `store.ts` `a b/c`',
    ].join('\n');
    expect(missing(planted)).toEqual([
      'modules/nothing/store.ts',
      'modules/drafts/nothing.ts',
      'flows/accept',
      'modules/drafts/gone.ts',
      'nothing.ts',
    ]);
  });
});

function fits(pattern: string, table: string): boolean {
  return pattern.endsWith('*') && table.startsWith(pattern.slice(0, -1));
}

function writes(module: string, table: string): boolean {
  const statement = new RegExp(`(?:INSERT INTO|UPDATE|DELETE FROM) beckon\\.${table}\\b`);
  const stores = globSync(`modules/${module}/**/*store.ts`, { cwd: import.meta.dirname });
  return stores.some((file) => statement.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
}
