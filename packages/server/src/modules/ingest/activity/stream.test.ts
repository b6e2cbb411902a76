import { beforeAll, beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { NO_FILTER } from '../../../platform/filter/filter.ts';
import { idMaker } from '../../../platform/ids.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import { type Log, silentLog } from '../../../platform/log.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { insertActivity, eraseActivity, forgetStream } from './store.ts';
import {
  type ActivityRow,
  type Cursor,
  cursorOf,
  cursorOfTime,
  readStreamFilter,
  type StreamItem,
} from './stream.ts';
import { readStream } from './read-stream.ts';
import { requestLog } from './request-log.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(clock);
const START = clock.now();
beforeAll(async () => {
  // One partition boundary in the middle of the test data, as at the end of a month.
  const seam = new Date(START + 60_000).toISOString();
  await db.query(
    `CREATE TABLE beckon.event_old PARTITION OF beckon.event FOR VALUES FROM ('2020-01-01Z') TO ('${seam}')`,
  );
  await db.query(
    `CREATE TABLE beckon.event_new PARTITION OF beckon.event FOR VALUES FROM ('${seam}') TO ('2030-01-01Z')`,
  );
});
let projectId = 0;
beforeEach(() => {
  projectId += 1;
});

const NOTED = { keyId: null, bytes: 7, ms: 3 };

function change(more: Partial<ActivityRow> = {}): ActivityRow {
  const at = new Date(clock.now());
  const row = {
    projectId,
    at,
    id: newId(),
    kind: 'user_changed',
    userId: 'u',
    audienceId: null,
    detail: '{}',
  };
  return { ...row, ...more } as ActivityRow;
}

async function addEvents(names: string[], userId = 'u'): Promise<void> {
  await db.query(
    `INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
     SELECT $1, $2, id, $3, name, '{"n":1}', $2, $2, 1, false FROM unnest($4::uuid[], $5::text[]) AS given (id, name)`,
    [projectId, new Date(clock.now()), userId, names.map(() => newId()), names],
  );
}

async function newest(filter = '', limit = 1_000): Promise<StreamItem[]> {
  const options = { projectId, filter: readStreamFilter(filter), after: null, limit };
  return (await readStream(db, options)).items;
}

async function allPages(from: { after: Cursor | null }, limit: number, filter = ''): Promise<StreamItem[]> {
  const items: StreamItem[] = [];
  const options = { projectId, filter: readStreamFilter(filter), limit };
  let { after } = from;
  let before: Cursor | undefined;
  for (let more = true; more;) {
    const page = await readStream(db, { ...options, after, before });
    items.push(...page.items);
    if (after === null) before = page.cursor ?? before;
    else after = page.cursor ?? after;
    ({ more } = page);
  }
  return items;
}

test('returns the fields of every kind of item', async () => {
  const log = requestLog({ db, clock, newId, log: silentLog });
  const audienceId = newId();
  await db.query(`INSERT INTO beckon.audience VALUES ($1, $2, 'Trials', now(), now())`, [
    projectId,
    audienceId,
  ]);
  await insertActivity(db, [
    change({ kind: 'audience_joined', audienceId, detail: '{"version":2,"type":"x","audience":"y"}' }),
    change({ kind: 'bulk_change', userId: null, detail: '{"users":9}' }),
  ]);
  await addEvents(['trial_started']);
  log.note({
    projectId,
    endpoint: 'users',
    status: 202,
    code: null,
    accepted: 1,
    rejected: 0,
    requestId: 'r',
    ...NOTED,
  });
  await log.close();
  const at = new Date(clock.now()).toISOString();
  const id = expect.any(String) as string;
  const items = await newest();
  expect(items).toHaveLength(4);
  const expected = [
    {
      at,
      id,
      type: 'audience_joined',
      external_user_id: 'u',
      audience_id: audienceId,
      audience: 'Trials',
      version: 2,
    },
    { at, id, type: 'bulk_change', users: 9 },
    {
      at,
      id,
      type: 'event',
      external_user_id: 'u',
      name: 'trial_started',
      properties: { n: 1 },
      occurred_at: at,
      accepted_at: at,
      suppressed: false,
    },
    {
      at,
      id,
      type: 'request',
      endpoint: 'users',
      status: 202,
      code: null,
      requests: 1,
      accepted: 1,
      rejected: 0,
      request_id: 'r',
      key_id: null,
      bytes: 7,
      slowest_ms: 3,
      faults: null,
    },
  ];
  for (const item of expected) expect(items).toContainEqual(item);
});

test('pages in both directions return every item once and in order, also within one millisecond', async () => {
  const log = requestLog({ db, clock, newId, log: silentLog });
  for (let i = 0; i < 5; i += 1) {
    await addEvents(['a', 'b', 'c', 'd', 'e']);
    await insertActivity(db, [change(), change(), change()]);
    log.note({
      projectId,
      endpoint: 'users',
      status: 202,
      code: null,
      accepted: 1,
      rejected: 0,
      requestId: 'r',
      ...NOTED,
    });
    await log.flush();
    clock.advance(30_000);
  }
  const all = await newest();
  expect(all).toHaveLength(45);
  const positions = all.map((item) => `${item.at} ${item.id}`);
  expect(positions).toEqual(positions.toSorted().toReversed());
  for (const limit of [1, 2, 7, 45, 46]) {
    expect(await allPages({ after: null }, limit)).toEqual(all);
    expect(await allPages({ after: cursorOfTime(new Date(0)) }, limit)).toEqual(all.toReversed());
  }
  const [, second] = all;
  if (!second) throw new Error('none');
  const [first] = await allPages({ after: cursorOf(second) }, 10);
  expect(first).toEqual(all[0]);
  const options = { projectId, filter: NO_FILTER, after: null, limit: 100 };
  const since = await readStream(db, { ...options, since: new Date(second.at) });
  expect(since.items.map((item) => item.at)).toEqual(Array.from({ length: 9 }, () => second.at));
});

test('reads on from any time, including times outside the range of cursors', async () => {
  await addEvents(['login'], 'ada');
  const all = await newest();
  for (const [at, found] of [
    ['0001-01-01T00:00:00+14:59', all],
    ['1969-12-31', all],
    ['9999-12-31T23:59:59-14:59', []],
  ] as const)
    expect(await allPages({ after: cursorOfTime(new Date(parseInstant(at))) }, 10)).toEqual(found);
});

test('a filter finds the same in pages as at once, and nothing of other projects', async () => {
  await addEvents(['trial_started', 'login'], 'ada');
  await addEvents(['trial_ended', 'login'], 'bob');
  await insertActivity(db, [change({ userId: 'ada' }), change({ userId: 'bob', kind: 'user_created' })]);
  await insertActivity(db, [change({ projectId: projectId + 1_000, userId: 'ada' })]);
  const found = async (filter: string): Promise<string[]> => {
    const items = await newest(filter);
    expect(await allPages({ after: cursorOfTime(new Date(0)) }, 1, filter)).toEqual(items.toReversed());
    return items
      .map((item) => `${item.type} ${'external_user_id' in item ? item.external_user_id : ''}`)
      .toSorted();
  };
  expect(await found('user:ada')).toEqual(['event ada', 'event ada', 'user_changed ada']);
  expect(await found('user:a*')).toEqual(await found('user:ada'));
  expect(await found('name:trial_*')).toEqual(['event ada', 'event bob']);
  expect(await found('type:user_*')).toEqual(['user_changed ada', 'user_created bob']);
  expect(await found('-type:event -user:bob')).toEqual(['user_changed ada']);
  expect(await found('user:ada name:login')).toEqual(['event ada']);
  expect(await found('status:202')).toEqual([]);
  expect(await found('type:event status:202')).toEqual([]);
});

test('ends a page after a number of scanned rows with a selective filter, and continues from there', async () => {
  await addEvents(['rare']);
  clock.advance(1_000);
  await addEvents(Array.from({ length: 25_000 }, () => 'frequent'));
  const options = { projectId, filter: readStreamFilter('name:rare'), after: null, limit: 10 };
  const first = await readStream(db, options);
  expect(first).toMatchObject({ items: [], more: true, cursor: expect.any(String) as string });
  if (first.cursor === null) throw new Error('none');
  expect(await readStream(db, { ...options, before: first.cursor })).toMatchObject({
    items: [{ name: 'rare' }],
    more: false,
  });
  expect(await allPages({ after: null }, 10, 'name:rare')).toHaveLength(1);
  expect(await allPages({ after: cursorOfTime(new Date(0)) }, 10, '-name:frequent')).toHaveLength(1);
});

test('rejects invalid parameters and names the field', async () => {
  const options = { projectId, filter: NO_FILTER, after: null, limit: 1 };
  const refusal = (field: string) => ({ code: 'validation_failed', details: [{ field }] });
  for (const cursor of ['', 'x', '💥', 'a'.repeat(10_000)]) {
    await expect(readStream(db, { ...options, after: cursor })).rejects.toMatchObject(refusal('cursor'));
    await expect(readStream(db, { ...options, before: cursor })).rejects.toMatchObject(refusal('cursor'));
  }
  for (const limit of [0, 1.5, 1_001])
    await expect(readStream(db, { ...options, limit })).rejects.toMatchObject(refusal('limit'));
  expect(() => readStreamFilter('colour:red')).toThrow(
    expect.objectContaining({
      details: [{ field: 'filter', message: expect.stringContaining('"colour"') as string }],
    }),
  );
});

test('removes an erased user from the stream, and no other user', async () => {
  await insertActivity(db, []);
  await insertActivity(db, [
    change(),
    change(),
    change({ userId: 'other' }),
    change({ projectId: projectId + 1_000 }),
  ]);
  expect(await eraseActivity(db, projectId, 'u')).toBe(2);
  expect(await eraseActivity(db, projectId, 'u')).toBe(0);
  expect(await newest()).toMatchObject([{ external_user_id: 'other' }]);
});

test('deletes the oldest items first, in batches, and never recent ones', async () => {
  const log = requestLog({ db, clock, newId, log: silentLog });
  for (let i = 0; i < 3; i += 1) {
    await insertActivity(db, [change()]);
    log.note({
      projectId,
      endpoint: 'users',
      status: 202,
      code: null,
      accepted: 1,
      rejected: 0,
      requestId: 'r',
      ...NOTED,
    });
    await log.flush();
    clock.advance(1_000);
  }
  const before = new Date(clock.now() - 1_000);
  const young = await newest('', 2);
  const forget = (): Promise<number> => forgetStream(db, { projectId, before, limit: 3 });
  expect([await forget(), await forget(), await forget()]).toEqual([3, 1, 0]);
  expect(await newest()).toEqual(young);
});

test('combines requests with the same response within a quarter second into one row', async () => {
  const log = requestLog({ db, clock, newId, log: silentLog });
  const request = { projectId, endpoint: 'events-bulk', status: 200, code: null, ...NOTED };
  for (let i = 1; i <= 3; i += 1)
    log.note({ ...request, accepted: 10, rejected: i, ms: i * 3, requestId: `r${i}` });
  log.note({ ...request, status: 429, code: 'rate_limited', accepted: 0, rejected: 0, requestId: 'r4' });
  await log.flush();
  log.note({ ...request, accepted: 1, rejected: 0, requestId: 'r5' });
  await log.close();
  const written = await newest('status:200');
  expect(written).toHaveLength(2);
  for (const row of [
    { requests: 3, accepted: 30, rejected: 6, request_id: 'r3', bytes: 21, slowest_ms: 9 },
    { requests: 1, accepted: 1, rejected: 0, request_id: 'r5', bytes: 7, slowest_ms: 3 },
  ])
    expect(written).toContainEqual(expect.objectContaining(row));
  expect(await newest('status:4* endpoint:events-*')).toMatchObject([{ code: 'rate_limited', requests: 1 }]);
});

test('keeps requests that could not be written, dates them when written, and reports the failure occasionally', async () => {
  let broken = true;
  const events: string[] = [];
  const complaining: Log = { ...silentLog, warn: (_, event) => events.push(event) };
  const tx: Tx = {
    prepared: (query) => db.prepared(query),
    query: (text, values) => (broken ? Promise.reject(new Error('gone')) : db.query(text, values)),
  };
  const log = requestLog({ db: tx, clock, newId, log: complaining });
  const request = {
    projectId,
    endpoint: 'users',
    status: 202,
    code: null,
    accepted: 1,
    rejected: 0,
    ...NOTED,
  };
  for (let i = 0; i < 4; i += 1) {
    log.note({ ...request, requestId: `r${i}` });
    await log.flush();
    clock.advance(4_000);
  }
  expect(events).toEqual(['request_log.not_written', 'request_log.not_written']);
  broken = false;
  await log.close();
  expect(await newest()).toMatchObject([
    { requests: 4, accepted: 4, request_id: 'r3', at: new Date(clock.now()).toISOString() },
  ]);
});
