import { readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';

const SCHEMA_FILE = new URL('../../../schema.sql', import.meta.url);

/**
 * Creates the schema of `schema.sql`, and records the PostgreSQL cluster that it is created in as known: a new database has lost no email.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(await readFile(SCHEMA_FILE, 'utf8')).execute(db);
  await sql.raw(ACCEPT_PLACE).execute(db);
}

const ACCEPT_PLACE = `
INSERT INTO beckon.database_timeline (system_id, timeline, seen_at, accepted_at, accepted_as)
SELECT system_identifier::text, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer, now(), now(), 'set_up'
FROM pg_control_system()`;
