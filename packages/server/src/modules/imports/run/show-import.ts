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
  return imports.map((one) => toShown(one, { atWork, now: db.clock.now(), nameOf }));
}

export async function showImport(
  db: Db,
  one: Import,
  nameOf: (actor: string) => string | null,
): Promise<Shown> {
  const atWork = await findFirstAtWork(db, one.projectId);
  return toShown(one, { atWork, now: db.clock.now(), nameOf });
}

type Beside = { atWork: string | null; now: number; nameOf: (actor: string) => string | null };

function toShown(one: Import, { atWork, now, nameOf }: Beside): Shown {
  const { sizeBytes, options } = one;
  return {
    id: one.id,
    kind: one.kind,
    name: one.name,
    state: one.state,
    problem: one.problem,
    size_bytes: sizeBytes,
    file_modified_at: one.fileModifiedAt,
    part_bytes: PART_BYTES,
    parts_total: sizeBytes === null ? 0 : partsOf(sizeBytes),
    mapping: one.mapping,
    stripe: options && { unmatched_as_customers: options.unmatchedAsCustomers },
    is_live: one.isLive,
    check: one.check,
    progress: progressOf(one, { atWork, now }),
    facts: one.facts,
    created_at: iso(one.createdAt),
    created_by: nameOf(one.createdBy),
    ended_at: isoOrNull(one.endedAt),
  };
}

function progressOf(one: Import, { atWork, now }: Pick<Beside, 'atWork' | 'now'>): ImportProgress {
  const { counts, check, startedAt, state } = one;
  const rowsTotal = state === 'checking' ? null : (check?.rows ?? null);
  const rate = state === 'running' || state === 'checking' ? paceOf(one, now) : null;
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
    seconds_left: secondsLeft(one, rowsTotal, rate),
    waits_for: waitsFor(one, { atWork, now }),
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
  { atWork, now }: Pick<Beside, 'atWork' | 'now'>,
): ImportProgress['waits_for'] {
  if (state !== 'running' && state !== 'checking') return null;
  if (atWork !== id) return 'another_import';
  return leaseUntil === null || leaseUntil <= now ? 'worker' : queue;
}
