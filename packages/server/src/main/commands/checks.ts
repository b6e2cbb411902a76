import type { Database } from '../../platform/db/database.ts';
import type { SchemaState } from '../../platform/db/schema-state.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** The result of one check, and how to fix it. */
export type InstallationCheck = {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  message: string;
  next: string | null;
};

/** Access for `doctor` to everything that it checks. It changes only what opening the database changes. */
export type Inspection = {
  nodeVersion: string;
  /** Invalid variables leave no configuration, so nothing else can be checked. */
  config: InspectedConfig | { faults: { variable: string; message: string }[] };
  openDatabase(): Promise<InspectedDatabase>;
};

export type InspectedConfig = {
  warnings: string[];
  dataDir: string;
  /** The database is in the data directory. */
  embedded: boolean;
  publicUrl: string;
  host: string;
  tls: { certFile: string; keyFile: string } | null;
  /** Without ports that are unused or chosen by the system. */
  ports: { variable: string; port: number; tls: boolean }[];
  /** This process serves the API, at the public address. */
  servesApi: boolean;
  /** DATABASE_POOLER declares a pooler in transaction mode. */
  pooled: boolean;
  /** The maximum of connections that the processes of this machine open. */
  connectionsNeeded: number;
  /** Missing without BACKUP_DIR. */
  backups?: {
    folder: string;
    /** Null without a backup. */
    newestAt: () => Promise<number | null>;
    /** The command with which PostgreSQL archives the log of this database. */
    archiveCommand: (systemId: string) => Promise<string>;
  };
  /** Null: emails go to the test inbox. */
  relay: { name: string; probe: () => Promise<string | null> } | null;
  /** The address for inbound mail and its public name (MAIL_DOMAIN). Missing if this process accepts none. */
  mailIn?: { host: string; port: number; domain: string | null };
};

export type InspectedDatabase = {
  db: Tx & Pick<Database, 'session'>;
  /** The same database without the pooler, if there is one. */
  direct: Tx;
  /** The maximum of connections of all clients together. */
  connectionsAllowed(): Promise<number>;
  /** Milliseconds between this machine's clock and the database's. */
  offsetMs(): number | null;
  durabilityFaults(): Promise<string[]>;
  schemaState(): Promise<SchemaState>;
  /** The problem of the secret key, or null. */
  secretFault(): Promise<string | null>;
  close(): Promise<void>;
};

export function ok(check: string, message: string): InstallationCheck {
  return { check, state: 'ok', message, next: null };
}

export function warn(check: string, message: string, next: string): InstallationCheck {
  return { check, state: 'warn', message, next };
}

export function fail(check: string, message: string, next: string): InstallationCheck {
  return { check, state: 'fail', message, next };
}

export function showChecks(checks: readonly InstallationCheck[]): string {
  return checks.map(showCheck).join('\n');
}

function showCheck({ check, state, message, next }: InstallationCheck): string {
  return `${state.padEnd(4)}  ${check}: ${message}${next === null ? '' : `\n      → ${next}`}`;
}
