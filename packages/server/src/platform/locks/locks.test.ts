import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { silentPeer } from '../../../testing/servers/silent-peer.ts';
import { systemClock } from '../time/clock.ts';
import { silentLog } from '../log.ts';
import type { ConnectionSource } from '../db/connections.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createProject } from '../../modules/administration/create-project.ts';
import { takeProjectLock } from './project-lock.ts';

const testDb = await testDatabase();
const db = await open(testDb.connection, {});
afterAll(async () => {
  await db.close();
  await testDb.drop();
});

/** Long enough for a transaction of a living process on a busy machine. */
const IDLE_MS = 2_000;

function open(connection: ConnectionSource, options: { idleWithinMs?: number }): Promise<Database> {
  return openDatabase({ connection, clock: systemClock, log: silentLog, ...options });
}

test('a process that holds the project lock and disappears loses it to the next one', async () => {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  const peer = await silentPeer(testDb.url);
  const deadDb = await open(peer.connection, { idleWithinMs: IDLE_MS });
  const lockTaken = Promise.withResolvers<void>();
  const resume = Promise.withResolvers<void>();
  const failing = deadDb.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    peer.goSilent();
    lockTaken.resolve();
    await resume.promise;
    await tx.query('SELECT 1');
  });
  const rejection = expect(failing).rejects.toThrow();
  await lockTaken.promise;
  expect(await db.transaction((tx) => takeProjectLock(tx, projectId))).toBeDefined();
  await peer.close();
  resume.resolve();
  await rejection;
  await deadDb.close();
});

test('the database ends a wait for a lock after its timeout', async () => {
  const bounded = await open(testDb.connection, { idleWithinMs: IDLE_MS });
  const settings = await bounded.transaction((tx) =>
    tx.query(
      `SELECT name, setting FROM pg_settings WHERE name ~ '^(idle_in_trans.*|lock_timeout)' ORDER BY 1`,
    ),
  );
  expect(settings).toEqual([
    { name: 'idle_in_transaction_session_timeout', setting: '2000' },
    { name: 'lock_timeout', setting: '8000' },
  ]);
  // Behind a pooler the next transaction belongs to another client.
  const after = await bounded.query(`SHOW lock_timeout`);
  expect(after).toEqual([{ lock_timeout: '0' }]);
  await bounded.close();
});
