import { Fault } from '../fault.ts';
import type { Log } from '../log.ts';
import type { Database } from '../db/database.ts';
import { byProject } from '../db/distributed.ts';
import { fail, isFresh, retire, settle, type Bucket, type Waiter } from './bucket.ts';
import { type BucketRequest, insertBuckets, leaseTokens, type LeaseRow, type NewRow } from './store.ts';
import type { TimerScheduler } from './timer.ts';

/**
 * The queue of buckets that need tokens, and the running statement; never two at once. The first statement after a quiet time is sent at
 * the end of the current turn of the event loop. The next follows 50 ms later, or as soon as 32 buckets are urgent. Requests wait for an urgent
 * bucket, and its last answer is older than a second. So a process sends the database at most 20 statements a second, regardless of its
 * requests. One more is sent for every 32 projects that were silent for a second.
 *
 * Without urgent buckets, a caller that waits for each response could send a request only every 50 ms if each is of another project. With
 * 100,000 projects in turn, 64 connections got 1,254 responses a second.
 *
 * If a statement fails, its tokens (granted or returned) are lost. A lost token comes back with the refill, but a doubled one would break
 * the limit. If an answer is too late, its grants are returned.
 */
export type TokenRequester = {
  request(bucket: Bucket): void;
  wait(bucket: Bucket, waiter: Waiter): void;
  /** Waits for the running statement, then returns the tokens of the buckets that `collect` finds, in a last statement. */
  close(collect: () => Bucket[]): Promise<void>;
};

export type TokenRequesterDeps = {
  db: Pick<Database, 'prepared' | 'query' | 'clock'>;
  defaults: Record<string, { rate: number; burst: number }>;
  log: Log;
  timer: TimerScheduler;
  settled(buckets: Bucket[], now: number): void;
};

const PACE_MS = 50;
/** Shared by this many buckets, a statement costs each of them little, so it need not wait for more. */
const URGENT_ENOUGH = 32;
const RESPONSE_WITHIN_MS = 2_000;
/** Buckets in one statement; the others wait for the next. */
const BUCKETS_PER_STATEMENT = 2_000;

type State = TokenRequesterDeps & {
  line: Bucket[];
  urgent: Set<Bucket>;
  sentAt: number;
  /** The running statement. Otherwise `departure` cancels the next one, if it is scheduled. */
  running: Promise<void> | null;
  departure: (() => void) | null;
  /** The departure is at the end of this turn of the event loop. */
  isLeaving: boolean;
  closed: boolean;
  failing: boolean;
};

export function createTokenRequester(deps: TokenRequesterDeps): TokenRequester {
  const state: State = {
    ...deps,
    line: [],
    urgent: new Set(),
    sentAt: Number.NEGATIVE_INFINITY,
    running: null,
    departure: null,
    isLeaving: false,
    closed: false,
    failing: false,
  };
  return {
    request: (bucket) => request(state, bucket),
    wait(bucket, waiter) {
      if (state.closed) return waiter.reject(unavailable('the counter is closed'));
      bucket.waiting.push(waiter);
      request(state, bucket);
    },
    close: (collect) => close(state, collect),
  };
}

function request(state: State, bucket: Bucket): void {
  // The answer of the running statement may be enough. Buckets with waiting requests are queued again after it.
  if (bucket.isSent || state.closed) return;
  const becomesUrgent = !state.urgent.has(bucket) && isUrgent(state, bucket);
  if (bucket.isQueued && !becomesUrgent) return;
  if (!bucket.isQueued) state.line.push(bucket);
  bucket.isQueued = true;
  if (becomesUrgent) state.urgent.add(bucket);
  schedule(state);
}

function isUrgent({ db }: State, bucket: Bucket): boolean {
  return bucket.waiting.length > 0 && !isFresh(bucket, db.clock.now());
}

function schedule(state: State): void {
  if (state.running || state.isLeaving || state.closed || state.line.length === 0) return;
  // A database that is unavailable is queried no sooner than otherwise.
  const isEnough = state.urgent.size >= URGENT_ENOUGH && !state.failing;
  if (state.departure && !isEnough) return;
  const leave = (): void => {
    state.departure = null;
    state.isLeaving = false;
    state.running = send(state);
  };
  const wait = state.sentAt + PACE_MS - state.db.clock.now();
  // A wait longer than the pace means that the clock went back.
  if (!isEnough && wait > 0 && wait <= PACE_MS) {
    state.departure = state.timer.after(wait, leave);
  } else {
    state.departure?.();
    // Sent at the end of this turn of the event loop, so that all requests that the sockets deliver in it share the statement.
    const immediate = setImmediate(leave);
    state.isLeaving = true;
    state.departure = () => clearImmediate(immediate);
  }
}

async function send(state: State): Promise<void> {
  const now = state.db.clock.now();
  state.sentAt = now;
  const buckets = state.line.splice(0, BUCKETS_PER_STATEMENT);
  for (const bucket of buckets) state.urgent.delete(bucket);
  const requests = buckets.map((bucket) => begin(bucket, now));
  await grantTokens(state, requests, now);
  for (const { bucket } of requests) {
    bucket.isSent = false;
    if (bucket.waiting.length > 0 || bucket.back > 0) request(state, bucket);
  }
  state.running = null;
  schedule(state);
}

function begin(bucket: Bucket, now: number): BucketRequest {
  if (!isFresh(bucket, now)) retire(bucket);
  const { stock: held, leased, back } = bucket;
  bucket.isQueued = false;
  bucket.isSent = true;
  bucket.waitersSent = bucket.waiting.length;
  bucket.back = 0;
  // A bucket that only returns tokens takes no new ones, because otherwise tokens would move back and forth forever.
  return {
    bucket,
    waiting: bucket.waitersSent,
    held,
    leased,
    back,
    ahead: back === 0 || bucket.waitersSent > 0,
  };
}

async function grantTokens(state: State, requests: BucketRequest[], at: number): Promise<void> {
  let open = requests;
  try {
    open = takeIn(state, open, { rows: await inTime(state, open, at), at });
    if (open.length > 0) {
      await insertBuckets(
        state.db,
        open.map((entry) => newRow(state, entry)),
        at,
      );
      open = takeIn(state, open, { rows: await inTime(state, open, at), at });
    }
    if (open.length > 0) throw new Error('a rate limit disappeared after its creation');
    if (state.failing) state.log.info({ buckets: requests.length }, 'rate_limits.recovered');
    state.failing = false;
  } catch (error) {
    for (const { bucket } of open) fail(bucket, unavailable(error));
    // Logged once per database outage, not twenty times a second.
    if (!state.failing) state.log.warn({ err: error, buckets: requests.length }, 'rate_limits.failed');
    state.failing = true;
  }
}

function newRow({ defaults }: State, { bucket }: BucketRequest): NewRow {
  const limit = defaults[bucket.name];
  if (!limit) throw new Error(`no rate limit is named ${bucket.name}`);
  return { projectId: bucket.projectId, name: bucket.name, rate: limit.rate, burst: limit.burst };
}

/** Applies to each bucket its row, and returns the asks without a row. */
function takeIn(
  state: State,
  requests: BucketRequest[],
  { rows, at }: { rows: LeaseRow[]; at: number },
): BucketRequest[] {
  const byKey = new Map(rows.map((row) => [`${row.project_id} ${row.endpoint}`, row]));
  const now = state.db.clock.now();
  const missing: BucketRequest[] = [];
  const settled: Bucket[] = [];
  for (const entry of requests) {
    const { bucket } = entry;
    const row = byKey.get(`${bucket.projectId} ${bucket.name}`);
    if (row) {
      const { granted, tokens: remaining, rate, burst } = row;
      settle(bucket, { granted, remaining, rate, burst }, { at, now });
      settled.push(bucket);
    } else missing.push(entry);
  }
  state.settled(settled, now);
  return missing;
}

async function inTime(state: State, requests: BucketRequest[], at: number): Promise<LeaseRow[]> {
  const rows = byProject(state.db, { rows: requests, projectOf: ({ bucket }) => bucket.projectId }, (group) =>
    leaseTokens(state.db, group, at),
  );
  let cancel = (): void => {};
  const tooLate = new Promise<never>((_, reject) => {
    cancel = state.timer.after(RESPONSE_WITHIN_MS, () => {
      rows.then(
        (late) => returnLate(state, requests, late),
        () => {},
      );
      reject(new Error(`no answer within ${RESPONSE_WITHIN_MS} ms`));
    });
  });
  try {
    return await Promise.race([rows, tooLate]);
  } finally {
    cancel();
  }
}

function returnLate(state: State, requests: BucketRequest[], rows: LeaseRow[]): void {
  for (const row of rows) {
    const late = requests.find(
      ({ bucket }) => bucket.projectId === row.project_id && bucket.name === row.endpoint,
    );
    if (!late || row.granted === 0) continue;
    late.bucket.back += row.granted;
    request(state, late.bucket);
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
  const requests = all.filter((bucket) => bucket.back > 0).map((bucket) => begin(bucket, now));
  if (requests.length > 0) await grantTokens(state, requests, now);
}

function unavailable(cause: unknown): Fault {
  return new Fault('server_error', { retryAfterS: 1, cause });
}
