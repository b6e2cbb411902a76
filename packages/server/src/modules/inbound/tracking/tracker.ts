import { type LinkKey, listHits, listTargets } from './hit-reads.ts';
import type { EmailRef } from '../../outcomes/index.ts';
import { coalesce } from '../../../platform/async/coalesce.ts';
import type { Database } from '../../../platform/db/database.ts';
import { byProject } from '../../../platform/db/distributed.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { Log } from '../../../platform/log.ts';
import { addHitCounts, upsertHits } from './store.ts';
import {
  type AdmittedHit,
  type Hit,
  type HitFacts,
  HITS_MAX,
  classifyHit,
  type StoredHit,
  SETTLE_AFTER_MS,
} from './hits.ts';

/** Serves tracked links: returns their target at once, and records each hit. */
export type Tracker = {
  /** Returns null if the email or the link no longer exists. Throws if the database does not answer. */
  targetOf(key: LinkKey): Promise<string | null>;
  /** Writes a hit together with all others that arrive in that time. The caller does not wait. */
  note(hit: Hit): void;
  /** Resolves when everything noted before is written, or logged as lost. */
  close(): Promise<void>;
};

const ROUND_MAX = 1_000;
/** Concurrent lookups share a query. A click waits no longer than this. */
const TARGET_WITHIN_MS = 5_000;
const WRITTEN_WITHIN_MS = 20_000;
/** Retries, so that no hit is lost when the database is unavailable for a moment. */
const AGAIN_MS = [100, 500, 2_000];
/** Hits above this number, which the database cannot keep up with, are not kept in memory. They are counted and logged. */
const WAITING_MAX = 20_000;
const LOG_EVERY_MS = 10_000;

export function createTracker({ db, log }: { db: Database; log: Log }): Tracker {
  const state = { waiting: new Set<Promise<void>>(), number: 0, dropped: 0, loggedAt: -Infinity };
  const target = coalesce<LinkKey, string | null>({
    keyOf: ({ projectId, emailId, link }) => `${projectId} ${emailId} ${link}`,
    roundMax: ROUND_MAX,
    timeLimitMs: TARGET_WITHIN_MS,
    load: (keys) => listTargets(db, keys),
  });
  const write = coalesce<{ number: number; hit: Hit }, true>({
    keyOf: ({ number }) => String(number),
    roundMax: ROUND_MAX,
    timeLimitMs: WRITTEN_WITHIN_MS,
    async load(round) {
      await writeWithRetries(
        db,
        round.map(({ hit }) => hit),
      );
      return round.map(() => true as const);
    },
  });

  function drop(reason: unknown): void {
    state.dropped += 1;
    if (performance.now() - state.loggedAt < LOG_EVERY_MS) return;
    log.warn({ hits: state.dropped, err: reason }, 'hits.lost');
    state.dropped = 0;
    state.loggedAt = performance.now();
  }

  return {
    targetOf: (key) => target(key),
    note(hit) {
      if (state.waiting.size >= WAITING_MAX) return drop(new Error(`${WAITING_MAX} hits wait`));
      state.number += 1;
      const noted = write({ number: state.number, hit }).then(() => {}, drop);
      state.waiting.add(noted);
      void noted.finally(() => state.waiting.delete(noted));
    },
    async close() {
      await Promise.all(state.waiting);
      if (state.dropped > 0) log.warn({ hits: state.dropped }, 'hits.lost');
    },
  };
}

async function writeWithRetries(db: Database, hits: Hit[]): Promise<void> {
  for (const againMs of [...AGAIN_MS, null]) {
    try {
      return await db.transaction((tx) => addHits(tx, hits));
    } catch (error) {
      if (againMs === null) throw error;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}

/** Counts all hits and stores those for which there is a slot. Hits of deleted emails are ignored. */
export async function addHits(tx: Tx, hits: Hit[]): Promise<void> {
  const arriving = Map.groupBy(hits, keyOf);
  const counted = [...arriving.values()].flatMap((emailHits) => {
    const [first] = emailHits;
    if (!first) return [];
    const { projectId, emailId } = first;
    const classifyAt = Math.min(...emailHits.map(({ at }) => at)) + SETTLE_AFTER_MS;
    return [{ projectId, emailId, hits: emailHits.length, classifyAt }];
  });
  const counts = await byProject(tx, { rows: counted, projectOf: ({ projectId }) => projectId }, (rows) =>
    addHitCounts(tx, rows),
  );
  // Most emails are opened once, and for those no stored hits need to be read.
  const withEarlierHits = counts.filter((count) => count.hits > (arriving.get(keyOf(count))?.length ?? 0));
  const kept = Map.groupBy(await listHits(tx, withEarlierHits), keyOf);
  const admitted = counts.flatMap((email) => {
    const { projectId, emailId } = email;
    const admittedHits = admit(kept.get(keyOf(email)) ?? [], arriving.get(keyOf(email)) ?? []);
    return admittedHits.map((hit) => ({ ...hit, projectId, emailId }));
  });
  await upsertHits(tx, admitted);
}

function keyOf({ projectId, emailId }: EmailRef): string {
  return `${projectId} ${emailId}`;
}

/**
 * Decides which arriving hits are stored, and in which slot. If all slots are taken, a hit replaces the oldest classified one, whose
 * outcome is already stored. If all still await classification, it replaces the newest hit of the most frequent kind. So a flood of one
 * kind never hides the first hit of another. A kind is a combination of link and apparent origin, so a human in the middle of a flood is
 * seen.
 */
export function admit(kept: readonly StoredHit[], arriving: readonly HitFacts[]): AdmittedHit[] {
  const slots = new Map<number, SlotHit>(
    kept.map((hit) => [hit.number, { hit, profile: hitProfile(hit), isJudged: hit.bot !== null }]),
  );
  const admitted = new Map<number, AdmittedHit>();
  for (const hit of arriving) {
    const profile = hitProfile(hit);
    const number = slots.size < HITS_MAX ? firstFree(slots) : slotFor(profile, slots);
    if (number === null) continue;
    slots.set(number, { hit, profile, isJudged: false });
    admitted.set(number, { ...hit, number });
  }
  return [...admitted.values()];
}

type SlotHit = { hit: HitFacts; profile: HitProfile; isJudged: boolean };
/** The kind of a hit, and whether it is human by itself. */
type HitProfile = { name: string; isHuman: boolean };

function hitProfile(hit: HitFacts): HitProfile {
  const { bot } = classifyHit(hit);
  return { name: `${hit.kind} ${hit.link} ${bot}`, isHuman: hit.kind !== 'trap' && bot === 'no' };
}

function firstFree(slots: Map<number, SlotHit>): number {
  // Numbers are assigned without gaps, but rows may have been changed by hand.
  for (let number = slots.size + 1; number >= 1; number -= 1)
    if (number <= HITS_MAX && !slots.has(number)) return number;
  throw new Error('no slot is free');
}

function slotFor(profile: HitProfile, slots: Map<number, SlotHit>): number | null {
  const entries = [...slots].map(([number, placed]) => ({ number, ...placed }));
  const judged = entries.filter(({ isJudged }) => isJudged);
  if (judged.length > 0)
    return judged.reduce((oldest, entry) => (entry.hit.at < oldest.hit.at ? entry : oldest)).number;
  const profiles = Map.groupBy(entries, (entry) => entry.profile.name);
  const sameLook = profiles.get(profile.name)?.length ?? 0;
  const most = [...profiles.values()].reduce((most, group) => (group.length > most.length ? group : most));
  if (most.length > sameLook + 1 || (sameLook === 0 && most.length > 1)) return newest(most);
  const machines = entries.filter((entry) => !entry.profile.isHuman && entry.hit.kind !== 'trap');
  return profile.isHuman && sameLook === 0 && machines.length > 0 ? newest(machines) : null;
}

function newest(entries: (SlotHit & { number: number })[]): number {
  const [first, ...rest] = entries;
  if (!first) throw new Error('there is nothing to choose from');
  return rest.reduce((last, entry) => (entry.hit.at > last.hit.at ? entry : last), first).number;
}
