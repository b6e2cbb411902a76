import { Kysely, PostgresDialect } from 'kysely';
import { CONNECTIONS } from './budget.ts';
import { type ConnectionSource, openPool } from './connection.ts';
import { SCHEMA } from './schema-state.ts';

/** The database as the sign-in library uses it, beside Beckon's own pools: a few statements of some milliseconds each. */
export type SignInDatabase = {
  options: { db: Kysely<unknown>; type: 'postgres'; schemaName: string; transaction: true };
  close(): Promise<void>;
};

const QUERY_WITHIN_MS = 10_000;
const STATEMENT_WITHIN_MS = 9_000;

/**
 * Opens the connections for sign-ins. They bypass a pooler (`ADMIN_DATABASE_URL`, which is required with one), so a startup option
 * can limit their statements.
 */
export function openSignInDatabase(connection: ConnectionSource): SignInDatabase {
  const pool = openPool(connection, {
    max: CONNECTIONS.signIn,
    name: 'sign-in',
    queryWithinMs: QUERY_WITHIN_MS,
    statementWithinMs: STATEMENT_WITHIN_MS,
  });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  return {
    options: { db, type: 'postgres', schemaName: SCHEMA, transaction: true },
    close: () => db.destroy(),
  };
}
