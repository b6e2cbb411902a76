import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testkit/database.ts';
import { openDatabase } from '../db/database.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { type Filter, type FilterColumn, filterSql, matches } from './filter.ts';

const own = await testDatabase('empty');
const db = await openDatabase({ connection: own.connection, clock: systemClock, log: silentLog });
afterAll(async () => {
  await db.close();
  await own.drop();
});

type Item = { type: string; name: string | null; user: string | null };

const TYPES = ['event', 'request', 'user_created'];
const COLUMNS: Record<string, FilterColumn> = {
  type: { sql: 'type', among: TYPES },
  name: { sql: 'name' },
  user: { sql: 'person' },
};

const text = fc.string({
  unit: fc.constantFrom('a', 'b', '%', '_', '!', '\\', "'", '*', 'é', '😀'),
  maxLength: 4,
});
const maybe = fc.option(text);
const items: fc.Arbitrary<Item[]> = fc.array(
  fc.record({ type: fc.constantFrom(...TYPES), name: maybe, user: maybe }),
  { maxLength: 8 },
);
const pattern = fc.oneof(
  text.map((one) => [one]),
  fc
    .tuple(
      text,
      fc.array(
        text.filter((one) => one !== ''),
        { maxLength: 2 },
      ),
      text,
    )
    .map((parts) => parts.flat()),
);
const term = fc.record({
  key: fc.constantFrom('type', 'name', 'user', 'absent'),
  negated: fc.boolean(),
  values: fc.array(fc.oneof(pattern, fc.constantFrom<string[][]>(['event'], ['person_', ''])), {
    minLength: 1,
    maxLength: 3,
  }),
});
const filter: fc.Arbitrary<Filter> = fc.record({ terms: fc.array(term, { maxLength: 3 }) });

async function found(given: Filter, among: Item[]): Promise<number[]> {
  const values: unknown[] = [
    among.map((item) => item.type),
    among.map((item) => item.name),
    among.map((item) => item.user),
  ];
  const condition = filterSql(given, COLUMNS, (value) => `$${values.push(value)}`);
  if (condition === null) return [];
  const rows = await db.query<{ number: number }>(
    `SELECT number FROM (
       SELECT type, name COLLATE "C" AS name, person COLLATE "C" AS person, number
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (type, name, person, number)
     ) item WHERE ${condition} ORDER BY number`,
    values,
  );
  return rows.map((row) => row.number - 1);
}

test('matches the same rows in the database as in memory, for any filter and values', async () => {
  await fc.assert(
    fc.asyncProperty(filter, items, async (given, among) => {
      const expected = among.flatMap(({ type, name, user }, index) =>
        matches(given, { type, name: name ?? undefined, user: user ?? undefined }) ? [index] : [],
      );
      expect(await found(given, among)).toEqual(expected);
    }),
    { numRuns: 600 },
  );
});

test('decides impossible filters without a query, and passes user input only as parameters', () => {
  const nothing = (): string => {
    throw new Error('nothing to bind');
  };
  const term = (key: string, ...values: string[][]) => ({ key, negated: false, values });
  expect(filterSql({ terms: [term('type', ['nothing'])] }, COLUMNS, nothing)).toBeNull();
  expect(filterSql({ terms: [term('name', ['x']), term('absent', ['', ''])] }, COLUMNS, nothing)).toBeNull();
  expect(filterSql({ terms: [term('type', ['', ''])] }, COLUMNS, nothing)).toBe('true');
  const bound: unknown[] = [];
  const bind = (value: unknown): string => `$${bound.push(value)}`;
  const sql = filterSql({ terms: [term('name', ['x'], ["50%'", '_!'])] }, COLUMNS, bind);
  expect(sql).toBe(`(name = $2::text OR name LIKE $1::text ESCAPE '!')`);
  expect(bound).toEqual(["50!%'%!_!!", 'x']);
});
