/**
 * The lines that each process of a run writes, on the disk before it acts on them. The oracle trusts only these files and the database, not
 * what the product reports about itself. Times are `Date.now()` of this machine.
 */

import { closeSync, fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from './stage/world.ts';

export type Entry = LoadEntry | ActionEntry | SinkEntry | ReportEntry | FaultEntry;

/** A request of the load: `begin` is on the disk before its first byte is sent, `end` when its response was read completely. */
export type LoadEntry =
  | {
      kind: 'begin';
      at: number;
      /** One per attempt. Attempts of one request share `request` and the Idempotency-Key. */
      id: string;
      request: string;
      project: string;
      key: string;
      /** The address of the API process that it was sent to. */
      to: string;
      path: string;
      idempotencyKey: string;
      body: string;
      /** The number of records in it. */
      records: number;
      /** `clash`: an Idempotency-Key that another body has already. `revoked`: a key whose revocation was acknowledged. */
      intent: 'normal' | 'retry' | 'clash' | 'revoked';
    }
  | { kind: 'end'; at: number; id: string; status: number; body: string; replayed: boolean }
  /** No complete response came: the request may have taken effect or not. */
  | { kind: 'lost'; at: number; id: string; reason: string };

/** An action of a member or an operator besides the load. `endedAt` is null if no response came. */
export type ActionEntry = {
  kind: 'action';
  /** The time before the request, and the time when the response was read. */
  at: number;
  endedAt: number | null;
  action:
    | 'approve'
    | 'skip'
    | 'postpone'
    | 'suppress'
    | 'revoke_key'
    | 'unverify_domain'
    | 'verify_domain'
    | 'pause'
    | 'resume'
    | 'switch_domain'
    | 'move_relay';
  project: string;
  /** The draft, address, key, domain or relay. */
  subject: string;
  status: number | null;
};

/** An email or webhook that arrived at a receiving server. It is on the disk before it is acknowledged. */
export type SinkEntry =
  | {
      kind: 'email';
      at: number;
      messageId: string;
      /** The sender, or the kind of the provider that accepted it. */
      from: string;
      to: string[];
      /** The SHA-256 of the data between DATA and the final dot. */
      digest: string;
      /** The reply of the sink to the final dot, or null if it hung up instead. */
      replyStatus: number | null;
    }
  | {
      kind: 'hook';
      at: number;
      /** The path under which the endpoint was created, which is its name in `world.json`. */
      endpoint: string;
      webhookId: string;
      timestamp: string;
      signature: string;
      body: string;
      /** Set if the signature is valid for the secret at that time. */
      verified: boolean;
      /** The status that it will get, or null if the sink hangs up. */
      replyStatus: number | null;
    };

/**
 * What a provider knows about an email that it accepted. `report` is on the disk before it is sent, `reported` once it was acknowledged.
 */
export type ReportEntry =
  | { kind: 'report'; at: number; id: string; email: string; outcome: 'delivered' | 'bounced' }
  | { kind: 'reported'; at: number; id: string };

export type FaultEntry =
  | { kind: 'fault'; at: number; code: string; detail: string; victim: string; inFlight: number }
  | { kind: 'recovered'; at: number; code: string; afterMs: number }
  /** From now on no record of this project is processed until `released`, and this many records wait. */
  | { kind: 'held'; at: number; project: string; waiting: number }
  | { kind: 'released'; at: number; project: string }
  /** A settled point: no more requests are sent, and no work waits. */
  | { kind: 'quiet'; at: number };

/** `world.json` next to the journals: the projects, endpoints and keys of the run. */
export type World = {
  seed: number;
  startedAt: number;
  /** Direct to the database, not through a proxy. */
  databaseUrl: string;
  projects: {
    id: string;
    name: string;
    keys: { id: string; secret: string }[];
    quietHours: string;
    timeZone: string;
    /** The subject that the project tests. See `stage/world.ts`. */
    kind: Kind;
    /** The domain that its emails are sent from. */
    domain: string;
    /** The second domain of a project with two relays. */
    otherDomain?: string;
  }[];
  /** The relays of that project by kind: their ids. */
  relays: Record<string, string>;
  /** `isGood`: answers 2xx whenever it is up. */
  endpoints: { id: string; project: string; path: string; secret: string; isGood: boolean }[];
};

export type Journal = { write(entry: Entry): void; close(): void };

/** `sync: false` is only for entries whose presence proves nothing. */
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

/** Returns all entries of a run in chronological order. The last line of a killed writer may be incomplete and is left out. */
export function readJournals(dir: string): Entry[] {
  const lines = readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1));
  return lines.map((line) => JSON.parse(line) as Entry).toSorted((a, b) => a.at - b.at);
}
