import { Kysely, PostgresDialect } from 'kysely';
import { CONNECTIONS, type ConnectionSource, openPool } from './connections.ts';
import { SCHEMA } from './schema-state.ts';

/** The database connection of the sign-in library, besides Beckon's own pools: a few statements of some milliseconds each. */
export type SignInDatabase = {
  options: { db: Kysely<unknown>; type: 'postgres'; schemaName: string; transaction: true };
  close(): Promise<void>;
};

const QUERY_WITHIN_MS = 10_000;
const STATEMENT_WITHIN_MS = 9_000;

/**
 * Opens the connections for sign-ins. A startup option limits their statements. A pooler rejects that option, so it is left out if
 * `ADMIN_DATABASE_URL` leads through the pooler as well (`isPooled`).
 */
export function openSignInDatabase(connection: ConnectionSource, isPooled: boolean): SignInDatabase {
  const pool = openPool(connection, {
    max: CONNECTIONS.signIn,
    name: 'sign-in',
    queryWithinMs: QUERY_WITHIN_MS,
    statementWithinMs: isPooled ? undefined : STATEMENT_WITHIN_MS,
  });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  return {
    options: { db, type: 'postgres', schemaName: SCHEMA, transaction: true },
    close: () => db.destroy(),
  };
}
