import { type Kysely, sql } from 'kysely';

/** Whether somebody said that no letter is to leave (`restore close`): then no standby that takes over opens the gate by itself. */
const SCHEMA = `ALTER TABLE beckon.lineage ADD COLUMN is_closed boolean NOT NULL DEFAULT false`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(SCHEMA).execute(db);
}
