import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { openDatabase } from '../db/database.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import { type Filter, type FilterColumn, filterSql, matches } from './filter.ts';
import { readFilter } from './parse.ts';

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

/** Zones with a day of 23, 25 and 24.5 hours, and days that begin at 01:00. */
const ZONES = ['UTC', 'Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe', 'Pacific/Kiritimati'];
const DAYS = ['2026-03-29', '2026-10-25', '2026-04-05', '2026-09-06', '2026-11-03'];

test('compares times in the database as in memory, for days of any zone', async () => {
  const at = fc
    .tuple(fc.constantFrom(...DAYS), fc.integer({ min: -1_440 * 2, max: 1_440 * 3 }))
    .map(([day, minutes]) => new Date(Date.parse(day) + minutes * 60_000).toISOString());
  const value = fc
    .tuple(fc.constantFrom('', '<', '>'), fc.oneof(fc.constantFrom(...DAYS), at))
    .map((parts) => parts.join(''));
  const term = fc
    .tuple(fc.boolean(), fc.array(value, { minLength: 1, maxLength: 3 }))
    .map(([isNegated, values]) => `${isNegated ? '-' : ''}at:${values.join(',')}`);
  const times = fc.array(fc.option(at), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ZONES),
      fc.array(term, { maxLength: 2 }),
      times,
      async (zone, terms, times) => {
        const filter = readFilter(terms.join(' '), { at: { isTime: true } }, zone);
        const values: unknown[] = [times];
        const condition = filterSql(
          filter,
          { at: { sql: 'at', isTime: true } },
          (bound) => `$${values.push(bound)}`,
        );
        const rows = await db.query<{ number: number }>(
          `SELECT number FROM unnest($1::timestamptz[]) WITH ORDINALITY AS item (at, number)
           WHERE ${condition} ORDER BY number`,
          values,
        );
        const expected = times.flatMap((time, index) =>
          matches(filter, { at: time ?? undefined }) ? [index] : [],
        );
        expect(rows.map((row) => row.number - 1)).toEqual(expected);
      },
    ),
    { numRuns: 300 },
  );
});

test('compares times as ranges of the bare column, so that an index helps', () => {
  const bound: unknown[] = [];
  const filter = readFilter('at:2026-11-03,>2026-11-05', { at: { isTime: true } }, 'Asia/Tokyo');
  const sql = filterSql(filter, { at: { sql: 'm.at', isTime: true } }, (value) => `$${bound.push(value)}`);
  expect(sql).toBe('((m.at >= $1::timestamptz AND m.at < $2::timestamptz) OR (m.at >= $3::timestamptz))');
  expect(bound).toEqual(['2026-11-02T15:00:00.000Z', '2026-11-03T15:00:00.000Z', '2026-11-05T15:00:00.000Z']);
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
