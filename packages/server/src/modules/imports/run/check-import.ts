import type { ImportCheck } from '@beckon/contract/dashboard';
import { deleteFindings, insertFindings, lockImport, updateProgress } from '../store.ts';
import { FINDINGS_MAX, type Import, NOTHING_COUNTED } from '../import.ts';
import type { ImportSource } from '../source.ts';
import { findPeople } from '../../users/index.ts';
import { listRules } from '../../rules/index.ts';
import { readTurn } from '../../../platform/locks/project-lock.ts';
import { CheckTally } from './check-tally.ts';
import type { ImportDeps } from './deps.ts';
import { findErased } from './leave-out.ts';
import { LEASE_MS } from './lease.ts';
import { type RowFinding, type ReadChunk, readChunk } from './read-chunk.ts';
import { findingsOf } from './take-chunk.ts';

/** How often the progress is written. */
const TELL_EVERY_ROWS = 10_000;

/**
 * Reads a source from beginning to end, accepts nothing, and reports what an import would do. Returns null if another worker has the import
 * now. A killed worker leaves no report, and the next one starts from the beginning.
 */
export async function checkImport(
  deps: Pick<ImportDeps, 'db'>,
  one: Import,
  { source, signal }: { source: ImportSource; signal: AbortSignal },
): Promise<ImportCheck | null> {
  const { db } = deps;
  const { projectId } = one;
  const now = db.clock.now() + (await readTurn(db, projectId)).aheadMs;
  const tally = new CheckTally({ rules: await listRules(db, projectId), now });
  const told: Told = { findings: 0, waiting: [], rows: 0 };
  if (!(await restartCheck(deps, one))) return null;
  for await (const chunk of source.read(null, signal)) {
    signal.throwIfAborted();
    const read = readChunk(chunk, { now, suppress: true });
    tally.add(chunk, read, await knownAmong(db, projectId, read));
    told.waiting.push(...findingsOf(read.rejected, chunk));
    const isDue = tally.rows - told.rows >= TELL_EVERY_ROWS || told.waiting.length >= FINDINGS_AT_ONCE;
    if (isDue && !(await tell(deps, one, { tally, told }))) return null;
  }
  return (await tell(deps, one, { tally, told })) ? tally.report(db.clock.now()) : null;
}

const FINDINGS_AT_ONCE = 2_000;

/** `findings`: how many are written; `rows`: how many the last progress update covered. */
type Told = { findings: number; waiting: RowFinding[]; rows: number };
type Deps = Pick<ImportDeps, 'db'>;

function restartCheck({ db }: Deps, one: Import): Promise<boolean> {
  return db.transaction(async (tx) => {
    const row = await lockImport(tx, one);
    if (row?.epoch !== one.epoch) return false;
    await deleteFindings(tx, one);
    return true;
  });
}

async function knownAmong(db: Deps['db'], projectId: number, read: ReadChunk): Promise<Set<string>> {
  const ids = new Set([...read.users, ...read.events].map(({ record }) => record.external_user_id));
  const wanted = [...ids].map((userId) => ({ projectId, userId }));
  return new Set((await findPeople(db, wanted, { emails: false })).map(({ userId }) => userId));
}

function tell(
  { db }: Deps,
  one: Import,
  { tally, told }: { tally: CheckTally; told: Told },
): Promise<boolean> {
  const now = db.clock.now();
  const waiting = told.waiting.splice(0);
  const { rows, bytes, rejected } = tally;
  return db.transaction(async (tx) => {
    // An erasure locks the import too. Either its hash is already here, or it finds what is written here.
    await lockImport(tx, one);
    const out = await findErased(tx, one);
    const findings = out.ofFindings(waiting).slice(0, FINDINGS_MAX - told.findings);
    const isOurs = await updateProgress(tx, one, {
      place: null,
      counts: { ...NOTHING_COUNTED, rows, bytes, rejected },
      facts: tally.facts,
      findings: told.findings + findings.length,
      waitsFor: null,
      at: new Date(now),
      leaseUntil: new Date(now + LEASE_MS),
    });
    if (isOurs) await insertFindings(tx, { ...one, from: told.findings }, findings);
    told.findings += findings.length;
    told.rows = rows;
    return isOurs;
  });
}
