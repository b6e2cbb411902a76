import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { testProject, testServer } from '../../testing/servers/server.ts';

const home = await testServer({ roles: ['api'] });
afterAll(() => home.stop());

function request(secret: string, rest: string): string {
  return `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n${rest}`;
}

async function open(port: number | null): Promise<Socket> {
  const socket = connect({ port: port ?? 0, host: '127.0.0.1' });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

const BODY = '{"external_user_id":"u","name":"n"}';

test('a connection that was busy at a stop does not delay it after its answer', async () => {
  const server = await testServer({ database: home.database, roles: ['api'] });
  const { secret } = await testProject(home);
  const socket = await open(server.ports.http);
  const blocker = await home.db.session();
  await blocker.script('BEGIN; LOCK TABLE beckon.ingest_queue IN EXCLUSIVE MODE');
  socket.write(request(secret, `Content-Length: ${BODY.length}\r\n\r\n${BODY}`));
  for (;;) {
    const waiting = await home.db.query(
      `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'beckon.ingest_queue'::regclass`,
    );
    if (waiting.length > 0) break;
  }
  const dataEvent = once(socket, 'data');
  const stopped = server.stop();
  await blocker.script('COMMIT');
  blocker.release();
  const [chunk] = (await dataEvent) as [Buffer];
  expect(String(chunk)).toMatch(/^HTTP\/1.1 202 /);
  // The client keeps its end open; a keep-alive of 72 s would outlast this test.
  await stopped;
  socket.destroy();
});

test('a client that never ends its body is cut off, and the stop ends', async () => {
  const server = await testServer({ database: home.database, roles: ['api'] });
  const { secret } = await testProject(home);
  const socket = await open(server.ports.http);
  socket.write(request(secret, 'Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n'));
  const [begun] = (await once(socket, 'data')) as [Buffer];
  expect(String(begun)).toMatch(/^HTTP\/1.1 100 /);
  socket.write(BODY);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await server.stop();
  await closed;
});
