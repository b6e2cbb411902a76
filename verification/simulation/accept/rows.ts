/** The rows of the accept path, and the effect of the single statement of a flush on them: see `STORE` in `modules/ingest/accept/statements.ts`. */

import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type { StoreResultRow } from '../../../packages/server/src/modules/ingest/accept/statements.ts';
import { must } from '../emails/checks.ts';

export type StoredKey = { fingerprint: string; status: number; acceptedAt: Date };
export type Rows = {
  waiting: Map<number, number>;
  storedKeys: Map<string, StoredKey>;
  revoked: Set<string>;
  /** The number of requests with each Idempotency-Key that had an effect. It must never be two. */
  effects: Map<string, number>;
  /** The holder of each queue row's lock. */
  locks: Map<number, object>;
  /** The first violation found at a commit. The committer gets an error, as for any other failure. */
  broken: unknown;
};
/** The pending writes of a transaction. */
export type Writes = {
  storedKeys: [name: string, key: StoredKey][];
  records: [projectId: number, records: number][];
};

/** A defect of the store, for tests that prove it is detected. */
export type Defect = 'none' | 'keeps no key' | 'ignores the limit' | 'commits nothing';

export function newRows(): Rows {
  return {
    waiting: new Map(),
    storedKeys: new Map(),
    revoked: new Set(),
    effects: new Map(),
    locks: new Map(),
    broken: undefined,
  };
}

export function keyNameOf(projectId: number, key: string): string {
  return `${projectId} ${key}`;
}

const numbers = (list: unknown): number[] => texts(list).map(Number);
const texts = (list: unknown): string[] => {
  const inside = String(list).slice(1, -1);
  return inside === '' ? [] : inside.split(',');
};

const ONCE_BYTES = 48;
const KEY_BYTES = 16;

type StoreRun = { row: StoreResultRow; writes: Writes };

/** Returns the row that the statement returns, and its writes. The values are those of `storeStatement`. */
export function runStore(rows: Rows, values: unknown[], defect: Defect): StoreRun {
  const keyIds = texts(values[2]);
  const live = keyIds.map((id) => !rows.revoked.has(id));
  const projects = numbers(values[13]);
  const waiting = Math.max(...projects.map((id) => rows.waiting.get(id) ?? 0));
  const isFull = values[3] !== null && waiting >= Number(values[3]) && defect !== 'ignores the limit';
  const newKeys = new Set<number>();
  const writes: Writes = { storedKeys: [], records: [] };
  for (const [i, projectId] of numbers(values[8]).entries()) {
    const { key, fingerprint } = onceAt(values[4] as Buffer, i);
    const isLive = live[(numbers(values[9])[i] ?? 0) - 1] === true;
    if (!isLive || isFull || rows.storedKeys.has(keyNameOf(projectId, key))) continue;
    newKeys.add(i + 1);
    const kept = { fingerprint, status: numbers(values[10])[i] ?? 0, acceptedAt: values[6] as Date };
    writes.storedKeys.push([keyNameOf(projectId, key), kept]);
  }
  const entryKeys = numbers(values[14]);
  const onces = numbers(values[15]);
  const records = numbers(values[17]);
  const acceptedRows = projects.flatMap((projectId, i) => {
    const isAccepted =
      !isFull &&
      live[(entryKeys[i] ?? 0) - 1] === true &&
      ((onces[i] ?? 0) === 0 || newKeys.has(onces[i] ?? 0));
    if (isAccepted) writes.records.push([projectId, records[i] ?? 0]);
    return isAccepted ? [i + 1] : [];
  });
  const all = acceptedRows.length === projects.length;
  const row: StoreResultRow = {
    all_stored: all,
    is_full: isFull,
    waiting,
    live: keyIds.filter((_, i) => live[i]),
    accepted: acceptedRows,
  };
  return { row, writes };
}

function onceAt(bytes: Buffer, i: number): { key: string; fingerprint: string } {
  const once = bytes.subarray(i * ONCE_BYTES, (i + 1) * ONCE_BYTES);
  return {
    key: once.subarray(0, KEY_BYTES).toString('hex'),
    fingerprint: once.subarray(KEY_BYTES).toString('hex'),
  };
}

/** Applies all writes at once, as a commit does. */
export function apply(rows: Rows, { storedKeys, records }: Writes, defect: Defect): void {
  if (defect === 'commits nothing') return;
  for (const [name, storedKey] of storedKeys) {
    if (defect !== 'keeps no key') rows.storedKeys.set(name, storedKey);
    const effects = (rows.effects.get(name) ?? 0) + 1;
    rows.effects.set(name, effects);
    must(effects === 1, `the key ${name} had ${effects} effects`);
  }
  for (const [projectId, count] of records) {
    const waiting = rows.waiting.get(projectId) ?? 0;
    // Only bulk requests are this long here.
    must(
      count < BULK_FROM || waiting < INGEST_QUEUE_MAX_RECORDS,
      `a bulk request was accepted with ${waiting} waiting`,
    );
    rows.waiting.set(projectId, waiting + count);
  }
}

const BULK_FROM = 1_000;
