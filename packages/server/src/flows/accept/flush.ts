import { IDEMPOTENCY_WINDOW_MS, INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import { findAnswers } from '../../features/idempotency/index.ts';
import { encodeChunk } from '../../features/inbox/index.ts';
import type { Session, Tx } from '../../io/db/index.ts';
import { againstStored, type Entry, type Lane, type Verdict } from './entry.ts';
import { storeStatement, type StoreOutcome, chunkStatement } from './statements.ts';

/**
 * The one transaction of the accept path, over three rooms' tables (`api_key` and `project` read; `idempotency`,
 * `inbox`, `lane` written): the named exception to "a room writes its own tables".
 *
 *   1. lock the projects' lanes in order of project_id; from here on each of these projects is ours alone
 *   2. in one statement with a snapshot taken after those locks: are the API keys still live, is there room, who wins
 *      its Idempotency-Key, and, only if all is well, chunks, sequence and waiting count
 *   3. if somebody lost (a replay, a reuse, a revoked key): the same for the others, whose keys are won already,
 *      and the stored answers for those who lost
 *
 * 1 and 2 travel together, so that a flush is two round trips.
 *
 * Because revoking takes the same lane lock, a key revoked before step 1 is seen in step 2; because every process
 * takes it, sequence order is commit order and the queue cap is exact.
 */
export async function flush(session: Session, entries: Entry[], options: FlushOptions): Promise<Verdict[]> {
  const at = new Date(options.now);
  const cutoff = new Date(options.now - IDEMPOTENCY_WINDOW_MS);
  const waitingBelow = options.lane === 'bulk' ? INGEST_QUEUE_MAX_RECORDS : null;
  const chunks = chunksOf(entries, options.lane);
  const projects = [...new Set(entries.map((entry) => entry.key.projectId))];
  const [lanes, rows] = await Promise.all([
    session.script(lockLanes(projects)),
    session.prepared<StoreOutcome>(storeStatement({ entries, chunks, at, cutoff, waitingBelow })),
  ]);
  const outcome = rows[0];
  if (!outcome || lanes.length !== projects.length) throw new Error('a project without a lane');
  if (waitingBelow !== null && outcome.waiting >= waitingBelow) {
    await session.script('ROLLBACK');
    return entries.map(() => ({ state: 'queue_full', waiting: outcome.waiting }));
  }
  const verdicts = outcome.clean
    ? entries.map(() => STORED)
    : await settle(session, entries, { outcome, lane: options.lane, at, cutoff });
  await options.beforeCommit?.();
  await session.script('COMMIT');
  return verdicts;
}

export type FlushOptions = {
  now: number;
  lane: Lane;
  /** A place to stand between the work and its commit, for tests that need one. */
  beforeCommit?: () => Promise<void>;
};

const STORED: Verdict = { state: 'stored' };

export type Chunk = {
  projectId: number;
  lane: Lane;
  kind: Entry['kind'];
  /** From where its lane stands. */
  seqOffset: number;
  records: number;
  body: Buffer;
};

function lockLanes(projects: number[]): string {
  // Numbers of our own, checked to be integers: safe inside the text, which is what makes this one round trip.
  const list = projects.filter(Number.isSafeInteger).join(',');
  return `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2s'; SET LOCAL statement_timeout = '4s';
    SELECT 1 FROM beckon.lane WHERE project_id IN (${list}) ORDER BY project_id FOR UPDATE`;
}

/** At most two chunks a project: its users, then its events. All of them arrived together, so none comes before another. */
function chunksOf(entries: Entry[], lane: Lane): Chunk[] {
  const parts = new Map<string, { entry: Entry; records: number; texts: string[] }>();
  for (const entry of entries) {
    if (entry.records === 0) continue;
    const id = `${entry.kind} ${entry.key.projectId}`;
    const part = parts.get(id) ?? { entry, records: 0, texts: [] };
    part.records += entry.records;
    part.texts.push(entry.parts);
    parts.set(id, part);
  }
  const taken = new Map<number, number>();
  const usersFirst = [...parts.values()].toSorted((a, b) => (a.entry.kind < b.entry.kind ? 1 : -1));
  return usersFirst.map(({ entry, records, texts }) => {
    const { projectId } = entry.key;
    const seqOffset = taken.get(projectId) ?? 0;
    taken.set(projectId, seqOffset + records);
    return {
      projectId,
      lane,
      kind: entry.kind,
      seqOffset,
      records,
      body: encodeChunk(`[${texts.join(',')}]`),
    };
  });
}

type Unsettled = { outcome: StoreOutcome; lane: Lane; at: Date; cutoff: Date };

async function settle(tx: Tx, entries: Entry[], left: Unsettled): Promise<Verdict[]> {
  const live = new Set(left.outcome.live ?? []);
  const won = new Set(left.outcome.won ?? []);
  const dead = entries.filter((entry) => !live.has(entry.key.id));
  const lost = entries.filter((entry) => live.has(entry.key.id) && entry.once && !won.has(nameOf(entry)));
  const winners = entries.filter((entry) => !dead.includes(entry) && !lost.includes(entry));
  const chunks = chunksOf(winners, left.lane);
  if (chunks.length > 0) await tx.prepared(chunkStatement(chunks, left.at));
  const stored = await answersFor(tx, lost, left.cutoff);
  return entries.map((entry) => {
    if (dead.includes(entry)) return { state: 'key_dead' };
    if (!lost.includes(entry) || !entry.once) return STORED;
    const answer = stored.get(nameOf(entry));
    if (!answer) throw new Error('an Idempotency-Key was lost to nobody');
    return againstStored(entry.once, answer);
  });
}

async function answersFor(tx: Tx, entries: Entry[], cutoff: Date) {
  const keys = entries.flatMap((entry) =>
    entry.once ? [{ projectId: entry.key.projectId, key: entry.once.key }] : [],
  );
  const answers = keys.length === 0 ? [] : await findAnswers(tx, keys, cutoff);
  return new Map(answers.map((answer) => [`${answer.projectId} ${answer.key.toString('hex')}`, answer]));
}

/** A project's Idempotency-Key, as the statement gives it back. */
function nameOf(entry: Entry): string {
  return `${entry.key.projectId} ${entry.once?.key.toString('hex')}`;
}
