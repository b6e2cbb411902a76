import { putRecords } from '../../../packages/server/testing/factories/ingest-queue.ts';
import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import { EVENT_NAMES, userOf, type World } from '../world.ts';

/** The size of a chunk of a bulk request. */
export const CHUNK = 1_000;
const DAY_MS = 86_400_000;
/** A backfill covers the last days in chronological order. */
const BACKFILL_MS = 3 * DAY_MS;
const LAPSED_EVERY = 100;

/**
 * Returns the events of a backfill: active users in random order, and in one of `lapsedEvery` events a lapsed user, each once. `run`
 * numbers the runs over one world: each uses other lapsed users.
 */
export function backfillEvents(
  world: World,
  {
    count,
    run,
    names = EVENT_NAMES,
    lapsedEvery = LAPSED_EVERY,
  }: { count: number; run: number; names?: readonly string[]; lapsedEvery?: number | undefined },
): object[] {
  const lapsedFrom = run * lapsedOf(count, lapsedEvery);
  if (lapsedFrom + lapsedOf(count, lapsedEvery) > world.lapsed)
    throw new Error('not enough lapsed people for so many runs');
  const active = world.people - world.lapsed;
  const from = Date.now() - BACKFILL_MS;
  return Array.from({ length: count }, (_, i) => {
    const n =
      i % lapsedEvery === 0
        ? lapsedFrom + i / lapsedEvery
        : world.lapsed + Math.floor(Math.random() * active);
    return {
      external_user_id: userOf(n),
      name: names[i % names.length],
      properties: { feature: 'export', amount: 10, place: `${run}-${i}` },
      occurred_at: new Date(from + Math.floor((i / count) * BACKFILL_MS)).toISOString(),
    };
  });
}

export function lapsedOf(count: number, lapsedEvery = LAPSED_EVERY): number {
  return Math.ceil(count / lapsedEvery);
}

/**
 * Returns a file of users: half of them new, half known with another number of seats. One in a hundred has so many seats that it joins an
 * audience.
 */
export function uploadedUsers(world: World, { count, run }: { count: number; run: number }): object[] {
  return Array.from({ length: count }, (_, i) => {
    // The number differs each time a user comes again. Otherwise nothing would change.
    const seats = i % 100 === 0 ? 100 : 5 + ((i + run * 3) % 7);
    if (i % 2 === 1) {
      const n = world.lapsed + ((run * count + i) % (world.people - world.lapsed));
      return { external_user_id: userOf(n), traits: { seats } };
    }
    const n = 1_000_000_000 + run * count + i;
    return {
      external_user_id: userOf(n),
      email: `person${n}@example.com`,
      traits: {
        name: `Person ${n}`,
        plan: 'free',
        company: 'Some',
        signupDate: '2026-02-01',
        seats,
        city: 'Bonn',
      },
    };
  });
}

/** Writes records into the ingest queue as a bulk request does, a thousand to a chunk. */
export async function preload(
  db: Database,
  batch: { projectId: number; kind: 'users' | 'events'; records: object[] },
): Promise<void> {
  for (let at = 0; at < batch.records.length; at += CHUNK)
    await putRecords(db, { ...batch, priority: 'bulk', records: batch.records.slice(at, at + CHUNK) });
}
