import { closeSync, fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What each process of a run writes down for itself, a line each, on the disk before it acts on it: the oracle believes
 * these files and the database, and nothing that the product says of itself besides. Times are `Date.now()` of this machine.
 */
export type Entry = LoadEntry | ActEntry | SinkEntry | FaultEntry;

/** A request of the load: `begin` is on the disk before its first byte leaves, `end` when its answer was read whole. */
export type LoadEntry =
  | {
      kind: 'begin';
      at: number;
      /** One for each try; tries of one request share `request` and the Idempotency-Key. */
      id: string;
      request: string;
      project: string;
      key: string;
      /** Which API process it was sent to, by its address. */
      to: string;
      path: string;
      idempotencyKey: string;
      body: string;
      /** How many records it carries. */
      records: number;
      /** `clash`: an Idempotency-Key that another body has already; `revoked`: by a key whose revocation was acknowledged. */
      intent: 'normal' | 'retry' | 'clash' | 'revoked';
    }
  | { kind: 'end'; at: number; id: string; status: number; body: string; replayed: boolean }
  /** No whole answer came: it may have had its effect or not. */
  | { kind: 'lost'; at: number; id: string; reason: string };

/** What a person or an operator did to the product beside the load. `done` is null where no answer came. */
export type ActEntry = {
  kind: 'act';
  /** Before it was asked, and when the answer was read. */
  at: number;
  done: number | null;
  act:
    | 'approve'
    | 'skip'
    | 'postpone'
    | 'suppress'
    | 'revoke_key'
    | 'unverify_domain'
    | 'verify_domain'
    | 'pause'
    | 'resume';
  project: string;
  /** Draft, address, key or domain. */
  subject: string;
  status: number | null;
};

/** What came in at the far ends; on the disk before it is acknowledged. */
export type SinkEntry =
  | {
      kind: 'letter';
      at: number;
      messageId: string;
      from: string;
      to: string[];
      /** sha-256 of what came between DATA and the dot. */
      digest: string;
      /** What the sink answered to the dot; null where it hung up instead. */
      answered: number | null;
    }
  | {
      kind: 'hook';
      at: number;
      /** The path under which the endpoint was created; it names it in `world.json`. */
      endpoint: string;
      messageId: string;
      timestamp: string;
      signature: string;
      body: string;
      /** As its secret was then: whether the signature holds. */
      verified: boolean;
      /** What it is going to be answered; null where the sink hangs up. */
      answered: number | null;
    };

export type FaultEntry =
  | { kind: 'fault'; at: number; code: string; what: string; victim: string; inFlight: number }
  | { kind: 'recovered'; at: number; code: string; afterMs: number }
  /** From now on nothing of this project is digested, and so many of its records wait; until it is let go. */
  | { kind: 'held'; at: number; project: string; waiting: number }
  | { kind: 'let_go'; at: number; project: string }
  /** A settled point: nothing is sent any more, and nothing waits. */
  | { kind: 'quiet'; at: number };

/** `world.json` beside the journals: who is who. */
export type World = {
  seed: number;
  startedAt: number;
  /** Straight to the database, past whatever stands in between. */
  databaseUrl: string;
  projects: {
    id: string;
    name: string;
    keys: { id: string; secret: string }[];
    quietHours: string;
    timeZone: string;
    /** What is tried with it: see `stage/world.ts`. */
    kind: string;
    /** From which its letters come. */
    domain: string;
  }[];
  /** `good`: answers 2xx whenever it is up. */
  endpoints: { id: string; project: string; path: string; secret: string; good: boolean }[];
};

export type Journal = { write(entry: Entry): void; close(): void };

/** `sync: false` only for what proves nothing by being there. */
export function openJournal(dir: string, name: string): Journal {
  const file = openSync(join(dir, `${name}.jsonl`), 'a');
  return {
    write(entry) {
      writeSync(file, `${JSON.stringify(entry)}\n`);
      fdatasyncSync(file);
    },
    close: () => closeSync(file),
  };
}

/** All journals of a run, in order of time. The last line of one whose writer was killed may be torn, and is left out. */
export function readJournals(dir: string): Entry[] {
  const lines = readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1));
  return lines.map((line) => JSON.parse(line) as Entry).toSorted((a, b) => a.at - b.at);
}
