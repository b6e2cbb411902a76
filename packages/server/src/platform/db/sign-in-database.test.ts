import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/factories/database.ts';
import { missingPgbouncer, startPgbouncer } from '../../../testing/servers/pgbouncer.ts';
import { openSignInDatabase } from './sign-in-database.ts';

const testDb = await testDatabase('empty');
afterAll(() => testDb.drop());

describe('openSignInDatabase', () => {
  test('limits its statements in the database', async () => {
    const signIn = openSignInDatabase(testDb.connection, false);
    const { rows } = await sql`SHOW statement_timeout`.execute(signIn.options.db);
    expect(rows).toEqual([{ statement_timeout: '9s' }]);
    await signIn.close();
  });

  test.skipIf(missingPgbouncer() !== null)('works through a pooler', async () => {
    const pooler = await startPgbouncer(testDb.url, { poolSize: 2 });
    const connection = (): { connectionString: string } => ({ connectionString: pooler.through(testDb.url) });
    const signIn = openSignInDatabase(connection, true);
    expect((await sql`SELECT 1 AS one`.execute(signIn.options.db)).rows).toEqual([{ one: 1 }]);
    await signIn.close();
    const bounded = openSignInDatabase(connection, false);
    await expect(sql`SELECT 1 AS one`.execute(bounded.options.db)).rejects.toThrow('unsupported startup');
    await bounded.close();
    await pooler.stop();
  });
});
