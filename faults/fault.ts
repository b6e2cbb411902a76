import type pg from 'pg';
import type { Journal } from './journal.ts';

/** One way in which things go wrong, done to a running stage and undone again. */
export type Fault = {
  /** F2, F5 …: the row of docs/explanation/proof.md. */
  code: string;
  name: string;
  /** Of all that may happen next, so many shares. */
  weight: number;
  /** Does it, waits as long as it lasts, undoes it. It throws only where the harness itself is broken. */
  run(stage: Stage, random: () => number): Promise<void>;
};

export type Role = 'api' | 'worker' | 'mail-in';

/** A process of the product under a supervisor that starts it again when it ends, as a service manager would. */
export type Victim = {
  role: Role;
  name: string;
  url: string | null;
  pid(): number | null;
  /** What of this process's work is under way this moment, by the journals and the database. */
  inFlight(): Promise<number>;
  signal(signal: NodeJS.Signals): void;
  /** Gone, and started anew by the supervisor, with these variables besides (they stay until they are given otherwise). */
  restart(how: 'SIGTERM' | 'SIGKILL', env?: Record<string, string>): Promise<void>;
  ready(): Promise<void>;
};

/** A TCP proxy between two parts. What it does holds for connections that are open and those to come, until `mend`. */
export type Wire = {
  port: number;
  spoil(how: Spoiling): void;
  mend(): void;
};
export type Spoiling =
  /** Connections are reset, before the first byte of an answer or after it. */
  | { kind: 'reset'; when: 'before-reply' | 'after-reply' | 'now' }
  /** Bytes vanish in one direction or both, and nobody is told. */
  | { kind: 'half-open'; direction: 'up' | 'down' | 'both' }
  | { kind: 'delay'; ms: number }
  | { kind: 'drip'; bytesPerSecond: number }
  | { kind: 'refuse' };

export type Stage = {
  dir: string;
  victims: Victim[];
  /** `api` stands between the load and each API process. */
  wires: { database: Wire; smtp: Wire; hooks: Wire; api: Wire };
  postgres: {
    dataDir: string;
    killTree(): Promise<void>;
    stopImmediately(): Promise<void>;
    start(): Promise<void>;
    /** Past the wire, as the superuser. */
    client(): Promise<pg.Client>;
  };
  /** How the bad endpoint answers from now on; null: by chance, as it does of itself. */
  badEndpoint(mode: string | null): void;
  journal: Journal;
  /** False as soon as the run is to end; long faults look at it. */
  goesOn(): boolean;
};
