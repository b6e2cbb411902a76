import type { Tx } from '../../../platform/db/statements.ts';
import type { TimelineOrigin, DatabaseTimeline, DatabaseIdentity } from './database-timeline.ts';

/**
 * Selects the identity of this database, as in `database_timeline`. The timeline is that of the log that is being written. The control file shows it
 * only after the first checkpoint that follows a promotion, which may take minutes.
 */
const IDENTITY = `SELECT system_identifier::text AS system_id,
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer AS timeline FROM pg_control_system()`;

/** Runs next to every claim and every submission of emails, against the current state of the database. */
export async function isAccepted(tx: Tx): Promise<boolean> {
  const [row] = await tx.prepared<{ accepted: boolean }>({
    name: 'restores.accepted',
    text: `SELECT EXISTS (SELECT 1 FROM beckon.database_timeline l JOIN (${IDENTITY}) h USING (system_id, timeline)
             WHERE l.accepted_at IS NOT NULL) AS accepted`,
    values: [],
  });
  return row?.accepted ?? false;
}

/**
 * Returns since when this database is known to have all data, or null if it is not. Emails that were submitted before that time may have been
 * submitted by another copy of it as well. A database that was never restored has all data from the beginning.
 */
export async function findAcceptance(tx: Tx): Promise<{ since: number } | null> {
  const [row] = await tx.query<{ accepted_at: Date; accepted_as: TimelineOrigin }>(
    `SELECT l.accepted_at, l.accepted_as FROM beckon.database_timeline l JOIN (${IDENTITY}) h USING (system_id, timeline)
     WHERE l.accepted_at IS NOT NULL`,
  );
  if (!row) return null;
  return { since: row.accepted_as === 'set_up' ? -Infinity : row.accepted_at.getTime() };
}

type Row = {
  system_id: string;
  timeline: number;
  seen_at: Date;
  accepted_at: Date | null;
  accepted_as: TimelineOrigin | null;
  restored_to: Date | null;
  stopped_at: Date | null;
};

/** Records the identity of the database if it is new, and returns its timeline. */
export async function recordIdentity(tx: Tx, now: number): Promise<DatabaseTimeline> {
  await tx.query(
    `INSERT INTO beckon.database_timeline (system_id, timeline, seen_at) SELECT system_id, timeline, $1 FROM (${IDENTITY}) h
     ON CONFLICT DO NOTHING`,
    [new Date(now)],
  );
  const [row] = await tx.query<Row>(
    `SELECT l.* FROM beckon.database_timeline l JOIN (${IDENTITY}) h USING (system_id, timeline)`,
  );
  if (!row) throw new Error('the identity of the database changed during the query');
  return {
    systemId: row.system_id,
    timeline: row.timeline,
    seenAt: row.seen_at,
    acceptedAt: row.accepted_at,
    origin: row.accepted_as,
    restoredTo: row.restored_to,
    stoppedAt: row.stopped_at,
  };
}

export type Acceptance = {
  at: number;
  origin: TimelineOrigin;
  restoredTo?: number;
  stoppedAt?: number;
  counts?: Record<string, number>;
};

/** Returns false if it was accepted before. */
export async function acceptDatabase(
  tx: Tx,
  identity: DatabaseIdentity,
  acceptance: Acceptance,
): Promise<boolean> {
  const { at, origin, restoredTo, stoppedAt, counts } = acceptance;
  const rows = await tx.query(
    `UPDATE beckon.database_timeline SET accepted_at = $3, accepted_as = $4, restored_to = $5, stopped_at = $6, counts = $7
     WHERE system_id = $1 AND timeline = $2 AND accepted_at IS NULL RETURNING 1`,
    [
      identity.systemId,
      identity.timeline,
      new Date(at),
      origin,
      restoredTo === undefined ? null : new Date(restoredTo),
      stoppedAt === undefined ? null : new Date(stoppedAt),
      counts === undefined ? null : JSON.stringify(counts),
    ],
  );
  return rows.length > 0;
}

/** Treats the database as newly restored. Use this for copies that PostgreSQL itself cannot recognize as copies. */
export async function revokeAcceptance(
  tx: Tx,
  { identity, at }: { identity: DatabaseIdentity; at: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.database_timeline SET seen_at = $3, accepted_at = NULL, accepted_as = NULL, restored_to = NULL, stopped_at = NULL, counts = NULL,
       is_closed = true
     WHERE system_id = $1 AND timeline = $2`,
    [identity.systemId, identity.timeline, new Date(at)],
  );
}

/** Returns whether the gate is closed: it was closed and not opened since, even if another server has taken over in between. */
export async function isGateClosed(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ closed: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM beckon.database_timeline l WHERE l.is_closed AND l.accepted_at IS NULL AND l.seen_at >=
       coalesce((SELECT max(o.accepted_at) FROM beckon.database_timeline o), '-infinity')) AS closed`,
  );
  return row?.closed ?? false;
}

/** Locks all timelines, so that only one process confirms a restore at a time. */
export async function lockDatabaseTimelines(tx: Tx): Promise<void> {
  await tx.query(`SELECT 1 FROM beckon.database_timeline ORDER BY system_id, timeline FOR UPDATE`);
}
