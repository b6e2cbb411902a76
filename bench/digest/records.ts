import { putRecords } from '../../packages/server/testkit/inbox.ts';
import type { Database } from '../../packages/server/src/io/db/index.ts';
import { EVENT_NAMES, userOf, type World } from '../world.ts';

/** As large as the chunks of a bulk request. */
export const CHUNK = 1_000;
const DAY_MS = 86_400_000;
/** A backfill tells of the last days, in the order in which they were. */
const BACKFILL_MS = 3 * DAY_MS;

/**
 * Events of a backfill: everybody active in random order, and in one of a hundred somebody lapsed, each of whom comes
 * once. `run` counts the runs over one world: each takes other lapsed people.
 */
export function backfillEvents(
  world: World,
  { count, run, names = EVENT_NAMES }: { count: number; run: number; names?: readonly string[] },
): object[] {
  const lapsedFrom = run * lapsedOf(count);
  if (lapsedFrom + lapsedOf(count) > world.lapsed)
    throw new Error('not enough lapsed people for so many runs');
  const active = world.people - world.lapsed;
  const from = Date.now() - BACKFILL_MS;
  return Array.from({ length: count }, (_, i) => {
    const n = i % 100 === 0 ? lapsedFrom + i / 100 : world.lapsed + Math.floor(Math.random() * active);
    return {
      external_user_id: userOf(n),
      name: names[i % names.length],
      properties: { feature: 'export', amount: 10, place: `${run}-${i}` },
      occurred_at: new Date(from + Math.floor((i / count) * BACKFILL_MS)).toISOString(),
    };
  });
}

export function lapsedOf(count: number): number {
  return Math.ceil(count / 100);
}

/**
 * A file of users: half of them new, half known with another number of seats. One of a hundred has so many seats that
 * they join an audience.
 */
export function uploadedUsers(world: World, { count, run }: { count: number; run: number }): object[] {
  return Array.from({ length: count }, (_, i) => {
    // Another number each time that somebody comes again, or nothing would change.
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

/** Puts records into the inbox as a bulk request does, a thousand to a chunk. */
export async function preload(
  db: Database,
  put: { projectId: number; kind: 'users' | 'events'; records: object[] },
): Promise<void> {
  for (let at = 0; at < put.records.length; at += CHUNK)
    await putRecords(db, { ...put, priority: 'bulk', records: put.records.slice(at, at + CHUNK) });
}
