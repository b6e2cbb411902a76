import { EmbeddedFailure, type UpgradeSchema } from '@beckon/postgres';
import { migrateUpTo } from '../platform/db/migrate.ts';
import { appliedMigrations, readSchemaState, SCHEMA } from '../platform/db/schema-state.ts';

/** The schema that an upgrade of PostgreSQL copies: that of Beckon, as its migrations create it. */
export const upgradeSchema: UpgradeSchema = {
  name: SCHEMA,
  async lastMigration(query) {
    const state = await readSchemaState(query);
    if (state.kind === 'refused')
      throw new EmbeddedFailure('cannot_upgrade', `${state.problem}. ${state.next}`);
    return (await appliedMigrations(query)).at(-1);
  },
  migrateUpTo: (connection, last) => migrateUpTo(() => connection, last),
};
