export { CONNECTIONS, connectionsAllowed, connectionsOf } from './budget.ts';
export { type ConnectionSource } from './connection.ts';
export {
  type Database,
  type DatabaseOptions,
  movedAhead,
  openDatabase,
  type PageRequest,
} from './database.ts';
export { type Query, type Session, type Tx } from './statements.ts';
export { distribute, type Distributed } from './distribute.ts';
export { isCanceled, isCollision, isPoisonous, isReadOnly, isRefusedData, NoConnection } from './errors.ts';
export { type DatabaseFacts, databaseFacts, type StorageFacts, storageFacts } from './facts.ts';
export { durabilityFaults } from './guard.ts';
export { momentList, plainList } from './list.ts';
export { type Listener, startListener } from './listener.ts';
export { migrate, migrateUpTo } from './migrate.ts';
export { createNotifier, type Notifier } from './notifier.ts';
export { openSignInDatabase, type SignInDatabase } from './sign-in-database.ts';
export { copyProject, copyRows, deleteProject } from './project-rows.ts';
export { appliedMigrations, readSchemaState, SCHEMA, schemaState, type SchemaState } from './schema-state.ts';
export { createScratch } from './scratch.ts';
export { inSlices } from './slices.ts';
