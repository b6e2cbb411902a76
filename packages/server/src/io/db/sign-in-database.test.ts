import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../../testkit/database.ts';
import { openSignInDatabase } from './index.ts';

const own = await testDatabase('empty');
afterAll(() => own.drop());

describe('openSignInDatabase', () => {
  test('limits its statements in the database', async () => {
    const signIn = openSignInDatabase(own.connection);
    const { rows } = await sql`SHOW statement_timeout`.execute(signIn.options.db);
    expect(rows).toEqual([{ statement_timeout: '9s' }]);
    await signIn.close();
  });
});
