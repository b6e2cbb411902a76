import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { parseSync } from 'rolldown/utils';
import { afterAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../packages/server/testing/factories/database.ts';
import { LATE } from './bench/rules/claims.ts';
import { STATEMENTS } from './faults/oracle/read-rows.ts';
import { ROW_CHECKS } from './faults/oracle/row-checks.ts';

/**
 * Most harnesses of `verification`, `scripts` and `e2e` take minutes or hours, so no test runs them. A renamed table or column would break
 * them unnoticed. These tests let PostgreSQL parse their statements against the present schema instead.
 */
const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('{verification,scripts,e2e}/**/*.ts', { cwd: ROOT }).filter(
  (path) => !path.includes('node_modules') && !path.endsWith('sql.test.ts'),
);
const STATEMENT = /^\s*(?:WITH|SELECT|INSERT INTO|UPDATE|DELETE FROM)\s[^;]*$/;
const STATEMENT_BEGIN = /^\s*(?:WITH|SELECT|INSERT INTO|UPDATE|DELETE FROM)\s/;
/** PostgreSQL found all names, but only the values of an execution show the type of a parameter. */
const INDETERMINATE_DATATYPE = '42P18';

const database = await testDatabase();
const client = new pg.Client({ connectionString: database.url });
await client.connect();
await client.query('SET search_path = beckon');
afterAll(async () => {
  await client.end();
  await database.drop();
});

type Node = { type: string } & Record<string, unknown>;
type Sql = { file: string; text: string };

const programs = FILES.map((file) => {
  const code = readFileSync(join(ROOT, file), 'utf8');
  const program = parseSync(file, code, { lang: 'ts' }).program as unknown as Node;
  return { file, program, constants: constantsOf(program) };
});

const statements: Sql[] = programs.flatMap(({ file, program, constants }) =>
  textsIn(program, constants)
    .filter((text) => STATEMENT.test(text))
    .map((text) => ({ file, text })),
);

/** Statements with calls or parameters, as their modules build them. */
const built: Sql[] = [
  ...Object.values(STATEMENTS).map((text) => ({ file: 'verification/faults/oracle/read-rows.ts', text })),
  ...ROW_CHECKS.map(({ rows }) => ({
    file: 'verification/faults/oracle/row-checks.ts',
    text: rows(`'-infinity'::timestamptz`),
  })),
  { file: 'verification/bench/rules/claims.ts', text: LATE },
];

describe('SQL statements outside the product', () => {
  test('are found', () => {
    expect(statements.length).toBeGreaterThan(100);
  });

  test('use tables and columns of the schema', async () => {
    const failures: string[] = [];
    for (const { file, text } of [...statements, ...built]) {
      const failure = await failureOf(text);
      if (failure !== null) failures.push(`${file}: ${failure} in ${text.trim().slice(0, 200)}`);
    }
    expect(failures).toEqual([]);
  });

  // No test parses these templates, except those that `built` has. A new file needs an entry there, or names that only a run knows.
  test('are built from calls or parameters only in these files', () => {
    const skipped = programs.filter(({ program, constants }) => skippedIn(program, constants).length > 0);
    expect(skipped.map(({ file }) => file).toSorted()).toEqual([
      'e2e/dashboard/keyboard.test.ts',
      'verification/attacks/cost/world.ts',
      'verification/attacks/s02-isolation.ts',
      'verification/bench/audiences/build.ts',
      'verification/bench/processing/baseline.ts',
      'verification/bench/processing/standing.ts',
      'verification/bench/rules/baseline.ts',
      'verification/bench/rules/claims.ts',
      'verification/bench/scale/many-projects.ts',
      'verification/bench/send/throughput.ts',
      'verification/bench/whole/baseline.ts',
      'verification/bench/world.ts',
      'verification/faults/oracle/read-rows.ts',
      'verification/faults/oracle/row-checks.test.ts',
      'verification/faults/oracle/row-checks.ts',
      'verification/faults/stage/settle.ts',
    ]);
  });
});

/** The schema `bare` exists only during a benchmark: it holds copies of the product's tables. */
async function failureOf(text: string): Promise<string | null> {
  try {
    await client.query(`PREPARE checked AS ${text.replaceAll(/\bbare\./g, 'beckon.')}`);
    await client.query('DEALLOCATE checked');
    return null;
  } catch (error) {
    const { code, message } = error as pg.DatabaseError;
    return code === INDETERMINATE_DATATYPE ? null : message;
  }
}

/** Returns the module's string constants, which templates of the same file include. */
function constantsOf(program: Node): Map<string, string> {
  const constants = new Map<string, string>();
  for (const statement of program['body'] as Node[]) {
    const declaration = (statement['declaration'] ?? statement) as Node;
    if (declaration.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration['declarations'] as { id: Node; init: Node | null }[]) {
      const text = init && textOf(init, constants);
      if (typeof text === 'string') constants.set(String(id['name']), text);
    }
  }
  return constants;
}

function textsIn(node: unknown, constants: ReadonlyMap<string, string>): string[] {
  if (Array.isArray(node)) return node.flatMap((item) => textsIn(item, constants));
  if (typeof node !== 'object' || node === null) return [];
  const text = textOf(node as Node, constants);
  if (text !== null) return [text];
  return Object.values(node).flatMap((value) => textsIn(value, constants));
}

/** Returns the beginnings of statements whose text only an execution knows. */
function skippedIn(node: unknown, constants: ReadonlyMap<string, string>): string[] {
  if (Array.isArray(node)) return node.flatMap((item) => skippedIn(item, constants));
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap((value) => skippedIn(value, constants));
  if ((node as Node).type !== 'TemplateLiteral' || textOf(node as Node, constants) !== null) return inner;
  const [first] = (node as Node)['quasis'] as { value: { cooked: string } }[];
  const begin = first?.value.cooked ?? '';
  return STATEMENT_BEGIN.test(begin) ? [begin, ...inner] : inner;
}

/** Returns null for other nodes, and for templates with values that only an execution knows. */
function textOf(node: Node, constants: ReadonlyMap<string, string>): string | null {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : null;
  if (node.type !== 'TemplateLiteral') return null;
  const quasis = node['quasis'] as { value: { cooked: string } }[];
  const values = (node['expressions'] as Node[]).map(({ name }) => constants.get(String(name)));
  if (values.includes(undefined)) return null;
  return quasis.map(({ value }, index) => value.cooked + (values[index] ?? '')).join('');
}
