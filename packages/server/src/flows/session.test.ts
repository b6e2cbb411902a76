import { expect, test } from 'vitest';
import { openTestDatabase } from '../../testkit/database.ts';
import { systemClock } from '../base/clock.ts';
import { type Session } from '../io/db/index.ts';
import { inSession } from './session.ts';

const db = await openTestDatabase(systemClock);

/** A session that tells which scripts were sent over it. */
function watched(): { db: Pick<typeof db, 'session'>; sent: string[] } {
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

test('a committed batch sends nothing behind its commit, for which the database would complain each time', async () => {
  const { db: told, sent } = watched();
  await inSession(told, async (tx) => {
    await tx.query(insert);
    await tx.commit();
  });
  expect(sent).toEqual(['BEGIN', 'COMMIT']);
  expect(await erasures()).toBe(1);
});

test('what was not committed is taken back, whether the work ended well or not', async () => {
  const { db: told, sent } = watched();
  await inSession(told, (tx) => tx.query(`DELETE FROM beckon.erasure`));
  expect(sent).toEqual(['BEGIN', 'ROLLBACK']);
  const failing = inSession(told, async (tx) => {
    await tx.query(`DELETE FROM beckon.erasure`);
    throw new Error('stumbled');
  });
  await expect(failing).rejects.toThrow('stumbled');
  expect(sent.slice(2)).toEqual(['BEGIN', 'ROLLBACK']);
  expect(await erasures()).toBe(1);
});

test('a statement that comes after the end of its transaction is refused, and not sent by itself', async () => {
  const { db: told } = watched();
  let late: () => Promise<unknown> = () => Promise.resolve();
  const failing = inSession(told, async (tx) => {
    late = () => tx.query(`DELETE FROM beckon.erasure`);
    await tx.query('SELECT 1 / 0');
  });
  await expect(failing).rejects.toThrow(/division/);
  await expect(late()).rejects.toThrow(/has ended/);
  expect(await erasures()).toBe(1);
});
