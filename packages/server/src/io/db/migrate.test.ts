import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { testDatabase } from '../../../testkit/database.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { type Database, migrate, migrateUpTo, openDatabase, type Session } from './index.ts';

/** A database of an earlier release, whose next migration adds a column to what requests are written down in. */
const own = await testDatabase('empty');
let db: Database;
beforeAll(async () => {
  await migrateUpTo(own.connection, '0016-sandbox');
  db = await openDatabase({ connection: own.connection, clock: systemClock, log: silentLog });
});
afterAll(async () => {
  await db.close();
  await own.drop();
});
afterEach(() => void vi.useRealTimers());

const READING = 'SELECT FROM beckon.ingest_log LIMIT 1';

/** Somebody who read the table, and has not ended his transaction yet. */
async function reader(): Promise<Session> {
  const session = await db.session();
  await session.script(`BEGIN; ${READING}`);
  return session;
}

async function leave(session: Session): Promise<void> {
  await session.script('COMMIT');
  session.release();
}

test('a migration gives up where somebody stays at a table for five minutes, and says why', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const session = await reader();
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses += 1;
    vi.advanceTimersByTime(3 * 60_000);
    return Promise.resolve();
  };
  await expect(migrate(own.connection, { pause })).rejects.toThrow(/for five minutes: somebody else works/);
  expect(pauses).toBe(2);
  await leave(session);
});

test('a migration that waits for a table holds up nobody who reads it, says who is there, and goes on when he left', async () => {
  const session = await reader();
  const [waits, goOn] = [Promise.withResolvers<object>(), Promise.withResolvers<void>()];
  const warn = (facts: object, fact: string): void => waits.resolve({ ...facts, fact });
  const migrated = migrate(own.connection, { log: { ...silentLog, warn }, pause: () => goOn.promise });
  expect(await waits.promise).toMatchObject({
    fact: 'database.migration_waits',
    holders: [{ application: 'beckon accept', tables: ['ingest_log'] }],
  });
  await db.query(READING);
  await leave(session);
  goOn.resolve();
  expect((await migrated).applied).toContain('0017-request-faults');
});
