import { Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { type SilentPeer, silentPeer } from '../../../testing/servers/silent-peer.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import type { ConnectionSource } from './connections.ts';
import { type Database, openDatabase } from './database.ts';
import { startListener } from './notifications.ts';

const testDb = await testDatabase();
const db = await open(testDb.connection);
afterAll(async () => {
  await db.close();
  await testDb.drop();
});
let peer: SilentPeer;
beforeEach(async () => {
  peer = await silentPeer(testDb.url);
});
afterEach(async () => {
  vi.useRealTimers();
  await peer.close();
});

function open(connection: ConnectionSource): Promise<Database> {
  return openDatabase({ connection, clock: systemClock, log: silentLog });
}

const useFakeTime = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
const CHANNEL = 'beckon_silence';

test('fails a batch on a vanished server after forty seconds, and closes its connection', async () => {
  const behind = await open(peer.connection);
  const session = await behind.session();
  await session.query('SELECT 1');
  peer.goSilent();
  useFakeTime();
  const queries = Promise.all([session.query('SELECT 1'), session.query('SELECT 2')]);
  const rejection = expect(queries).rejects.toThrow('Query read timeout');
  await vi.advanceTimersByTimeAsync(40_000);
  await rejection;
  vi.useRealTimers();
  await expect(session.query('SELECT 3')).rejects.toThrow();
  session.release(true);
  await peer.close();
  await behind.close();
});

test('probes a silent connection after ten seconds', async () => {
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => keepAlive.mockRestore());
  const behind = await open(peer.connection);
  (await behind.session()).release();
  const notified = Promise.withResolvers<void>();
  const listener = openListener(notified.resolve);
  await untilNotified(notified.promise);
  expect(keepAlive.mock.calls).toEqual([
    [true, 10_000],
    [true, 10_000],
    [true, 10_000],
  ]);
  await listener.stop();
  await behind.close();
});

test('a listener whose server never answers reconnects', async () => {
  peer.goSilent();
  useFakeTime();
  const listener = openListener(() => {});
  while (peer.made() < 2) await vi.advanceTimersByTimeAsync(1_000);
  const stopped = listener.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  await stopped;
});

test('a listener whose server vanished can be stopped', async () => {
  const notified = Promise.withResolvers<void>();
  const listener = openListener(notified.resolve);
  await untilNotified(notified.promise);
  peer.goSilent();
  useFakeTime();
  const stopped = listener.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  await stopped;
});

function openListener(onNotification: () => void): ReturnType<typeof startListener> {
  return startListener({ connection: peer.connection, channel: CHANNEL, onNotification, log: silentLog });
}

/** Notifies until the listener receives it. */
async function untilNotified(notified: Promise<void>): Promise<void> {
  let isNotified = false;
  void notified.then(() => {
    isNotified = true;
  });
  while (!isNotified) await db.query(`NOTIFY ${CHANNEL}`);
}
