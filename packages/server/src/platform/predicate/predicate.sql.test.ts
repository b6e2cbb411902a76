import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { parseInstant } from '../time/time-text.ts';
import {
  condition,
  document,
  VERSION_IDS,
  factsOf,
  moment,
  NOW,
  person,
  type Person,
} from '../../../testing/oracles/predicates.ts';
import { evaluate } from './evaluate.ts';
import { parsePredicate } from './parse.ts';
import type { Predicate } from './predicate.ts';
import { resultSql } from './result-sql.ts';
import { predicateSql } from './sql.ts';
import { sqlParams, windowSumSql } from './sql-values.ts';

const db = await openTestDatabase(fixedClock(NOW));
beforeAll(async () => {
  // A partition boundary within the test data, like that of a month.
  await db.query(
    `CREATE TABLE beckon.event_old PARTITION OF beckon.event FOR VALUES FROM ('2000-01-01Z') TO ('2026-01-09Z')`,
  );
  await db.query(
    `CREATE TABLE beckon.event_new PARTITION OF beckon.event FOR VALUES FROM ('2026-01-09Z') TO ('2030-01-01Z')`,
  );
});

/** The same names in every project, so that a query that reads another project returns wrong answers. */
const nameOf = (i: number): string => `u${i}`;
const iso = (ms: number): string => new Date(ms).toISOString();

const COLUMNS = { name: 'name', plan: 'plan', signupDate: 'signup_date', company: 'company', role: 'role' };

/** Builds the row as the users module writes it: a sign-up date that is not a moment stays among the other traits. */
function personRow({ traits }: Person, i: number): object {
  const inColumn = (key: string, value: unknown): boolean =>
    Object.hasOwn(COLUMNS, key) &&
    typeof value === 'string' &&
    (key !== 'signupDate' || !Number.isNaN(parseInstant(value)));
  const entries = Object.entries(traits);
  const columns = entries
    .filter(([key, value]) => inColumn(key, value))
    .map(([key, value]) => [COLUMNS[key as keyof typeof COLUMNS], value]);
  return {
    ...Object.fromEntries(columns),
    external_user_id: nameOf(i),
    traits: Object.fromEntries(entries.filter(([key, value]) => !inColumn(key, value))),
    first_seen_at: iso(NOW),
    last_seen_at: iso(NOW),
  };
}

async function insert(table: string, projectId: number, rows: object[]): Promise<void> {
  await db.query(
    `INSERT INTO beckon.${table} SELECT * FROM jsonb_populate_recordset(NULL::beckon.${table}, $1::jsonb)`,
    [JSON.stringify(rows.map((row) => ({ ...row, project_id: projectId })))],
  );
}

async function insertPeople(projectId: number, people: Person[]): Promise<void> {
  const each = <T>(rowsOf: (user: Person) => T[]): (T & { external_user_id: string })[] =>
    people.flatMap((user, i) => rowsOf(user).map((row) => ({ ...row, external_user_id: nameOf(i) })));
  await insert('person', projectId, people.map(personRow));
  await insert(
    'person_email',
    projectId,
    each(({ email }) => (email === null ? [] : [{ email, email_lower: email.toLowerCase() }])),
  );
  await insert(
    'event',
    projectId,
    each(({ events }) =>
      events.map(({ name, properties, occurredAt, receivedAt }) => ({
        id: randomUUID(),
        name,
        properties,
        occurred_at: iso(occurredAt),
        received_at: iso(receivedAt),
        accepted_at: iso(receivedAt),
        seq: 1,
        suppressed: false,
      })),
    ),
  );
  await insert(
    'person_event',
    projectId,
    each(({ totals }) =>
      [...totals].map(([name, { count, firstAt, lastAt }]) => ({
        name,
        count,
        first_at: iso(firstAt),
        last_at: iso(lastAt),
      })),
    ),
  );
  await insert(
    'audience_member',
    projectId,
    each(({ versionIds }) => versionIds.map((versionId) => ({ version_id: versionId, since: iso(NOW) }))),
  );
}

async function queryDatabase(
  projectId: number,
  now: number,
  predicate: Predicate,
): Promise<{ id: string; holds: boolean | null; until: number | null }[]> {
  const params = sqlParams([projectId, new Date(now)]);
  const context = {
    params,
    projectId: '$1',
    now: '$2',
    versionId: (audienceId: string) => VERSION_IDS.get(audienceId) ?? null,
  };
  const people = `(SELECT * FROM beckon.person WHERE project_id = $1 AND $2::timestamptz IS NOT NULL)`;
  const holds = predicateSql(predicate, context);
  const rows = await db.query<{ id: string; holds: boolean; matches: boolean; until: number | null }>(
    `SELECT p.external_user_id AS id, ${holds} AS holds, r.matches, (extract(epoch FROM r.until) * 1000)::float8 AS until
     FROM ${people} p JOIN (${resultSql(predicate, context, people)}) r USING (external_user_id)
     ORDER BY substr(external_user_id, 2)::int`,
    params.values,
  );
  // Both queries give the same answer, and a difference shows as null.
  return rows.map(({ id, holds, matches, until }) => ({
    id,
    holds: holds === matches ? holds : null,
    until,
  }));
}

function predicateOf(definition: object): Predicate {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(`${JSON.stringify(definition)}: ${JSON.stringify(parsed.faults)}`);
  return parsed.predicate;
}

let lastProjectId = 0;
const tally = { yes: 0, no: 0, mixed: 0, compared: 0, ending: 0 };

async function compare(people: Person[], cases: { given: object; now: number }[]): Promise<void> {
  lastProjectId += 1;
  const projectId = lastProjectId;
  await insertPeople(projectId, people);
  for (const { given, now } of cases) {
    const predicate = predicateOf(given);
    const expected = people.map((user, i) => {
      const { matches, until } = evaluate(predicate, factsOf(user, now));
      return { id: nameOf(i), holds: matches, until };
    });
    const got = await queryDatabase(projectId, now, predicate);
    const wrong = got.findIndex(
      ({ holds, until }, i) => holds !== expected[i]?.holds || until !== expected[i]?.until,
    );
    const about = `${JSON.stringify(given)} at ${iso(now)} of ${JSON.stringify(people[wrong])}`;
    expect(got, about).toEqual(expected);
    const yes = expected.filter(({ holds }) => holds).length;
    tally.yes += yes;
    tally.no += expected.length - yes;
    tally.mixed += yes > 0 && yes < expected.length ? 1 : 0;
    tally.compared += 1;
    tally.ending += expected.filter(({ until }) => until !== null).length;
  }
}

const casesOf = (given: fc.Arbitrary<object>) =>
  fc.array(fc.record({ given, now: fc.oneof(fc.constant(NOW), moment) }), { minLength: 60, maxLength: 60 });
const people = fc.array(person, { minLength: 60, maxLength: 60 });

test.each([
  ['a condition', condition],
  ['conditions put together', document],
])('the SQL of %s agrees with evaluate for every user', async (_, definitions) => {
  // Shrinking would take longer than the test may; the message names the predicate and the user.
  await fc.assert(fc.asyncProperty(people, casesOf(definitions), compare), {
    numRuns: 6,
    endOnFailure: true,
  });
});

test('the generated predicates divide the users', () => {
  expect(tally.compared).toBeGreaterThanOrEqual(720);
  expect(Math.min(tally.yes, tally.no)).toBeGreaterThan((tally.yes + tally.no) * 0.15);
  expect(tally.mixed).toBeGreaterThan(tally.compared * 0.4);
  expect(tally.ending).toBeGreaterThan((tally.yes + tally.no) * 0.05);
});

const TRIAL = { trait: 'plan', equals: 'trial' };
const EVIL = `x'); DROP TABLE beckon.person; --$1`;

test('passes user input only as parameters', () => {
  const texts = [
    { trait: EVIL, equals: EVIL },
    { trait: EVIL, one_of: [EVIL] },
    { trait: EVIL, includes: EVIL },
    { user: 'email', contains: EVIL },
    { event: EVIL, within: '7d', where: [{ property: EVIL, starts_with: EVIL }] },
    { event: EVIL, sum: EVIL, at_least: 1, within: '7d' },
    { event: EVIL, last: { in_last: '7d' } },
    { event: EVIL },
  ];
  const params = sqlParams([1, 2]);
  const context = { params, projectId: '$1', now: '$2', versionId: () => null };
  expect(predicateSql(predicateOf({ all: texts }), context)).not.toContain('DROP');
  expect(params.values.flat().filter((value) => value === EVIL)).toHaveLength(14);
});

test('treats a sign-up date that is not a moment as text', async () => {
  const texts = ['2026-01-31 10:00:00', 'yesterday', '2026-01-31'];
  const everyone = texts.map((signupDate) => ({
    traits: { signupDate },
    email: null,
    events: [],
    totals: new Map(),
    versionIds: [],
  }));
  const cases = texts.flatMap((text) => [
    { given: { trait: 'signupDate', equals: text }, now: NOW },
    { given: { trait: 'signupDate', one_of: [text, 'never'] }, now: NOW },
    { given: { trait: 'signupDate', contains: text.slice(0, 7) }, now: NOW },
  ]);
  await compare(everyone, cases);
});

test('evaluates the first and the last representable day', async () => {
  const texts = ['0001-01-01', '0001-01-01T00:00:00+14:59', '9999-12-31', '9999-12-31T23:59:59.999-14:59'];
  const everyone = texts.map((signupDate) => ({
    traits: { signupDate },
    email: null,
    events: [],
    totals: new Map(),
    versionIds: [],
  }));
  const cases = texts.flatMap((text) => [
    { given: { trait: 'signupDate', before: text }, now: NOW },
    { given: { trait: 'signupDate', after: text }, now: NOW },
    { given: { not: { trait: 'signupDate', in_last: '366d' } }, now: NOW },
  ]);
  await compare(everyone, cases);
});

test('sums decimally, and clamps values beyond the range of a double', async () => {
  const sumOf = async (...amounts: string[]): Promise<unknown> => {
    const params = sqlParams([amounts]);
    const { sum } = windowSumSql('amount', { params, now: 'now()', properties: 'e.properties' });
    const rows = await db.query<{ sum: unknown }>(
      `SELECT ${sum} AS sum FROM unnest($1::text[]) AS t (amount),
         LATERAL (SELECT jsonb_build_object('amount', t.amount::jsonb) AS properties) AS e`,
      params.values,
    );
    return rows[0]?.sum;
  };
  expect(await sumOf()).toBe(0);
  expect(await sumOf('0.1', '0.7', '"5"', 'null')).toBe(0.8);
  expect(await sumOf('1e308', '1e308')).toBe(1.7e308);
  expect(await sumOf('-1e308', '-1e308')).toBe(-1.7e308);
  expect(await sumOf('2.2250738585072014e-308', '-2.2250738585072013e-308')).toBe(0);
});

const digits = (min: number, max: number, length: number) =>
  fc.integer({ min, max }).map((n) => String(n).padStart(length, '0'));
const dateText = fc
  .tuple(digits(0, 9_999, 4), digits(0, 13, 2), digits(0, 32, 2))
  .map((parts) => parts.join('-'));
const timeText = fc
  .tuple(digits(0, 25, 2), digits(0, 61, 2), digits(0, 61, 2))
  .map((parts) => parts.join(':'));
const fraction = fc.option(digits(0, 9_999_999_999, 1), { nil: undefined });
const zone = fc.oneof(
  fc.constantFrom('Z', 'z', '', '+00:00', '-00:00', ' Z', '+14:59', '-14:59', '+15:00'),
  fc
    .tuple(fc.constantFrom('+', '-', '\u2212'), digits(0, 16, 2), digits(0, 61, 2))
    .map(([sign, h, m]) => `${sign}${h}:${m}`),
);
const timestampText = fc
  .tuple(dateText, fc.constantFrom('T', 't', ' '), timeText, fraction, zone)
  .map(([date, t, time, part, at]) => `${date}${t}${time}${part === undefined ? '' : `.${part}`}${at}`);
const sensibleText = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .chain((date) => fc.constantFrom(date.toISOString(), date.toISOString().slice(0, 10)));
const nastyText = fc.constantFrom(
  '',
  ' 2026-01-15',
  '2026-01-15\n',
  '2026-01-15T12:00Z',
  '2026-01-15T12:00:00',
  '2026-01-15T24:00:00Z',
  '2026-01-15T23:59:60Z',
  '2026-01-15T12:00:00.Z',
  '2026-01-15T12:00:00,5Z',
  '2026-01-15T12:00:00.1234567890Z',
  '2026-01-15T12:00:00Z[UTC]',
  '1969-12-31T23:59:59.9999Z',
  '1900-02-29',
  '2000-02-29',
  '2100-02-29T00:00:00Z',
  '2024-02-29T23:59:59.999+14:59',
  '+002026-01-15',
  '-000001-01-15',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:59',
  '9999-12-31T23:59:59.999999999-14:59',
  '٢٠٢٦-٠١-١٥',
  '２０２６-01-15',
  'infinity',
  'now',
);

test('beckon.instant accepts the same texts for the same moments as parseInstant', async () => {
  const text = fc.oneof(timestampText, dateText, sensibleText, nastyText, fc.string({ unit: 'binary' }));
  const texts = fc
    .array(text, { minLength: 500, maxLength: 500 })
    .map((all) => all.filter((value) => value.isWellFormed() && !value.includes('\0')));
  let moments = 0;
  const property = fc.asyncProperty(texts, async (list) => {
    const rows = await db.query<{ text: string; at: number | null }>(
      `SELECT text, (extract(epoch FROM beckon.instant(text COLLATE "C")) * 1000)::float8 AS at
       FROM unnest($1::text[]) WITH ORDINALITY AS t (text, i) ORDER BY i`,
      [list],
    );
    const expected = list.map((value) => ({ text: value, at: nullIfNaN(parseInstant(value)) }));
    expect(rows).toEqual(expected);
    moments += expected.filter(({ at }) => at !== null).length;
  });
  await fc.assert(property, { numRuns: 20, endOnFailure: true });
  expect(moments).toBeGreaterThan(2_000);
});

function nullIfNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

test('accepts a trait that consists of digits of another script', async () => {
  const user = {
    traits: { renewsAt: '٢٠٢٦-٠١-١٥' },
    email: null,
    events: [],
    totals: new Map(),
    versionIds: [],
  };
  await compare([user], [{ given: { any: [TRIAL, { trait: 'renewsAt', in_next: '7d' }] }, now: NOW }]);
});
