import { type Kysely, sql } from 'kysely';

/**
 * Once places in the table are used again, ranges of pages say nothing of time any more, and every step of forgetting read the table
 * from its beginning. While the index is built, a second or two for a million keys, accepting waits.
 */
const SCHEMA = `
DROP INDEX beckon.idempotency_accepted_at;
CREATE INDEX idempotency_accepted_at ON beckon.idempotency (accepted_at);
`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(SCHEMA).execute(db);
}
