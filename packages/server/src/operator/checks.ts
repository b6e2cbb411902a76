import type { Database, SchemaState, Tx } from '../io/db/index.ts';

/** One thing that `doctor` looked at, and what to do next where it is not as it should be. */
export type Check = { check: string; state: 'ok' | 'warn' | 'fail'; message: string; next: string | null };

/** What `doctor` is handed: it looks, and changes nothing but what opening the database itself changes. */
export type Inspection = {
  nodeVersion: string;
  /** With faults there is no configuration, and nothing else can be looked at. */
  config: InspectedConfig | { faults: { variable: string; message: string }[] };
  openDatabase(): Promise<InspectedDatabase>;
};

export type InspectedConfig = {
  warnings: string[];
  dataDir: string;
  /** The database lies in the data directory. */
  embedded: boolean;
  publicUrl: string;
  host: string;
  tls: { certFile: string; keyFile: string } | null;
  /** By variable; without those that are not used or may be any. */
  ports: { variable: string; port: number; tls: boolean }[];
  /** The API answers here, and people reach it by the public address. */
  servesApi: boolean;
  /** DATABASE_POOLER says that a pooler in transaction mode stands before the database. */
  pooled: boolean;
  /** How many connections our processes open at most, here; other machines have their own. */
  connectionsNeeded: number;
  /** Left out where none are meant to be made. */
  backups?: {
    folder: string;
    /** Null where there is none. */
    newestAt: () => Promise<number | null>;
    /** By which PostgreSQL copies the log of this database there. */
    archiveCommand: (systemId: string) => Promise<string>;
  };
  /** Null: letters go into the outbox. */
  relay: { name: string; probe: () => Promise<string | null> } | null;
  /** Where mail comes in, and the public name of that (MAIL_DOMAIN); left out where this process takes none in. */
  mailIn?: { host: string; port: number; domain: string | null };
};

export type InspectedDatabase = {
  db: Tx & Pick<Database, 'session'>;
  /** The same by the way past a pooler; the same way where there is none. */
  direct: Tx;
  /** How many connections all who use this database may have, together. */
  connectionsAllowed(): Promise<number>;
  /** Milliseconds from this machine's clock to the database's. */
  offsetMs(): number | null;
  durabilityFaults(): Promise<string[]>;
  schemaState(): Promise<SchemaState>;
  /** What is wrong with the secret key; null where nothing is. */
  secretFault(): Promise<string | null>;
  close(): Promise<void>;
};

export function ok(check: string, message: string): Check {
  return { check, state: 'ok', message, next: null };
}

export function warn(check: string, message: string, next: string): Check {
  return { check, state: 'warn', message, next };
}

export function fail(check: string, message: string, next: string): Check {
  return { check, state: 'fail', message, next };
}

export function showChecks(checks: readonly Check[]): string {
  return checks.map(showCheck).join('\n');
}

function showCheck({ check, state, message, next }: Check): string {
  return `${state.padEnd(4)}  ${check}: ${message}${next === null ? '' : `\n      → ${next}`}`;
}
