import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FILTER_KEYS, type FilterKeys, type ListName } from '@beckon/contract/dashboard';
import { ENDPOINT, type ListRow, openLists } from '../../../../testing/factories/lists.ts';

const { db, dashboard, projectId, rowsOf } = await openLists();
afterAll(() => dashboard.close());

/** The path of each list with times, and the field of a row that each of its keys compares. */
const TIMES: Partial<Record<ListName, { path: string; keys: Record<string, string> }>> = {
  users: { path: 'users', keys: { seen: 'last_seen_at', first_seen: 'first_seen_at' } },
  emails: { path: 'emails', keys: { sent: 'claimed_at', ended: 'ended_at' } },
  test_inbox: { path: 'test-inbox', keys: { received: 'at' } },
  replies: { path: 'replies', keys: { received: 'received_at' } },
  topics: { path: 'suppressions/topics', keys: { since: 'created_at' } },
  endpoints: { path: 'webhooks', keys: { created: 'created_at' } },
  deliveries: { path: 'webhook-deliveries', keys: { created: 'created_at' } },
  suppressions: { path: 'suppressions', keys: { since: 'created_at' } },
  audit: { path: 'audit', keys: { at: 'at' } },
  audience_members: { path: 'audiences/Pro/members', keys: { since: 'since' } },
  runs: { path: 'rules/welcome/runs', keys: { enrolled: 'enrolled_at', next: 'next_at' } },
  domains: { path: 'domains', keys: { added: 'created_at' } },
  keys: { path: 'keys', keys: { created: 'created_at', used: 'last_used_at' } },
  team: { path: 'members', keys: { joined: 'joined_at' } },
  drafts: { path: 'drafts', keys: { deadline: 'deadline_at' } },
  decided: { path: 'review/decided', keys: { at: 'at' } },
};

describe('days in a filter', () => {
  /** Most rows are of the first hours of a day in UTC: in this zone, half of them are of the day before. */
  const ZONE = 'America/Sao_Paulo';
  const dayIn = (time: unknown): string =>
    Temporal.Instant.from(String(time)).toZonedDateTimeISO(ZONE).toPlainDate().toString();
  beforeAll(() =>
    db.query(`UPDATE beckon.project_settings SET settings = settings || $2 WHERE project_id = $1`, [
      projectId,
      JSON.stringify({ time_zone: ZONE }),
    ]),
  );

  test('are declared for each key with times', () => {
    const keys = Object.entries<FilterKeys>(FILTER_KEYS).flatMap(([list, of]) =>
      Object.entries(of).flatMap(([key, { isTime }]) => (isTime ? [`${list} ${key}`] : [])),
    );
    const tested = Object.entries(TIMES).flatMap(([list, { keys: tested }]) =>
      Object.keys(tested).map((key) => `${list} ${key}`),
    );
    expect(tested.toSorted()).toEqual(keys.toSorted());
  });

  test.each(
    Object.entries(TIMES).flatMap(([list, { path, keys }]) =>
      Object.entries(keys).map(([key, field]) => ({ list, key, path, field })),
    ),
  )('are days of the project in $list by $key', async ({ list, path, key, field }) => {
    const query: Record<string, string> = list === 'deliveries' ? { endpoint: ENDPOINT } : {};
    const rows = await rowsOf(path, query, 100);
    const days = new Set(rows.flatMap((row) => (row[field] === null ? [] : [dayIn(row[field])])));
    const found = async (filter: string): Promise<ListRow[]> => rowsOf(path, { ...query, filter }, 100);
    const expected = (passes: (day: string) => boolean): ListRow[] =>
      rows.filter((row) => row[field] !== null && passes(dayIn(row[field])));
    for (const day of [...days, '2026-01-01']) {
      expect(await found(`${key}:${day}`), day).toEqual(expected((other) => other === day));
      expect(await found(`${key}:<${day}`), day).toEqual(expected((other) => other < day));
      expect(await found(`${key}:>${day}`), day).toEqual(expected((other) => other > day));
      expect(await found(`-${key}:${day}`), day).toHaveLength(
        rows.length - expected((other) => other === day).length,
      );
    }
  });
});
