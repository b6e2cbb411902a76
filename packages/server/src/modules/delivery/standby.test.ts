import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { systemClock } from '../../platform/time/clock.ts';
import { silentLog } from '../../platform/log.ts';
import { type Database, openDatabase } from '../../platform/db/database.ts';
import { inSession } from '../../platform/db/session-transactions.ts';

const database = await testDatabase();
const open = (): Promise<Database> =>
  openDatabase({ connection: database.connection, clock: systemClock, log: silentLog, poolMax: 1 });
const db = await open();
afterAll(async () => {
  await db.close();
  await database.drop();
});

const NAME = new URL(database.url).pathname.slice(1);
const WRITE = `UPDATE beckon.project SET name = name`;

test.each([
  { by: 'a transaction', write: (to: Database) => to.transaction((tx) => tx.query(WRITE)) },
  { by: 'a batch', write: (to: Database) => inSession(to, (tx) => tx.query(WRITE)) },
])(
  'closes a connection that led to a standby during a takeover after the first write of $by',
  async ({ write }) => {
    await db.query(`ALTER DATABASE ${NAME} SET default_transaction_read_only = on`);
    const behind = await open();
    try {
      await expect(write(behind)).rejects.toMatchObject({ code: '25006' });
      await db.query(`ALTER DATABASE ${NAME} RESET default_transaction_read_only`);
      await write(behind);
    } finally {
      await db.query(`ALTER DATABASE ${NAME} RESET default_transaction_read_only`);
      await behind.close();
    }
  },
);
