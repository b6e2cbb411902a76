import { Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { testDatabase } from '../../../testkit/database.ts';
import { type SilentPeer, silentPeer } from '../../../testkit/silent-peer.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import type { ConnectionSource } from './connections.ts';
import { type Database, openDatabase } from './database.ts';
import { startListener } from './notifications.ts';

const own = await testDatabase();
const db = await open(own.connection);
afterAll(async () => {
  await db.close();
  await own.drop();
});
let peer: SilentPeer;
beforeEach(async () => {
  peer = await silentPeer(own.url);
});
afterEach(async () => {
  vi.useRealTimers();
  await peer.close();
});

function open(connection: ConnectionSource): Promise<Database> {
  return openDatabase({ connection, clock: systemClock, log: silentLog });
}

const holdTime = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
const CHANNEL = 'beckon_silence';

test('fails a batch on a vanished server after forty seconds, and closes its connection', async () => {
  const behind = await open(peer.connection);
  const session = await behind.session();
  await session.query('SELECT 1');
  peer.goSilent();
  holdTime();
  const asked = Promise.all([session.query('SELECT 1'), session.query('SELECT 2')]);
  const heard = expect(asked).rejects.toThrow('Query read timeout');
  await vi.advanceTimersByTimeAsync(40_000);
  await heard;
  vi.useRealTimers();
  await expect(session.query('SELECT 3')).rejects.toThrow();
  session.release(true);
  await peer.close();
  await behind.close();
});

test('probes a silent connection after ten seconds', async () => {
  const asked = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => asked.mockRestore());
  const behind = await open(peer.connection);
  (await behind.session()).release();
  const heard = Promise.withResolvers<void>();
  const listener = openEar(heard.resolve);
  await untilHeard(heard.promise);
  expect(asked.mock.calls).toEqual([
    [true, 10_000],
    [true, 10_000],
    [true, 10_000],
  ]);
  await listener.stop();
  await behind.close();
});

test('a listener whose server never answers reconnects', async () => {
  peer.goSilent();
  holdTime();
  const listener = openEar(() => {});
  while (peer.made() < 2) await vi.advanceTimersByTimeAsync(1_000);
  const stopped = listener.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  await stopped;
});

test('a listener whose server vanished can be stopped', async () => {
  const heard = Promise.withResolvers<void>();
  const listener = openEar(heard.resolve);
  await untilHeard(heard.promise);
  peer.goSilent();
  holdTime();
  const stopped = listener.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  await stopped;
});

function openEar(heard: () => void): ReturnType<typeof startListener> {
  return startListener({ connection: peer.connection, channel: CHANNEL, heard, log: silentLog });
}

/** Notifies until the listener receives it. */
async function untilHeard(heard: Promise<void>): Promise<void> {
  let isHeard = false;
  void heard.then(() => {
    isHeard = true;
  });
  while (!isHeard) await db.query(`NOTIFY ${CHANNEL}`);
}
