import type { Steps } from '../../../platform/time/steps.ts';
import {
  type ThrottleBucket,
  capUntil,
  CONTEND_WITHIN_MS,
  type Contender,
  refill,
  slotOrder,
  slotsLeft,
  takeTokens,
} from './limits.ts';
import { gate, type GateAnswer, type GateReason } from './gate.ts';
import { ordered, type Ordered } from './binary-heap.ts';
import type { Policy, GateFacts } from './facts.ts';

/**
 * Simulates the effect of a policy on the current queue. Drafts are checked by the real gate in the order in which they are due. A draft
 * takes a slot of its address and a token of the throttle, which later drafts cannot use. The simulation assumes no new drafts and no
 * actions, and leaves out the warm-up and provider paces.
 */
export type Queue = {
  drafts: QueuedDraft[];
  /** When emails that count were claimed, by address, newest first. */
  claims: ReadonlyMap<string, number[]>;
  /** The current bucket of the throttle. */
  bucket: ThrottleBucket | null;
};

/** `dueAt`: its deadline or, if it has none, its send time. Drafts that wait for a person are not in the queue. */
export type QueuedDraft = Pick<
  GateFacts,
  'ruleIsOn' | 'suppression' | 'refusedTopic' | 'address' | 'domain' | 'counts'
> & {
  id: string;
  ruleId: string;
  userId: string;
  /** The user's own time zone. Null if unknown, so that the policy's applies. */
  zone: string | null;
  priority: number;
  dueAt: number;
  expiresAt: number | null;
};

/** `after`: the last gate that held it. `until`: when it is checked again; null if time alone does not open the gate. */
export type DraftForecast =
  | { kind: 'sends'; leavesAt: number; after: GateReason | null }
  | { kind: 'held'; reason: GateReason; until: number | null }
  | { kind: 'expires'; expiresAt: number; after: GateReason | null };

/** A draft that was held this often is left as it is: this covers months of nights, or half a day behind another email. */
const ASKS_MAX = 200;

/** About ten milliseconds of work. */
const PLACES_A_STRETCH = 1_000;

/**
 * Returns fates by draft id. It makes at most ASKS_MAX checks per draft and pauses now and then. Fifty thousand drafts take half a second,
 * which would otherwise block all other requests.
 */
export function* simulating(queue: Queue, policy: Policy, now: number): Steps<Map<string, DraftForecast>> {
  const walk = yield* beginWalk(queue, policy, now);
  let asked = 0;
  for (let place = takeNext(walk); place; place = takeNext(walk)) {
    const { expiresAt } = place.draft;
    if (expiresAt !== null && expiresAt <= walk.clock) end(walk, place, expired(place, expiresAt));
    else settle(walk, place);
    asked += 1;
    if (asked % PLACES_A_STRETCH === 0) yield;
  }
  return walk.fates;
}

/** The state of one draft. `at`: when it is checked next or, in the throttle's line, since when it waits there. */
type Place = { draft: QueuedDraft; at: number; asks: number; after: GateReason | null };

type Walk = {
  policy: Policy;
  clock: number;
  bucket: ThrottleBucket | null;
  claims: Map<string, number[]>;
  /** Drafts in progress that want a slot of the same address, in the order of their claims to it. */
  rivals: Map<string, Set<Place>>;
  due: Ordered<Place>;
  /**
   * Drafts that only the throttle holds. They are checked one by one as tokens become free. Checking all of them at each token would be too
   * slow.
   */
  line: Ordered<Place>;
  fates: Map<string, DraftForecast>;
};

function* beginWalk(queue: Queue, policy: Policy, now: number): Generator<void, Walk> {
  const walk: Walk = {
    policy,
    clock: now,
    bucket: queue.bucket,
    claims: new Map(queue.claims),
    rivals: new Map(),
    due: ordered(placeOrder),
    line: ordered(placeOrder),
    fates: new Map(),
  };
  const places = queue.drafts.map((draft): Place => ({
    draft,
    at: Math.max(now, draft.dueAt),
    asks: 0,
    after: null,
  }));
  let entered = 0;
  for (const place of places.toSorted((a, b) => slotOrder(contender(a), contender(b)))) {
    const { draft } = place;
    entered += 1;
    if (entered % PLACES_A_STRETCH === 0) yield;
    // No draft yields to one that will not be sent.
    const answer = gate(factsOf(walk, draft), policy, now);
    if (!answer.passes && answer.until === null) end(walk, place, heldBy(answer));
    else enter(walk, place);
  }
  return walk;
}

function placeOrder(a: Place, b: Place): number {
  return a.at - b.at || slotOrder(contender(a), contender(b));
}

function contender({ draft: { id, priority, dueAt } }: Place): Contender {
  return { id, priority, deadlineAt: dueAt };
}

function enter(walk: Walk, place: Place): void {
  walk.due.push(place);
  const { address, counts } = place.draft;
  if (address === null || !counts) return;
  const rivals = walk.rivals.get(address);
  if (rivals) rivals.add(place);
  else walk.rivals.set(address, new Set([place]));
}

/** Moves the clock to the next draft: the first in the throttle's line when a token is free, or the first that is due. */
function takeNext(walk: Walk): Place | undefined {
  const dueAt = walk.due.first()?.at ?? Infinity;
  const lineAt = walk.line.first() ? throttleAt(walk).nextAt : Infinity;
  const fromLine = lineAt <= dueAt;
  const place = (fromLine ? walk.line : walk.due).pop();
  if (place) walk.clock = fromLine ? lineAt : dueAt;
  return place;
}

function throttleAt({ bucket, policy, clock }: Walk): ReturnType<typeof refill> {
  return refill(bucket, policy.throttle, clock);
}

function settle(walk: Walk, place: Place): void {
  const { draft } = place;
  const answer = gate(
    { ...factsOf(walk, draft), yieldsTo: betterClaim(walk, place) },
    walk.policy,
    walk.clock,
  );
  place.asks += 1;
  if (answer.passes) {
    claim(walk, draft);
    end(walk, place, { kind: 'sends', leavesAt: walk.clock, after: place.after });
    return;
  }
  place.after = answer.reason;
  const { until } = answer;
  if (until === null || place.asks >= ASKS_MAX) end(walk, place, heldBy(answer));
  else if (answer.reason === 'throttle') walk.line.push(Object.assign(place, { at: walk.clock }));
  else if (draft.expiresAt !== null && draft.expiresAt <= until)
    end(walk, place, expired(place, draft.expiresAt));
  else walk.due.push(Object.assign(place, { at: until }));
}

function factsOf(walk: Walk, draft: QueuedDraft): GateFacts {
  const { ruleIsOn, suppression, refusedTopic, address, domain, counts } = draft;
  return {
    draftId: draft.id,
    // A restored database sends nothing at all, so the simulation assumes that the restore is confirmed.
    isRestored: false,
    ruleIsOn,
    suppression,
    refusedTopic,
    address,
    domain,
    zone: draft.zone ?? walk.policy.timeZone,
    counts,
    claimedAt: claimsOf(walk, draft),
    yieldsTo: null,
    throttle: throttleAt(walk),
    narrow: null,
    warmup: 'pass',
  };
}

function claimsOf(walk: Walk, { address }: QueuedDraft): number[] {
  return (address !== null && walk.claims.get(address)) || [];
}

function betterClaim(walk: Walk, place: Place): Contender | null {
  const { draft } = place;
  const { clock, policy } = walk;
  const rivals = walk.rivals.get(draft.address ?? '');
  if (!rivals?.has(place)) return null;
  const claimed = claimsOf(walk, draft);
  // If no slot is left, which is quick to check, the cap itself holds the draft.
  if (!policy.caps || capUntil(policy.caps, claimed, clock) !== null) return null;
  const slots = slotsLeft(policy.caps, claimed, clock);
  // Rivals are in the order of their claims, so this returns the same as `whoYields` without checking all of them.
  let taken = 0;
  let last: Place | null = null;
  for (const rival of rivals) {
    if (rival === place || taken === slots) break;
    if (rival.at > clock + CONTEND_WITHIN_MS) continue;
    taken += 1;
    last = rival;
  }
  return last && taken === slots ? contender(last) : null;
}

function claim(walk: Walk, draft: QueuedDraft): void {
  walk.bucket = takeTokens(throttleAt(walk).bucket, 1);
  if (draft.address === null || !draft.counts) return;
  walk.claims.set(draft.address, [walk.clock, ...claimsOf(walk, draft)]);
}

function end(walk: Walk, place: Place, fate: DraftForecast): void {
  walk.fates.set(place.draft.id, fate);
  walk.rivals.get(place.draft.address ?? '')?.delete(place);
}

function expired({ after }: Place, expiresAt: number): DraftForecast {
  return { kind: 'expires', expiresAt, after };
}

function heldBy({ reason, until }: GateAnswer & { passes: false }): DraftForecast {
  return { kind: 'held', reason, until };
}
