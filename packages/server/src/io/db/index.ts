export { type ConnectionSource } from './connection.ts';
export {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Query,
  type Session,
  type Tx,
} from './database.ts';
export { isCollision, isRefusedData } from './errors.ts';
export { durabilityFaults } from './guard.ts';
export { migrate, pendingMigrations, SCHEMA } from './migrate.ts';
