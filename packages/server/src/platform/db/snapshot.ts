import type { Database } from './database.ts';
import type { Tx } from './statements.ts';

/**
 * Reads everything as of one moment, in a transaction in which the database rejects every write. The callers read users by key, however
 * many there are, so the planner gets the same settings as for a batch (`batch-transaction.ts`).
 */
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = '60s'; SET LOCAL statement_timeout = '30s';
  SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

export async function inSnapshot<T>(db: Pick<Database, 'session'>, work: (tx: Tx) => Promise<T>): Promise<T> {
  const session = await db.session({ freshPlans: true });
  let isBroken = true;
  try {
    await session.script(BEGIN);
    const result = await work(session);
    await session.script('COMMIT');
    isBroken = false;
    return result;
  } catch (error) {
    isBroken = await session.script('ROLLBACK').then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    session.release(isBroken);
  }
}
