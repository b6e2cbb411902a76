import { type Kysely, sql } from 'kysely';

/**
 * `beneath`: what others said of a place whose recipient spoke too, or the other way round: of the two sides the weaker word,
 * with its `reason`, `until`, `created_at` and `created_by`. Whoever lifts the stronger one has not lifted this.
 *
 * `webhook_delivery_fresh` leads past whatever is replayed to what happens now.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('ALTER TABLE beckon.suppression ADD COLUMN beneath jsonb').execute(db);
  await sql
    .raw(
      `CREATE INDEX webhook_delivery_fresh ON beckon.webhook_delivery (project_id, endpoint_id, state, next_at, message_id)
       WHERE next_at IS NOT NULL AND trigger = 'auto'`,
    )
    .execute(db);
}
