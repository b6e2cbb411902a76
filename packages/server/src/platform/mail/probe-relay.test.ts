import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startSink } from '../../../testing/servers/smtp-sink.ts';
import { probeRelay } from './probe-relay.ts';

const WITHIN = { withinMs: 3_000 };

test('probeRelay distinguishes a working relay, a wrong password and a missing relay', async () => {
  const sink = await startSink({ credentials: { user: 'beckon', pass: 'right' } });
  try {
    const at = `127.0.0.1:${sink.port}`;
    expect(await probeRelay(`smtp://beckon:right@${at}`, WITHIN)).toBeNull();
    expect(await probeRelay(`smtp://beckon:wrong@${at}`, WITHIN)).toMatch(/^auth: 535/);
    expect(sink.emails).toHaveLength(0);
  } finally {
    await sink.close();
  }
  const closedServer = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closedServer.once('listening', resolve));
  const { port } = closedServer.address() as { port: number };
  await new Promise((resolve) => closedServer.close(resolve));
  expect(await probeRelay(`smtp://127.0.0.1:${port}`, WITHIN)).toMatch(/^connect: /);
});
