import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { parseJson } from '../text/parse-json.ts';
import { jsonList, jsonListSql, momentList, textList } from './list.ts';

const db = await openTestDatabase(fixedClock());

async function readBack(sql: string, value: string): Promise<unknown> {
  const [row] = await db.query<{ list: unknown }>(`SELECT to_jsonb(${sql}) AS list`, [value]);
  return row?.list;
}

const text = fc
  .string({ unit: fc.oneof(fc.constantFrom('"', '\\', ',', '{', '}', ' ', '\n', 'NULL'), fc.string()) })
  .map((value) => value.toWellFormed().replaceAll('\0', ''));

describe('array parameters', () => {
  test('textList keeps every text and null', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
        expect(await readBack('$1::text[]', textList(values))).toEqual(values);
      }),
      { numRuns: 200 },
    ));

  test('jsonList keeps every JSON value', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)))),
        async (values) => {
          const list = await readBack(
            jsonListSql('$1'),
            jsonList(values.map((value) => JSON.stringify(value))),
          );
          expect(list).toEqual(parseJson(JSON.stringify(values)));
        },
      ),
      { numRuns: 200 },
    ));

  test('momentList keeps the first and the last moment that a row can hold', async () => {
    const moments = [Date.parse('0000-12-31T00:00:00Z'), 0, 0, null, Date.parse('+010000-01-02T00:00:00Z')];
    const [row] = await db.query<{ ms: (number | null)[] }>(
      `SELECT array_agg(date_part('epoch', at) * 1000) AS ms FROM unnest($1::timestamptz[]) AS at`,
      [momentList(moments)],
    );
    expect(row?.ms).toEqual(moments);
  });
});
