import type { Tx } from '../../io/db/index.ts';
import type { How, Lineage, Place } from './lineage.ts';

/**
 * `lineage`. The timeline is that of the log which is being written: the control file would say it only after the first checkpoint
 * behind a promotion, which may take minutes.
 */
const HERE = `SELECT system_identifier::text AS system_id,
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer AS timeline FROM pg_control_system()`;

/** Asked beside every claim and every submission of letters, of the database as it is at that moment. */
export async function isAccepted(tx: Tx): Promise<boolean> {
  const [row] = await tx.prepared<{ accepted: boolean }>({
    name: 'restores.accepted',
    text: `SELECT EXISTS (SELECT 1 FROM beckon.lineage l JOIN (${HERE}) h USING (system_id, timeline)
             WHERE l.accepted_at IS NOT NULL) AS accepted`,
    values: [],
  });
  return row?.accepted ?? false;
}

type Row = {
  system_id: string;
  timeline: number;
  seen_at: Date;
  accepted_at: Date | null;
  how: How | null;
  restored_to: Date | null;
  stopped_at: Date | null;
};

/** Notes as what the database is found, where nobody did before; what it is known as. */
export async function noteHere(tx: Tx, now: number): Promise<Lineage> {
  await tx.query(
    `INSERT INTO beckon.lineage (system_id, timeline, seen_at) SELECT system_id, timeline, $1 FROM (${HERE}) h
     ON CONFLICT DO NOTHING`,
    [new Date(now)],
  );
  const [row] = await tx.query<Row>(
    `SELECT l.* FROM beckon.lineage l JOIN (${HERE}) h USING (system_id, timeline)`,
  );
  if (!row) throw new Error('the identity of the database changed during the query');
  return {
    systemId: row.system_id,
    timeline: row.timeline,
    seenAt: row.seen_at,
    acceptedAt: row.accepted_at,
    how: row.how,
    restoredTo: row.restored_to,
    stoppedAt: row.stopped_at,
  };
}

export type Acceptance = {
  at: number;
  how: How;
  restoredTo?: number;
  stoppedAt?: number;
  counts?: Record<string, number>;
};

/** False: somebody else accepted it before. */
export async function acceptPlace(tx: Tx, place: Place, acceptance: Acceptance): Promise<boolean> {
  const { at, how, restoredTo, stoppedAt, counts } = acceptance;
  const rows = await tx.query(
    `UPDATE beckon.lineage SET accepted_at = $3, how = $4, restored_to = $5, stopped_at = $6, counts = $7
     WHERE system_id = $1 AND timeline = $2 AND accepted_at IS NULL RETURNING 1`,
    [
      place.systemId,
      place.timeline,
      new Date(at),
      how,
      restoredTo === undefined ? null : new Date(restoredTo),
      stoppedAt === undefined ? null : new Date(stoppedAt),
      counts === undefined ? null : JSON.stringify(counts),
    ],
  );
  return rows.length > 0;
}

/** As if it had just been found restored: for copies that PostgreSQL itself does not know to be some. */
export async function takeBackAcceptance(tx: Tx, { place, at }: { place: Place; at: number }): Promise<void> {
  await tx.query(
    `UPDATE beckon.lineage SET seen_at = $3, accepted_at = NULL, how = NULL, restored_to = NULL, stopped_at = NULL, counts = NULL,
       is_closed = true
     WHERE system_id = $1 AND timeline = $2`,
    [place.systemId, place.timeline, new Date(at)],
  );
}

/** Whether somebody has closed the gate and nobody opened it since, also where another server has taken over meanwhile. */
export async function isGateClosed(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ closed: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM beckon.lineage l WHERE l.is_closed AND l.accepted_at IS NULL AND l.seen_at >=
       coalesce((SELECT max(o.accepted_at) FROM beckon.lineage o), '-infinity')) AS closed`,
  );
  return row?.closed ?? false;
}

/** Whoever confirms a restore does so alone; everybody who asks meanwhile waits. */
export async function lockLineage(tx: Tx): Promise<void> {
  await tx.query(`SELECT 1 FROM beckon.lineage ORDER BY system_id, timeline FOR UPDATE`);
}
