import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { openDatabase } from '../db/database.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { type Filter, type FilterColumn, filterSql, matches } from './filter.ts';

const testDb = await testDatabase('empty');
const db = await openDatabase({ connection: testDb.connection, clock: systemClock, log: silentLog });
afterAll(async () => {
  await db.close();
  await testDb.drop();
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
  text.map((value) => [value]),
  fc
    .tuple(
      text,
      fc.array(
        text.filter((value) => value !== ''),
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

async function matchingIndexes(filter: Filter, items: Item[]): Promise<number[]> {
  const values: unknown[] = [
    items.map((item) => item.type),
    items.map((item) => item.name),
    items.map((item) => item.user),
  ];
  const condition = filterSql(filter, COLUMNS, (value) => `$${values.push(value)}`);
  if (condition === null) return [];
  const rows = await db.query<{ number: number }>(
    `SELECT number FROM (
       SELECT type, name COLLATE "C" AS name, person COLLATE "C" AS person, number
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS item_row (type, name, person, number)
     ) item WHERE ${condition} ORDER BY number`,
    values,
  );
  return rows.map((row) => row.number - 1);
}

test('matches the same rows in the database as in memory, for any filter and values', async () => {
  await fc.assert(
    fc.asyncProperty(filter, items, async (filter, items) => {
      const expected = items.flatMap(({ type, name, user }, index) =>
        matches(filter, { type, name: name ?? undefined, user: user ?? undefined }) ? [index] : [],
      );
      expect(await matchingIndexes(filter, items)).toEqual(expected);
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
