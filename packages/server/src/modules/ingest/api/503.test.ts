import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { survivesOutages } from '../../../../testing/cases/endpoints/unavailable.ts';
import type { CheckedResponse } from '../../../../testing/servers/http-client.ts';
import { endpointServer, newCaller, NOTHING_STORED } from '../../../../testing/servers/endpoint-server.ts';
import { ALL_ENDPOINTS, EVENTS, EVENTS_BULK } from '../../../../testing/factories/endpoints.ts';

const server = await endpointServer();

describe.each(ALL_ENDPOINTS)('POST $path', (facts) => survivesOutages(server, facts));

/** Locks the project's queue row, as a server that hangs does. */
async function holdingQueue(projectId: number, during: () => Promise<void>): Promise<void> {
  await server.db.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM beckon.ingest_queue_state WHERE project_id = $1 FOR UPDATE', [projectId]);
    await during();
  });
}

test('answers 503 to all waiting requests after 5 s without a commit, and does not store them later', async () => {
  const caller = await newCaller(server, EVENTS);
  await holdingQueue(caller.id, async () => {
    const responses = await Promise.all([
      caller.send({ once: 'k' }),
      caller.send({ once: 'k' }),
      caller.send({ once: 'k', body: {} }),
    ]);
    expect(responses.map((response) => response.status)).toEqual([503, 503, 422]);
    expect(responses[0]?.headers['retry-after']).toBe('1');
  });
  expect(await caller.stored()).toEqual(NOTHING_STORED);
  const retry = await caller.send({ once: 'k' });
  expect([retry.status, retry.headers['idempotent-replayed']]).toEqual([202, undefined]);
});

test('gives a concurrent duplicate the answer of the first request', async () => {
  const caller = await newCaller(server, EVENTS);
  let responses: Promise<CheckedResponse[]> = Promise.resolve([]);
  await holdingQueue(caller.id, async () => {
    responses = Promise.all([
      caller.send({ once: 'k' }),
      caller.send({ once: 'k' }),
      caller.send({ once: 'k', body: {} }),
    ]);
    // Until the flush waits for the queue row.
    for (let waiting = 0; waiting === 0;) {
      const [row] = await server.db.query<{ n: number }>(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      waiting = row?.n ?? 0;
    }
  });
  expect((await responses).map((response) => [response.status, response.errors[0]?.code])).toEqual([
    [202, undefined],
    [202, undefined],
    [422, 'idempotency_key_reuse'],
  ]);
  expect(await caller.stored()).toMatchObject({ waiting: 1, keys: 1 });
});

test('keeps space for others while one project sends much and slowly', async () => {
  const [greedy, other] = [await newCaller(server, EVENTS_BULK), await newCaller(server, EVENTS)];
  const { hostname: host, port } = new URL(server.url);
  const refused = { count: 0, reached: Promise.withResolvers<void>() };
  // Together more than the process's budget for bodies; the rest of each is never sent.
  const part = Buffer.alloc(8 * 1024 * 1024, ' ');
  const sockets = Array.from({ length: 40 }, () => {
    const socket = connect({ host, port: Number(port) });
    socket.write(
      `POST ${EVENTS_BULK.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy.secret}\r\n` +
        `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n`,
    );
    socket.write(part);
    socket.on('error', () => {});
    return socket.once('data', (chunk) => {
      if (String(chunk).startsWith('HTTP/1.1 503')) refused.count += 1;
      if (refused.count === 8) refused.reached.resolve();
    });
  });
  await refused.reached.promise;
  const statuses = new Set<number>();
  for (let n = 0; n < 100; n += 1) statuses.add((await other.send()).status);
  expect([...statuses]).toEqual([202]);
  for (const socket of sockets) socket.destroy();
});
