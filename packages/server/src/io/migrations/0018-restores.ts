import { type Kysely, sql } from 'kysely';

/**
 * As which database this one is known: PostgreSQL's own identity of the cluster, and the timeline that every restore to a
 * point in time begins anew. What is not accepted here was restored, and nobody has said yet which letters may have left.
 *
 * The database as this migration finds it is accepted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(LINEAGE).execute(db);
}

const LINEAGE = `
CREATE TABLE beckon.lineage (
  system_id text COLLATE "C" NOT NULL,
  timeline integer NOT NULL,
  seen_at timestamptz NOT NULL,
  accepted_at timestamptz,
  how text COLLATE "C" CHECK (how IN ('set_up', 'confirmed', 'nothing_lost', 'failover', 'upgraded')),
  restored_to timestamptz,
  stopped_at timestamptz,
  counts jsonb,
  PRIMARY KEY (system_id, timeline),
  CHECK ((accepted_at IS NULL) = (how IS NULL))
);
INSERT INTO beckon.lineage (system_id, timeline, seen_at, accepted_at, how)
SELECT system_identifier::text, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer, now(), now(), 'set_up'
FROM pg_control_system();
`;
