import type pg from 'pg';
import type { Journal } from './journal.ts';

/** One kind of failure, injected into a running stage and removed again. */
export type Fault = {
  /** F2, F5 …: the row of docs/explanation/proof.md. */
  code: string;
  name: string;
  /** The weight of the fault in the random choice. */
  weight: number;
  /** Injects the fault, waits as long as it lasts, and removes it. It throws only if the harness itself is broken. */
  run(stage: Stage, random: () => number): Promise<void>;
};

export type Role = 'api' | 'worker' | 'mail-in';

/** A process of the product under a supervisor that restarts it when it ends, as a service manager would. */
export type Victim = {
  role: Role;
  name: string;
  url: string | null;
  pid(): number | null;
  /** Returns how much of this process's work is under way now, by the journals and the database. */
  inFlight(): Promise<number>;
  signal(signal: NodeJS.Signals): void;
  /** Ends the process. The supervisor restarts it with these additional variables, which stay until they are replaced. */
  restart(signal: 'SIGTERM' | 'SIGKILL', env?: Record<string, string>): Promise<void>;
  ready(): Promise<void>;
};

/** A TCP proxy between two parts. A fault applies to open and new connections until `restore`. */
export type Wire = {
  port: number;
  inject(fault: WireFault): void;
  restore(): void;
};
export type WireFault =
  /** Resets connections, before the first byte of a response or after it. */
  | { kind: 'reset'; when: 'before-reply' | 'after-reply' | 'now' }
  /** Drops bytes in one direction or both without an error. */
  | { kind: 'half-open'; direction: 'up' | 'down' | 'both' }
  | { kind: 'delay'; ms: number }
  | { kind: 'drip'; bytesPerSecond: number }
  | { kind: 'refuse' };

export type Stage = {
  dir: string;
  victims: Victim[];
  /** `api` is between the load and each API process. */
  wires: { database: Wire; smtp: Wire; hooks: Wire; relays: Wire; api: Wire };
  postgres: {
    dataDir: string;
    killTree(): Promise<void>;
    stopImmediately(): Promise<void>;
    start(): Promise<void>;
    /** Connects directly, not through the wire, as the superuser. */
    client(): Promise<pg.Client>;
  };
  /** Sets how the bad endpoint answers from now on. Null: at random, as by default. */
  setBadEndpoint(mode: string | null): void;
  journal: Journal;
  /** Returns false as soon as the run is to end. Long faults check it. */
  isRunning(): boolean;
};
