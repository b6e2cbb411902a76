import type { ImportCheck } from '@beckon/contract/dashboard';
import { deleteFindings, insertFindings, lockImport, updateProgress } from '../store.ts';
import { FINDINGS_MAX, type Import, NOTHING_COUNTED } from '../import.ts';
import type { ImportSource } from '../source.ts';
import { findPeople } from '../../users/index.ts';
import { listRules } from '../../rules/index.ts';
import { readProjectLock } from '../../../platform/locks/project-lock.ts';
import { CheckTally } from './check-tally.ts';
import type { ImportDeps } from './deps.ts';
import { findErased } from './leave-out.ts';
import { LEASE_MS } from './lease.ts';
import { type RowFinding, type ReadChunk, readChunk } from './read-chunk.ts';
import { findingsOf } from './take-chunk.ts';

/** How often the progress is written. */
const PROGRESS_EVERY_ROWS = 10_000;

/**
 * Reads a source from beginning to end, accepts nothing, and reports what an import would do. Returns null if another worker has the import
 * now. A killed worker leaves no report, and the next one starts from the beginning.
 */
export async function checkImport(
  deps: Pick<ImportDeps, 'db'>,
  job: Import,
  { source, signal }: { source: ImportSource; signal: AbortSignal },
): Promise<ImportCheck | null> {
  const { db } = deps;
  const { projectId } = job;
  const now = db.clock.now() + (await readProjectLock(db, projectId)).aheadMs;
  const tally = new CheckTally({ rules: await listRules(db, projectId), now });
  const progress: CheckProgress = { findings: 0, waiting: [], rows: 0 };
  if (!(await restartCheck(deps, job))) return null;
  for await (const chunk of source.read(null, signal)) {
    signal.throwIfAborted();
    const read = readChunk(chunk, { now, suppress: true });
    tally.add(chunk, read, await existingIds(db, projectId, read));
    progress.waiting.push(...findingsOf(read.rejected, chunk));
    const isDue =
      tally.rows - progress.rows >= PROGRESS_EVERY_ROWS || progress.waiting.length >= FINDINGS_AT_ONCE;
    if (isDue && !(await saveProgress(deps, job, { tally, progress }))) return null;
  }
  return (await saveProgress(deps, job, { tally, progress })) ? tally.report(db.clock.now()) : null;
}

const FINDINGS_AT_ONCE = 2_000;

/** `findings`: how many are written; `rows`: how many the last progress update covered. */
type CheckProgress = { findings: number; waiting: RowFinding[]; rows: number };
type Deps = Pick<ImportDeps, 'db'>;

function restartCheck({ db }: Deps, job: Import): Promise<boolean> {
  return db.transaction(async (tx) => {
    const row = await lockImport(tx, job);
    if (row?.epoch !== job.epoch) return false;
    await deleteFindings(tx, job);
    return true;
  });
}

async function existingIds(db: Deps['db'], projectId: number, read: ReadChunk): Promise<Set<string>> {
  const ids = new Set([...read.users, ...read.events].map(({ record }) => record.external_user_id));
  const keys = [...ids].map((userId) => ({ projectId, userId }));
  return new Set((await findPeople(db, keys, { emails: false })).map(({ userId }) => userId));
}

function saveProgress(
  { db }: Deps,
  job: Import,
  { tally, progress }: { tally: CheckTally; progress: CheckProgress },
): Promise<boolean> {
  const now = db.clock.now();
  const waiting = progress.waiting.splice(0);
  const { rows, bytes, rejected } = tally;
  return db.transaction(async (tx) => {
    // An erasure locks the import too. Either its hash is already here, or it finds what is written here.
    await lockImport(tx, job);
    const out = await findErased(tx, job);
    const findings = out.ofFindings(waiting).slice(0, FINDINGS_MAX - progress.findings);
    const isOurs = await updateProgress(tx, job, {
      position: null,
      counts: { ...NOTHING_COUNTED, rows, bytes, rejected },
      facts: tally.facts,
      findings: progress.findings + findings.length,
      waitsFor: null,
      at: new Date(now),
      leaseUntil: new Date(now + LEASE_MS),
    });
    if (isOurs) await insertFindings(tx, { ...job, from: progress.findings }, findings);
    progress.findings += findings.length;
    progress.rows = rows;
    return isOurs;
  });
}
