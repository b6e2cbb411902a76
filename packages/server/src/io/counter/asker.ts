import { Fault } from '../../base/fault.ts';
import type { Log } from '../../base/log.ts';
import type { Database } from '../db/index.ts';
import { fail, isFresh, retire, settle, type Bucket, type Waiter } from './bucket.ts';
import { type Ask, insertBuckets, leaseTokens, type LeaseRow, type NewRow } from './store.ts';
import type { Timer } from './timer.ts';

/**
 * The line of buckets that ask, and the statement under way; never two at once. The first after a quiet time leaves at
 * the end of this turn of the loop, the next 50 ms after it: a process costs the database 20 statements a second at
 * most, however many its projects and requests.
 *
 * A statement that fails takes the tokens on their way with it (granted or given back): a lost token comes back with
 * the refill, a doubled one would break the limit. One that answers too late has its grants given back.
 */
export type Asker = {
  ask(bucket: Bucket): void;
  wait(bucket: Bucket, waiter: Waiter): void;
  /** Waits for the statement under way, then gives back what `collect` finds, in a last one. */
  close(collect: () => Bucket[]): Promise<void>;
};

export type AskerDeps = {
  db: Pick<Database, 'prepared' | 'query' | 'clock'>;
  defaults: Record<string, { rate: number; burst: number }>;
  log: Log;
  timer: Timer;
  settled(buckets: Bucket[], now: number): void;
};

const PACE_MS = 50;
const ANSWER_WITHIN_MS = 2_000;
/** Buckets in one statement; the rest takes the next. */
const BUCKETS_PER_STATEMENT = 2_000;

type State = AskerDeps & {
  line: Bucket[];
  sentAt: number;
  /** The statement under way; else `departure` calls off the next one, if that has its time. */
  running: Promise<void> | null;
  departure: (() => void) | null;
  closed: boolean;
  failing: boolean;
};

export function createAsker(deps: AskerDeps): Asker {
  const state: State = {
    ...deps,
    line: [],
    sentAt: Number.NEGATIVE_INFINITY,
    running: null,
    departure: null,
    closed: false,
    failing: false,
  };
  return {
    ask: (bucket) => ask(state, bucket),
    wait(bucket, waiter) {
      if (state.closed) return waiter.reject(unavailable('the counter is closed'));
      bucket.waiting.push(waiter);
      ask(state, bucket);
    },
    close: (left) => close(state, left),
  };
}

function ask(state: State, bucket: Bucket): void {
  // The answer under way may bring enough; whoever still waits after it asks again.
  if (bucket.queued || bucket.asking || state.closed) return;
  bucket.queued = true;
  state.line.push(bucket);
  schedule(state);
}

function schedule(state: State): void {
  if (state.running || state.departure || state.closed || state.line.length === 0) return;
  const leave = (): void => {
    state.departure = null;
    state.running = send(state);
  };
  const wait = state.sentAt + PACE_MS - state.db.clock.now();
  // More than the pace means that the clock went back.
  if (wait > 0 && wait <= PACE_MS) {
    state.departure = state.timer.after(wait, leave);
  } else {
    // Not before the end of this turn of the loop: whatever the sockets bring in it leaves together.
    const immediate = setImmediate(leave);
    state.departure = () => clearImmediate(immediate);
  }
}

async function send(state: State): Promise<void> {
  const now = state.db.clock.now();
  state.sentAt = now;
  const asks = state.line.splice(0, BUCKETS_PER_STATEMENT).map((bucket) => begin(bucket, now));
  await answer(state, asks, now);
  for (const { bucket } of asks) {
    bucket.asking = false;
    if (bucket.waiting.length > 0 || bucket.back > 0) ask(state, bucket);
  }
  state.running = null;
  schedule(state);
}

function begin(bucket: Bucket, now: number): Ask {
  if (!isFresh(bucket, now)) retire(bucket);
  const { stock: held, leased, back } = bucket;
  bucket.queued = false;
  bucket.asking = true;
  bucket.asked = bucket.waiting.length;
  bucket.back = 0;
  // Whoever only gives back asks for nothing, or the tokens would come and go for ever.
  return { bucket, waiting: bucket.asked, held, leased, back, ahead: back === 0 || bucket.asked > 0 };
}

async function answer(state: State, asks: Ask[], at: number): Promise<void> {
  let open = asks;
  try {
    open = takeIn(state, open, { rows: await inTime(state, open, at), at });
    if (open.length > 0) {
      await insertBuckets(
        state.db,
        open.map((ask) => newRow(state, ask)),
        at,
      );
      open = takeIn(state, open, { rows: await inTime(state, open, at), at });
    }
    if (open.length > 0) throw new Error('a rate limit disappeared after its creation');
    if (state.failing) state.log.info({ buckets: asks.length }, 'rate_limits.recovered');
    state.failing = false;
  } catch (error) {
    for (const { bucket } of open) fail(bucket, unavailable(error));
    // Once for each time that the database is away, not twenty times a second.
    if (!state.failing) state.log.warn({ err: error, buckets: asks.length }, 'rate_limits.failed');
    state.failing = true;
  }
}

function newRow({ defaults }: State, { bucket }: Ask): NewRow {
  const limit = defaults[bucket.name];
  if (!limit) throw new Error(`no rate limit is named ${bucket.name}`);
  return { projectId: bucket.projectId, name: bucket.name, rate: limit.rate, burst: limit.burst };
}

/** Gives each bucket its row; those that have none are given back. */
function takeIn(state: State, asks: Ask[], { rows, at }: { rows: LeaseRow[]; at: number }): Ask[] {
  const byKey = new Map(rows.map((row) => [`${row.project_id} ${row.endpoint}`, row]));
  const now = state.db.clock.now();
  const missing: Ask[] = [];
  const settled: Bucket[] = [];
  for (const ask of asks) {
    const { bucket } = ask;
    const row = byKey.get(`${bucket.projectId} ${bucket.name}`);
    if (row) {
      const { granted, tokens: left, rate, burst } = row;
      settle(bucket, { granted, left, rate, burst }, { at, now });
      settled.push(bucket);
    } else missing.push(ask);
  }
  state.settled(settled, now);
  return missing;
}

async function inTime(state: State, asks: Ask[], at: number): Promise<LeaseRow[]> {
  const rows = leaseTokens(state.db, asks, at);
  let cancel = (): void => {};
  const tooLate = new Promise<never>((_, reject) => {
    cancel = state.timer.after(ANSWER_WITHIN_MS, () => {
      rows.then(
        (late) => returnLate(state, asks, late),
        () => {},
      );
      reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`));
    });
  });
  try {
    return await Promise.race([rows, tooLate]);
  } finally {
    cancel();
  }
}

function returnLate(state: State, asks: Ask[], rows: LeaseRow[]): void {
  for (const row of rows) {
    const late = asks.find(
      ({ bucket }) => bucket.projectId === row.project_id && bucket.name === row.endpoint,
    );
    if (!late || row.granted === 0) continue;
    late.bucket.back += row.granted;
    ask(state, late.bucket);
  }
}

async function close(state: State, collect: () => Bucket[]): Promise<void> {
  state.closed = true;
  state.departure?.();
  await state.running;
  const all = collect();
  for (const bucket of all) {
    fail(bucket, unavailable('the counter is closed'));
    retire(bucket);
  }
  const now = state.db.clock.now();
  const asks = all.filter((bucket) => bucket.back > 0).map((bucket) => begin(bucket, now));
  if (asks.length > 0) await answer(state, asks, now);
}

function unavailable(cause: unknown): Fault {
  return new Fault('server_error', { retryAfterS: 1, cause });
}
