import { Kysely, PostgresDialect } from 'kysely';
import { CONNECTIONS } from './budget.ts';
import { type ConnectionSource, openPool } from './connection.ts';
import { SCHEMA } from './schema-state.ts';

/** What the library that conducts sign-ins asks of a database, beside our own pool: few, and each a matter of milliseconds. */
export type SignInDatabase = {
  options: { db: Kysely<unknown>; type: 'postgres'; schemaName: string; transaction: true };
  close(): Promise<void>;
};

const QUERY_WITHIN_MS = 10_000;
const STATEMENT_WITHIN_MS = 9_000;

/** `isPooled`: a pooler is in use, and this connection may lead through it too; poolers refuse the start-up option that bounds statements. */
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
