/** The rows of the accept path, and the effect of the single statement of a flush on them: see `STORE` in `modules/ingest/accept/statements.ts`. */

import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import { must } from '../emails/checks.ts';

export type Kept = { fingerprint: string; status: number; acceptedAt: Date };
export type Rows = {
  waiting: Map<number, number>;
  kept: Map<string, Kept>;
  revoked: Set<string>;
  /** The number of requests with each Idempotency-Key that had an effect. It must never be two. */
  effects: Map<string, number>;
  /** The holder of each queue row's lock. */
  locks: Map<number, object>;
  /** The first violation found at a commit. The committer gets an error, as for any other failure. */
  broken: unknown;
};
/** The pending writes of a transaction. */
export type Writes = { kept: [name: string, kept: Kept][]; records: [projectId: number, records: number][] };

/** A defect of the store, for tests that prove it is detected. */
export type Weakness = 'none' | 'keeps no key' | 'asks no room' | 'commits nothing';

export function newRows(): Rows {
  return {
    waiting: new Map(),
    kept: new Map(),
    revoked: new Set(),
    effects: new Map(),
    locks: new Map(),
    broken: undefined,
  };
}

export function keptName(projectId: number, key: string): string {
  return `${projectId} ${key}`;
}

const numbers = (list: unknown): number[] => texts(list).map(Number);
const texts = (list: unknown): string[] => {
  const inside = String(list).slice(1, -1);
  return inside === '' ? [] : inside.split(',');
};

const ONCE_BYTES = 48;
const KEY_BYTES = 16;

/** Returns the row that the statement returns, and its writes. The values are those of `storeStatement`. */
export function runStore(rows: Rows, values: unknown[], weakness: Weakness): { row: object; writes: Writes } {
  const keyIds = texts(values[2]);
  const live = keyIds.map((id) => !rows.revoked.has(id));
  const projects = numbers(values[13]);
  const waiting = Math.max(...projects.map((id) => rows.waiting.get(id) ?? 0));
  const isFull = values[3] !== null && waiting >= Number(values[3]) && weakness !== 'asks no room';
  const won = new Set<number>();
  const writes: Writes = { kept: [], records: [] };
  for (const [i, projectId] of numbers(values[8]).entries()) {
    const { key, fingerprint } = onceAt(values[4] as Buffer, i);
    const isLive = live[(numbers(values[9])[i] ?? 0) - 1] === true;
    if (!isLive || isFull || rows.kept.has(keptName(projectId, key))) continue;
    won.add(i + 1);
    const kept = { fingerprint, status: numbers(values[10])[i] ?? 0, acceptedAt: values[6] as Date };
    writes.kept.push([keptName(projectId, key), kept]);
  }
  const entryKeys = numbers(values[14]);
  const onces = numbers(values[15]);
  const records = numbers(values[17]);
  const taken = projects.flatMap((projectId, i) => {
    const isTaken =
      !isFull && live[(entryKeys[i] ?? 0) - 1] === true && ((onces[i] ?? 0) === 0 || won.has(onces[i] ?? 0));
    if (isTaken) writes.records.push([projectId, records[i] ?? 0]);
    return isTaken ? [i + 1] : [];
  });
  const all = taken.length === projects.length;
  const row = { all_stored: all, is_full: isFull, waiting, live: keyIds.filter((_, i) => live[i]), taken };
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
export function apply(rows: Rows, { kept, records }: Writes, weakness: Weakness): void {
  if (weakness === 'commits nothing') return;
  for (const [name, one] of kept) {
    if (weakness !== 'keeps no key') rows.kept.set(name, one);
    const effects = (rows.effects.get(name) ?? 0) + 1;
    rows.effects.set(name, effects);
    must(effects === 1, `what came under the key ${name} had ${effects} effects`);
  }
  for (const [projectId, count] of records) {
    const waiting = rows.waiting.get(projectId) ?? 0;
    // Only bulk requests are this long here.
    must(
      count < BULK_FROM || waiting < INGEST_QUEUE_MAX_RECORDS,
      `a bulk request was let in with ${waiting} waiting`,
    );
    rows.waiting.set(projectId, waiting + count);
  }
}

const BULK_FROM = 1_000;
