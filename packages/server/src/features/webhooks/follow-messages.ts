import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import type { Tx } from '../../io/db/index.ts';
import { listBodies, listPlaces } from './reads.ts';
import type { FollowedMessage, MessagePlace } from './webhook.ts';

export type FollowMessagesOptions = {
  /** In real time: a sandbox's messages are dated by it too. */
  db: Tx & { clock: Clock };
  projectId: number;
  /** From this moment on, or on from the last message that was had: then a few seconds before it come again. */
  since: number | MessagePlace;
  /** Ends it. */
  signal: AbortSignal;
  /** Hears of a database that did not answer, which is asked again. */
  onTrouble: (trouble: unknown) => void;
  /** Resolves when it is time to look again. */
  wake?: (afterMs: number, signal: AbortSignal) => Promise<void>;
};

const LOOK_EVERY_MS = 500;
const RETRY = { baseMs: 500, maxMs: 5_000 };
/** As long may a message be on its way from being dated to being committed. */
const LATE_MAX_MS = 5_000;
const PAGE = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * What endpoints are told, as it comes, whether or not there are endpoints. A message is dated before it is committed, so each
 * round looks at the last five seconds again, and knows by their ids what it has handed on of them. Never an empty list.
 */
export async function* followMessages(
  options: FollowMessagesOptions,
): AsyncGenerator<FollowedMessage[], void, void> {
  const { signal, onTrouble, wake = sleep } = options;
  const feed: Feed = { ...options, floor: floorOf(options.since), seen: new Map() };
  let failures = 0;
  while (!signal.aborted) {
    try {
      yield* newMessages(feed);
      failures = 0;
    } catch (error) {
      // Whoever ended it may have canceled its statement.
      if (signal.aborted) return;
      onTrouble(error);
      failures += 1;
    }
    await wake(failures === 0 ? LOOK_EVERY_MS : backoffMs(failures, RETRY), signal);
  }
}

export function placeText(place: number | MessagePlace): string {
  const { createdAt, id } = typeof place === 'number' ? { createdAt: place, id: FIRST_ID } : place;
  return `${createdAt}-${id}`;
}

export function readPlace(text: string): MessagePlace {
  const [, createdAt = '', id = ''] = PLACE.exec(text) ?? [];
  if (id !== '') return { createdAt: Number(createdAt), id };
  const message = 'Last-Event-ID is not an ID of this stream';
  throw new Fault('validation_failed', { details: [{ message, field: 'Last-Event-ID' }] });
}

const PLACE = /^(\d{12,14})-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

type Feed = FollowMessagesOptions & {
  /** Everything up to here has been handed on, or was not asked for. */
  floor: MessagePlace;
  /** What was handed on behind it, and when that was dated. */
  seen: Map<string, number>;
};

function floorOf(since: number | MessagePlace): MessagePlace {
  const createdAt = typeof since === 'number' ? since : since.createdAt - LATE_MAX_MS;
  return { createdAt, id: FIRST_ID };
}

/** One round. What it hands on before it fails is remembered, so the next round takes its place. */
async function* newMessages(feed: Feed): AsyncGenerator<FollowedMessage[], void, void> {
  const { db, projectId, signal, seen } = feed;
  const settledTo = db.clock.now() - LATE_MAX_MS;
  let after = feed.floor;
  for (let more = true; more && !signal.aborted;) {
    const places = await listPlaces(db, { projectId, after, limit: PAGE });
    more = places.length === PAGE;
    after = places.at(-1) ?? after;
    const fresh = places.filter(({ id }) => !seen.has(id));
    const messages = await listBodies(db, { projectId, ids: fresh.map(({ id }) => id) });
    for (const { id, createdAt } of fresh) seen.set(id, createdAt);
    if (messages.length > 0) yield messages;
    // What no round comes back to needs no remembering, however much of it there is.
    settle(feed, Math.min(settledTo, after.createdAt));
  }
  if (!signal.aborted) settle(feed, settledTo);
}

function settle(feed: Feed, to: number): void {
  if (feed.floor.createdAt < to) feed.floor = { createdAt: to, id: FIRST_ID };
  for (const [id, at] of feed.seen) if (at < feed.floor.createdAt) feed.seen.delete(id);
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // Given the signal it rejects, which is an end like any other.
  await pause(ms, undefined, { signal }).catch(() => {});
}
