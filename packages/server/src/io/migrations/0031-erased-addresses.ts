import { type Kysely, sql } from 'kysely';

/**
 * Rows about an erased user keep no address and no user id. They are of the kinds `address_hash` and `person_hash`, and their
 * value is an HMAC-SHA-256 in hex. `from_erased` marks a row whose address came back with a new user, so that the dashboard
 * can say why a user who never unsubscribed is suppressed.
 *
 * `suppression_key` holds the installation's random key for these hashes, encrypted with the secret key.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `CREATE TABLE beckon.suppression_key (
       only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
       sealed bytea NOT NULL,
       created_at timestamptz NOT NULL
     )`,
    `ALTER TABLE beckon.suppression ADD COLUMN from_erased boolean NOT NULL DEFAULT false`,
    ...['suppression', 'suppression_lift', 'topic_refusal'].map(
      (table) =>
        `ALTER TABLE beckon.${table} DROP CONSTRAINT ${table}_kind_check,
           ADD CONSTRAINT ${table}_kind_check CHECK (kind IN ('address', 'person', 'address_hash', 'person_hash'))`,
    ),
    ...['suppression', 'topic_refusal'].map(
      (table) =>
        `ALTER TABLE beckon.${table} ADD CONSTRAINT ${table}_hash_check
           CHECK (kind IN ('address', 'person') OR value ~ '^[0-9a-f]{64}$')`,
    ),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
