import { type Kysely, sql } from 'kysely';

/** When a tracking host first led to this installation. A host that never did must not change how requests are answered. */
const SCHEMA = `ALTER TABLE beckon.sending_domain ADD COLUMN tracking_worked_at timestamptz;
UPDATE beckon.sending_domain SET tracking_worked_at = coalesce(tracking_checked_at, tracking_since) WHERE tracking_state = 'working';`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(SCHEMA).execute(db);
}
