import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { systemClock } from '../time/clock.ts';
import type { Session } from './statements.ts';
import { inSession } from './session-transactions.ts';

const db = await openTestDatabase(systemClock);

/** Returns a session that records the scripts sent over it. */
function recordingDb(): { db: Pick<typeof db, 'session'>; sent: string[] } {
  const sent: string[] = [];
  const watch = (session: Session): Session => ({
    ...session,
    script: (text) => {
      sent.push(text.split(/[\s;]/)[0] ?? '');
      return session.script(text);
    },
  });
  return { sent, db: { session: async (options) => watch(await db.session(options)) } };
}

const erasures = async (): Promise<number> => (await db.query(`SELECT 1 FROM beckon.erasure`)).length;
const insert = `INSERT INTO beckon.erasure VALUES (1, 'u1', 1, '2026-01-01')`;

test('sends nothing after a commit, because the database would log a warning each time', async () => {
  const { db: recordedDb, sent } = recordingDb();
  await inSession(recordedDb, async (tx) => {
    await tx.query(insert);
    await tx.commit();
  });
  expect(sent).toEqual(['BEGIN', 'COMMIT']);
  expect(await erasures()).toBe(1);
});

test('rolls back uncommitted work, whether it succeeded or failed', async () => {
  const { db: recordedDb, sent } = recordingDb();
  await inSession(recordedDb, (tx) => tx.query(`DELETE FROM beckon.erasure`));
  expect(sent).toEqual(['BEGIN', 'ROLLBACK']);
  const failing = inSession(recordedDb, async (tx) => {
    await tx.query(`DELETE FROM beckon.erasure`);
    throw new Error('stumbled');
  });
  await expect(failing).rejects.toThrow('stumbled');
  expect(sent.slice(2)).toEqual(['BEGIN', 'ROLLBACK']);
  expect(await erasures()).toBe(1);
});

test('rejects a statement after the end of its transaction instead of running it alone', async () => {
  const { db: recordedDb } = recordingDb();
  let late: () => Promise<unknown> = () => Promise.resolve();
  const failing = inSession(recordedDb, async (tx) => {
    late = () => tx.query(`DELETE FROM beckon.erasure`);
    await tx.query('SELECT 1 / 0');
  });
  await expect(failing).rejects.toThrow(/division/);
  await expect(late()).rejects.toThrow(/has ended/);
  expect(await erasures()).toBe(1);
});
