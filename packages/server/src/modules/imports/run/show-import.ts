import type { Import as Shown, ImportProgress } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { findFirstAtWork } from '../reads.ts';
import { type Import, PART_BYTES, partsOf } from '../import.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type Db = Tx & { clock: { now(): number } };

/** Returns imports as the API shows them. `nameOf` maps the member who created an import to a name. */
export async function showImports(
  db: Db,
  imports: Import[],
  nameOf: (actor: string) => string | null,
): Promise<Shown[]> {
  const [first] = imports;
  const atWork = first ? await findFirstAtWork(db, first.projectId) : null;
  return imports.map((job) => importView(job, { atWork, now: db.clock.now(), nameOf }));
}

export async function showImport(
  db: Db,
  job: Import,
  nameOf: (actor: string) => string | null,
): Promise<Shown> {
  const atWork = await findFirstAtWork(db, job.projectId);
  return importView(job, { atWork, now: db.clock.now(), nameOf });
}

type ViewContext = { atWork: string | null; now: number; nameOf: (actor: string) => string | null };

function importView(job: Import, { atWork, now, nameOf }: ViewContext): Shown {
  const { sizeBytes, options } = job;
  return {
    id: job.id,
    kind: job.kind,
    name: job.name,
    state: job.state,
    problem: job.problem,
    size_bytes: sizeBytes,
    file_modified_at: job.fileModifiedAt,
    part_bytes: PART_BYTES,
    parts_total: sizeBytes === null ? 0 : partsOf(sizeBytes),
    mapping: job.mapping,
    stripe: options && { unmatched_as_customers: options.unmatchedAsCustomers },
    is_live: job.isLive,
    check: job.check,
    progress: progressOf(job, { atWork, now }),
    facts: job.facts,
    created_at: iso(job.createdAt),
    created_by: nameOf(job.createdBy),
    ended_at: isoOrNull(job.endedAt),
  };
}

function progressOf(job: Import, { atWork, now }: Pick<ViewContext, 'atWork' | 'now'>): ImportProgress {
  const { counts, check, startedAt, state } = job;
  const rowsTotal = state === 'checking' ? null : (check?.rows ?? null);
  const rate = state === 'running' || state === 'checking' ? paceOf(job, now) : null;
  return {
    rows: counts.rows,
    rows_total: rowsTotal,
    bytes: counts.bytes,
    users: {
      accepted: counts.users,
      new: counts.usersNew,
      changed: counts.usersChanged,
      same: counts.usersSame,
    },
    events: { accepted: counts.events, new: counts.eventsNew, known: counts.eventsKnown },
    rejected: counts.rejected,
    erased: counts.erased,
    started_at: isoOrNull(startedAt),
    rows_per_s: rate === null ? null : Math.round(rate),
    seconds_left: secondsLeft(job, rowsTotal, rate),
    waits_for: waitsFor(job, { atWork, now }),
  };
}

/** Returns the rows per second. Until it is measured: the average since the import was requested. */
function paceOf({ pace, counts, queuedAt }: Import, now: number): number | null {
  if (pace !== null) return pace;
  if (queuedAt === null || counts.rows === 0 || now <= queuedAt) return null;
  return (counts.rows * 1_000) / (now - queuedAt);
}

function secondsLeft(
  { counts, sizeBytes, state }: Import,
  rows: number | null,
  rate: number | null,
): number | null {
  if (rate === null || rate <= 0) return null;
  if (rows !== null) return Math.max(0, Math.ceil((rows - counts.rows) / rate));
  if (sizeBytes === null || counts.bytes === 0 || state !== 'checking') return null;
  return Math.ceil(((sizeBytes - counts.bytes) * counts.rows) / counts.bytes / rate);
}

function waitsFor(
  { id, state, waitsFor: queue, leaseUntil }: Import,
  { atWork, now }: Pick<ViewContext, 'atWork' | 'now'>,
): ImportProgress['waits_for'] {
  if (state !== 'running' && state !== 'checking') return null;
  if (atWork !== id) return 'another_import';
  return leaseUntil === null || leaseUntil <= now ? 'worker' : queue;
}
