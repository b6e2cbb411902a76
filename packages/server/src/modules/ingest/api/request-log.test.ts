import { expect, test } from 'vitest';
import { sendRequest } from '../../../../testing/servers/http-client.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { testDatabase } from '../../../../testing/factories/database.ts';
import {
  ALL_ENDPOINTS,
  bodyOf,
  EVENTS_BATCH,
  EVENTS_BULK,
  type Facts,
  record,
  USERS,
} from '../../../../testing/factories/endpoints.ts';
import { testProject, testServer } from '../../../../testing/servers/server.ts';
import { NO_FILTER } from '../../../platform/filter/filter.ts';
import { silentLog } from '../../../platform/log.ts';
import { readStream } from '../activity/read-stream.ts';
import type { RequestItem, StreamItem } from '../activity/stream.ts';
import { openDatabase } from '../../../platform/db/database.ts';

type Send = (facts: Facts, body: unknown, headers?: Record<string, string>) => Promise<unknown>;

/**
 * Returns a project's request log after these requests and the stop of the server, which writes everything it noted. Rows of the same
 * answer are added up: a slow machine takes longer than the quarter of a second that one row covers.
 */
async function logOf(requests: (send: Send) => Promise<void>): Promise<RequestItem[]> {
  const database = await testDatabase();
  const clock = fixedClock();
  const server = await testServer({ database, clock, roles: ['api'] });
  const project = await testProject(server);
  const send: Send = (facts, body, headers = {}) =>
    sendRequest(server.url, {
      method: 'POST',
      path: facts.path,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${project.secret}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  await requests(send);
  await server.stop();
  const db = await openDatabase({ connection: database.connection, clock, log: silentLog });
  const query = { projectId: project.id, filter: NO_FILTER, after: null, limit: 1_000 };
  const { items } = await readStream(db, query);
  await db.close();
  await database.drop();
  return [...Map.groupBy(items.filter(isRequest).toReversed(), responseKey).values()].flatMap(addedUp);
}

function isRequest(item: StreamItem): item is RequestItem {
  return item.type === 'request';
}

function responseKey({ endpoint, status, code }: RequestItem): string {
  return JSON.stringify([endpoint, status, code]);
}

/** Returns the last row, with the sums of all. */
function addedUp(rows: RequestItem[]): RequestItem[] {
  const sum = (count: (row: RequestItem) => number): number => rows.reduce((all, row) => all + count(row), 0);
  return rows.slice(-1).map((row) => ({
    ...row,
    requests: sum((item) => item.requests),
    accepted: sum((item) => item.accepted),
    rejected: sum((item) => item.rejected),
  }));
}

const NOTHING_ACCEPTED = { accepted: 0, rejected: 0 };

test('logs an accepted request of every endpoint with its records', async () => {
  const items = await logOf(async (send) => {
    for (const facts of ALL_ENDPOINTS) await send(facts, bodyOf(facts));
    await send(USERS, bodyOf(USERS));
    await send(EVENTS_BATCH, bodyOf(EVENTS_BATCH, [record(EVENTS_BATCH), record(EVENTS_BATCH)]));
    await send(EVENTS_BULK, bodyOf(EVENTS_BULK, [record(EVENTS_BULK), record(EVENTS_BULK), {}]));
  });
  const expected = (endpoint: string, status: number, counts: object): object =>
    expect.objectContaining({ type: 'request', endpoint, status, code: null, ...counts }) as object;
  expect(items).toHaveLength(5);
  for (const row of [
    expected('users', 202, { requests: 2, accepted: 2, rejected: 0 }),
    expected('users-bulk', 200, { requests: 1, accepted: 1, rejected: 0 }),
    expected('events', 202, { requests: 1, accepted: 1, rejected: 0 }),
    expected('events-batch', 202, { requests: 2, accepted: 3, rejected: 0 }),
    expected('events-bulk', 200, { requests: 2, accepted: 3, rejected: 1 }),
  ])
    expect(items).toContainEqual(row);
});

test('logs a refused request with its code, and with the id in its answer', async () => {
  let requestId: unknown;
  const items = await logOf(async (send) => {
    await send(USERS, '{');
    await send(USERS, {});
    const response = (await send(EVENTS_BULK, '[]')) as { headers: Record<string, unknown> };
    requestId = response.headers['x-request-id'];
  });
  expect(items).toHaveLength(2);
  const refused = { code: 'validation_failed', ...NOTHING_ACCEPTED };
  expect(items).toContainEqual(
    expect.objectContaining({ endpoint: 'users', status: 422, requests: 2, ...refused }),
  );
  expect(items).toContainEqual(
    expect.objectContaining({ endpoint: 'events-bulk', status: 400, request_id: requestId, ...refused }),
  );
});

test('marks a replayed answer, and does not count its records again', async () => {
  const once = { 'Idempotency-Key': 'c0ffee00-0000-4000-8000-000000000000' };
  const items = await logOf(async (send) => {
    await send(USERS, bodyOf(USERS), once);
    await send(USERS, bodyOf(USERS), once);
  });
  expect(items).toHaveLength(2);
  expect(items).toContainEqual(expect.objectContaining({ status: 202, code: null, accepted: 1 }));
  expect(items).toContainEqual(
    expect.objectContaining({ status: 202, code: 'idempotent_replay', ...NOTHING_ACCEPTED }),
  );
});

test('logs a request without a valid key for no project', async () => {
  const items = await logOf(async (send) => {
    await send(USERS, bodyOf(USERS), { Authorization: 'Bearer sk_live_wrong' });
    await send(USERS, bodyOf(USERS), { Authorization: '' });
  });
  expect(items).toEqual([]);
});
