import { describe, expect, test } from 'vitest';
import { endpointServer, newCaller } from '../../../testing/servers/endpoint-server.ts';
import { EVENTS } from '../../../testing/factories/endpoints.ts';
import { testSandbox, type TestSandbox } from '../../../testing/factories/sandbox.ts';
import { partitionKeeper } from '../users/events/keep-partitions.ts';

const server = await endpointServer();
const { db, clock } = server;
const DAY = 86_400_000;

async function newSandbox(): Promise<TestSandbox> {
  const { id } = await newCaller(server, EVENTS);
  return testSandbox(server, id);
}

async function partitions(): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'beckon.event'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** The current month, the 14 that 400 days can reach, and the one after them. */
const PARTITIONS_MAX = 16;

describe('clock of a sandbox', () => {
  test('makes no more than 16 partitions of event, however many sandboxes are advanced in however many steps', async () => {
    const sandboxes = await Promise.all(Array.from({ length: 3 }, newSandbox));
    for (const [at, sandbox] of sandboxes.entries())
      for (let step = 0; step < 15; step += 1)
        for (const advance of ['366d', `${29 + at}d`]) await sandbox.clock({ advance });
    await partitionKeeper(db)();
    const made = await partitions();
    expect(made.length).toBeLessThanOrEqual(PARTITIONS_MAX);
    // 400 days after 15 January 2026 is February 2027.
    expect(made.at(-1)).toBe('event_2027_03');
  });

  test('lets a trial of a year and the month after it be tested', async () => {
    const sandbox = await newSandbox();
    await sandbox.advance('366d');
    await sandbox.post('events', { external_user_id: 'ada', name: 'trial_ended' });
    await sandbox.advance('30d');
    const rows = await db.query(`SELECT name FROM beckon.event WHERE project_id = $1`, [sandbox.id]);
    expect(rows).toEqual([{ name: 'trial_ended' }]);
  });

  test('has its partitions when real time reaches another month', async () => {
    const sandbox = await newSandbox();
    await sandbox.advance('366d');
    const job = partitionKeeper(db);
    for (let days = 0; days < 62; days += 1) {
      await job();
      clock.advance(DAY);
      await sandbox.post('events', { external_user_id: 'ada', name: 'login', message_id: `day ${days}` });
      await sandbox.advance('1s');
    }
    const [row] = await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM beckon.event WHERE project_id = $1`,
      [sandbox.id],
    );
    expect(row?.n).toBe(62);
  });
});

describe('POST /api/v1/events', () => {
  test('makes no partition for an event that says it occurred in 30 years', async () => {
    const { secret, id } = await newCaller(server, EVENTS);
    const sandbox = await testSandbox(server, id);
    const before = await partitions();
    const body = { external_user_id: 'ada', name: 'login', occurred_at: '2056-01-01T00:00:00Z' };
    for (const key of [secret, sandbox.secret]) {
      const response = await fetch(`${server.url}/api/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('occurred_at')]);
    }
    await sandbox.advance('1d');
    expect(await partitions()).toEqual(before);
  });
});
