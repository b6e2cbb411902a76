import { type Database, isReadOnly, type Session } from '../io/db/index.ts';

/**
 * A worker that stands still loses its transaction, and its turns with it; no statement of a batch takes this long.
 *
 * A batch asks for a thousand rows by their keys at most. The planner is told so: from statistics of tables that were
 * small a moment ago it would rather read them whole.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SET LOCAL idle_in_transaction_session_timeout = '10s'; SET LOCAL statement_timeout = '30s'; SET LOCAL lock_timeout = '10s';
  SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

/** What a batch is handed: its statements travel together, and none of them outlives its transaction. */
export type BatchTx = Pick<Session, 'query' | 'prepared' | 'together'> & { commit(): Promise<void> };

/** One transaction; `work` ends it by `commit`, whose answer it awaits, or everything is taken back. */
export async function inSession<T>(
  db: Pick<Database, 'session'>,
  work: (tx: BatchTx) => Promise<T>,
): Promise<T> {
  const session = await db.session({ freshPlans: true });
  const state: State = { isOpen: true, isCommitted: false, refusal: null };
  let isBroken = true;
  try {
    const begun = session.script(BEGIN);
    const [, result] = await Promise.all([begun, work(guarded(session, state))]);
    state.isOpen = false;
    // A batch that found nothing to do has not committed. After a commit the database would complain, batch after batch.
    if (!state.isCommitted) await session.script('ROLLBACK');
    isBroken = false;
    return result;
  } catch (error) {
    // Whatever goes on in parallel may send nothing behind the ROLLBACK: it would be a transaction of its own.
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

/** Statements behind a refused one fail as well, and which failure is heard of first is chance: the first one is the reason. */
type State = { isOpen: boolean; isCommitted: boolean; refusal: unknown };

function guarded(session: Session, state: State): BatchTx {
  const open =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>): ((...args: A) => Promise<R>) =>
    async (...args) => {
      if (!state.isOpen) throw new Error('this transaction has ended');
      try {
        return await ask(...args);
      } catch (error) {
        state.refusal ??= error;
        throw error;
      }
    };
  return {
    query: (text, values) => open(() => session.query(text, values))() as never,
    prepared: (query) => open(() => session.prepared(query))() as never,
    together: (ask) => session.together(ask),
    commit: open(async () => {
      await session.script('COMMIT');
      state.isCommitted = true;
    }),
  };
}
