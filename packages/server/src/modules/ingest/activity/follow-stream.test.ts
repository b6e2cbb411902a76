import { beforeAll, beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { NO_FILTER } from '../../../platform/filter/filter.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { insertActivity } from './store.ts';
import { type Cursor, cursorOf, readStreamFilter, type StreamItem } from './stream.ts';
import { type FollowOptions, followStream } from './follow-stream.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(clock);
beforeAll(async () => {
  await db.query(
    `CREATE TABLE beckon.event_all PARTITION OF beckon.event FOR VALUES FROM ('2020-01-01Z') TO ('2030-01-01Z')`,
  );
});
let projectId = 0;
beforeEach(() => {
  projectId += 1;
});

async function addChange(tx: Tx, userId = 'u'): Promise<string> {
  const id = newId();
  const at = new Date(clock.now());
  await insertActivity(tx, [
    { projectId, at, id, kind: 'user_changed', userId, audienceId: null, detail: '{}' },
  ]);
  return id;
}

/** Dates all events now, as a bulk batch does. */
async function addEvents(tx: Tx, count: number): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
     SELECT $1, $2, gen_random_uuid(), 'u', 'login', '{}', $2, $2, 1, true FROM generate_series(1, $3::int) RETURNING id`,
    [projectId, new Date(clock.now()), count],
  );
  return rows.map((row) => row.id);
}

type Follower = {
  items: StreamItem[];
  ids(): string[];
  /** Starts one more look, and waits until it is done. */
  look(): Promise<void>;
  stop(): Promise<void>;
  waits: number[];
  failures: unknown[];
};

type FollowerOptions = { since?: Date | Cursor; filter?: string; tx?: Tx; onItems?: () => void };

function startFollower({ since, filter, tx, onItems }: FollowerOptions = {}): Follower {
  const stopped = new AbortController();
  let resume = (): void => {};
  let asleep = Promise.withResolvers<void>();
  const [waits, failures, items]: [number[], unknown[], StreamItem[]] = [[], [], []];
  const options: FollowOptions = {
    db: { ...(tx ?? db), clock },
    projectId,
    filter: filter === undefined ? NO_FILTER : readStreamFilter(filter),
    since: since ?? new Date(clock.now()),
    signal: stopped.signal,
    onFailure: (error) => failures.push(error),
    wake(afterMs, signal) {
      waits.push(afterMs);
      return new Promise((resolve) => {
        resume = resolve;
        signal.addEventListener('abort', () => resolve());
        asleep.resolve();
      });
    },
  };
  const loop = (async () => {
    for await (const found of followStream(options)) {
      expect(found.length).toBeGreaterThan(0);
      items.push(...found);
      onItems?.();
    }
  })();
  return {
    items,
    waits,
    failures,
    ids: () => items.map((item) => item.id),
    async look() {
      await asleep.promise;
      asleep = Promise.withResolvers();
      resume();
      await asleep.promise;
    },
    stop() {
      stopped.abort();
      return loop;
    },
  };
}

test('yields each item once and in order, from the requested time on', async () => {
  await addChange(db);
  clock.advance(1);
  const since = new Date(clock.now());
  const first = await addChange(db);
  const follower = startFollower({ since });
  await follower.look();
  expect(follower.ids()).toEqual([first]);
  const expected = [first];
  for (let i = 0; i < 60; i += 1) {
    clock.advance(250);
    if (i % 7 === 0) expected.push(await addChange(db));
    await follower.look();
    expect(follower.ids()).toEqual(expected);
  }
  expect(new Set(follower.waits)).toEqual(new Set([250]));
  await follower.stop();
});

test('does not miss a transaction that commits up to five seconds after its date', async () => {
  const follower = startFollower();
  const started = Promise.withResolvers<string>();
  const release = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    started.resolve(await addChange(tx, 'late'));
    await release.promise;
  });
  const lateId = await started.promise;
  const expected: string[] = [];
  for (let i = 0; i < 19; i += 1) {
    clock.advance(250);
    expected.push(await addChange(db));
    await follower.look();
  }
  expect(follower.ids()).toEqual(expected);
  release.resolve();
  await late;
  // The last possible time: 4,750 ms after its date.
  await follower.look();
  expect(follower.ids()).toEqual([...expected, lateId]);
  clock.advance(60_000);
  await follower.look();
  await follower.look();
  expect(follower.ids()).toEqual([...expected, lateId]);
  await follower.stop();
});

test('misses nothing, not even late items, after its reader was away for a minute', async () => {
  const follower = startFollower();
  const started = Promise.withResolvers<string>();
  const release = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    started.resolve(await addChange(tx));
    await release.promise;
  });
  const lateId = await started.promise;
  const early = await addChange(db);
  await follower.look();
  release.resolve();
  await late;
  const expected = [early];
  for (let i = 0; i < 60; i += 1) {
    clock.advance(1_000);
    expected.push(await addChange(db));
  }
  await follower.look();
  expect(follower.ids().toSorted()).toEqual([...expected, lateId].toSorted());
  await follower.stop();
});

test('yields each row once if a millisecond or five seconds have more rows than a page', async () => {
  const follower = startFollower();
  const expected = await addEvents(db, 5_000);
  await follower.look();
  const started = Promise.withResolvers<string[]>();
  const release = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    started.resolve(await addEvents(tx, 2_500));
    await release.promise;
  });
  expected.push(...(await started.promise));
  for (let i = 0; i < 8; i += 1) {
    clock.advance(500);
    expected.push(...(await addEvents(db, 3_000)));
    await follower.look();
  }
  expect(follower.items).toHaveLength(expected.length - 2_500);
  release.resolve();
  await late;
  await follower.look();
  expect(follower.ids().toSorted()).toEqual(expected.toSorted());
  for (let i = 0; i < 30; i += 1) {
    clock.advance(500);
    await follower.look();
  }
  expect(follower.items).toHaveLength(expected.length);
  expect(follower.failures).toEqual([]);
  await follower.stop();
});

test('ends a round although new rows keep arriving', async () => {
  let writes = Promise.resolve();
  let rounds = 0;
  const follower = startFollower({
    since: new Date(clock.now() - 1_000),
    onItems() {
      if (rounds > 20) return;
      rounds += 1;
      // Simulates that each page takes as long as writing the next one.
      clock.advance(100);
      writes = writes.then(async () => void (await addEvents(db, 1_500)));
    },
  });
  await addEvents(db, 1_500);
  await follower.look();
  await follower.look();
  expect(follower.waits.length).toBeGreaterThan(1);
  for (let i = 0; i < 30; i += 1) {
    await writes;
    clock.advance(1_000);
    await follower.look();
  }
  expect(follower.items).toHaveLength((rounds + 1) * 1_500);
  expect(new Set(follower.ids()).size).toBe(follower.items.length);
  await follower.stop();
}, 20_000);

test('yields each item once beyond its memory limit, and reports that it looks back less far', async () => {
  const follower = startFollower();
  let count = 0;
  for (let i = 0; i < 4; i += 1) {
    count += (await addEvents(db, 60_000)).length;
    await follower.look();
    clock.advance(250);
  }
  for (let i = 0; i < 4; i += 1) await follower.look();
  expect(follower.items).toHaveLength(count);
  expect(new Set(follower.ids()).size).toBe(count);
  expect(follower.failures).toEqual([
    expect.objectContaining({ message: expect.stringContaining('200000') as string }),
  ]);
  await follower.stop();
}, 60_000);

test('reads old items page by page, then follows new ones', async () => {
  const since = new Date(clock.now());
  const expected: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    expected.push(...(await addEvents(db, 700)).toSorted());
    clock.advance(86_400_000);
  }
  const follower = startFollower({ since });
  await follower.look();
  expect(follower.ids()).toEqual(expected);
  expected.push(await addChange(db));
  await follower.look();
  expect(follower.ids()).toEqual(expected);
  await follower.stop();
});

test('resumes at the last received item and repeats the five seconds before it', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 8; i += 1) {
    ids.push(await addChange(db));
    clock.advance(1_000);
  }
  const since = new Date(clock.now() - 60_000);
  const first = startFollower({ since });
  await first.look();
  await first.stop();
  const had = first.items[6];
  if (!had) throw new Error('none');
  const second = startFollower({ since: cursorOf(had) });
  await second.look();
  expect(second.ids()).toEqual(ids.slice(1));
  await second.stop();
});

test('yields only items that pass the filter', async () => {
  const follower = startFollower({ filter: 'user:ada' });
  await addEvents(db, 10);
  const id = await addChange(db, 'ada');
  await addChange(db, 'bob');
  await follower.look();
  clock.advance(250);
  await follower.look();
  expect(follower.ids()).toEqual([id]);
  await follower.stop();
});

test('retries with backoff if the database does not answer, and misses nothing', async () => {
  let broken = false;
  const tx: Tx = {
    prepared: (query) => db.prepared(query),
    query: (text, values) => (broken ? Promise.reject(new Error('gone')) : db.query(text, values)),
  };
  const follower = startFollower({ tx });
  const before = await addChange(db);
  await follower.look();
  broken = true;
  const during: string[] = [];
  for (let i = 0; i < 6; i += 1) {
    clock.advance(2_000);
    during.push(await addChange(db));
    await follower.look();
  }
  expect(follower.failures).toHaveLength(6);
  expect(follower.waits.at(-1)).toBeGreaterThanOrEqual(2_500);
  expect(Math.max(...follower.waits)).toBeLessThanOrEqual(5_000);
  broken = false;
  await follower.look();
  expect(follower.ids()).toEqual([before, ...during]);
  await follower.stop();
});

test('stops on the signal, immediately while waiting and at the next page while reading', async () => {
  const stopped = new AbortController();
  const base = { db, projectId, filter: NO_FILTER, signal: stopped.signal };
  const since = new Date(clock.now());
  await addEvents(db, 3_000);
  const pages: number[] = [];
  for await (const items of followStream({ ...base, since })) {
    pages.push(items.length);
    stopped.abort();
  }
  expect(pages).toEqual([1_000]);
  for await (const _ of followStream({ ...base, since })) throw new Error('it was ended before it began');
  // This follower waits on its own clock, so only the signal can wake it.
  const waiting = new AbortController();
  const rest = followStream({ ...base, since: new Date(clock.now() + 1), signal: waiting.signal }).next();
  waiting.abort();
  expect(await rest).toMatchObject({ done: true });
});
