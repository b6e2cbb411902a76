import { type Kysely, sql } from 'kysely';

/** What was wrong with which record of a request, beside how many were refused. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('ALTER TABLE beckon.ingest_log ADD COLUMN faults jsonb').execute(db);
}
