import type { Database, Tx } from '../io/db/index.ts';

/**
 * Everything is read as of one moment, and the database itself refuses whatever would write. Those who ask here look at people
 * by their keys, however many there are, so the planner is told as a batch tells it (`session.ts`).
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
