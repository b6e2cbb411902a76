import type { Database } from './database.ts';
import { isReadOnly } from './errors.ts';
import type { Session, Tx } from './statements.ts';

/**
 * A worker that stalls loses its transaction, and its locks with it; no statement of a batch takes this long.
 *
 * A batch reads a thousand rows by key at most, and these settings make the planner use the indexes. With the statistics of tables that
 * were small a moment ago, it would scan whole tables. Where tables are distributed, each plan needs the project's value to find its node,
 * and the nodes plan with settings of their own.
 */
const BEGIN_DISTRIBUTED = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SET LOCAL idle_in_transaction_session_timeout = '10s'; SET LOCAL statement_timeout = '30s'; SET LOCAL lock_timeout = '10s'`;
const BEGIN = `${BEGIN_DISTRIBUTED};
  SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

/** The transaction of a batch: its statements are pipelined, and none of them outlives the transaction. */
export type BatchTx = Pick<Session, 'query' | 'prepared' | 'together' | 'isDistributed'> & {
  commit(): Promise<void>;
};

/** Runs `work` in one transaction. `work` ends it with `commit` and awaits the result; otherwise everything is rolled back. */
export async function inSession<T>(
  db: Pick<Database, 'session'>,
  work: (tx: BatchTx) => Promise<T>,
): Promise<T> {
  const session = await db.session({ freshPlans: true });
  const state: State = { isOpen: true, isCommitted: false, refusal: null };
  let isBroken = true;
  try {
    const begun = session.script(session.isDistributed ? BEGIN_DISTRIBUTED : BEGIN);
    const [, result] = await Promise.all([begun, work(guarded(session, state))]);
    state.isOpen = false;
    // A batch without work has not committed. After a commit, the database would log a warning for every batch.
    if (!state.isCommitted) await session.script('ROLLBACK');
    isBroken = false;
    return result;
  } catch (error) {
    // Parallel work may send nothing after the ROLLBACK, because it would be a transaction of its own.
    state.isOpen = false;
    isBroken = await session.script('ROLLBACK').then(
      () => false,
      () => true,
    );
    isBroken ||= isReadOnly(state.refusal ?? error);
    throw state.refusal ?? error;
  } finally {
    session.release(isBroken);
  }
}

/** Statements after a failed one fail as well, and the order in which the failures arrive is random. The first failure is the reason. */
type State = { isOpen: boolean; isCommitted: boolean; refusal: unknown };

function guarded(session: Session, state: State): BatchTx {
  const open =
    <A extends unknown[], R>(statement: (...args: A) => Promise<R>): ((...args: A) => Promise<R>) =>
    async (...args) => {
      if (!state.isOpen) throw new Error('this transaction has ended');
      try {
        return await statement(...args);
      } catch (error) {
        state.refusal ??= error;
        throw error;
      }
    };
  return {
    isDistributed: session.isDistributed,
    query: (text, values) => open(() => session.query(text, values))() as never,
    prepared: (query) => open(() => session.prepared(query))() as never,
    together: (start) => session.together(start),
    commit: open(async () => {
      await session.script('COMMIT');
      state.isCommitted = true;
    }),
  };
}

/**
 * Reads everything as of one moment, in a transaction in which the database rejects every write. The callers read users by key, however
 * many there are, so the planner gets the same settings as for a batch.
 */
const BEGIN_SNAPSHOT = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = '60s'; SET LOCAL statement_timeout = '30s';
  SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

export async function inSnapshot<T>(db: Pick<Database, 'session'>, work: (tx: Tx) => Promise<T>): Promise<T> {
  const session = await db.session({ freshPlans: true });
  let isBroken = true;
  try {
    await session.script(BEGIN_SNAPSHOT);
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
