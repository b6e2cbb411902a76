import type { Steps } from '../../base/steps.ts';
import { capUntil, CONTEND_WITHIN_MS, type Contender, slotOrder, slotsLeft } from './caps.ts';
import { gate, type GateAnswer, type GateFacts, type GateReason, type Policy } from './gate.ts';
import { ordered, type Ordered } from './ordered.ts';
import { type Bucket, refill, takeTokens } from './throttle.ts';

/**
 * What a policy would do to the present queue: its drafts are walked in the order in which they are due, each is asked
 * through the real gate, and what it takes (a slot of its address, a token of the throttle) is missing for those behind it.
 * Nothing new arrives during the walk, nobody acts, and the warm-up and what providers asked for are left out.
 */
export type Queue = {
  drafts: QueuedDraft[];
  /** When letters that count were claimed, by address, newest first. */
  claims: ReadonlyMap<string, number[]>;
  /** Of the throttle, as it stands. */
  bucket: Bucket | null;
};

/** `dueAt`: its deadline or, where it has none, when it is to leave. Those that wait for a person are not in the queue. */
export type QueuedDraft = Pick<
  GateFacts,
  'ruleIsOn' | 'suppression' | 'refusedTopic' | 'address' | 'domain' | 'counts'
> & {
  id: string;
  ruleId: string;
  userId: string;
  /** The person's own; null where they have none, so that the policy's counts. */
  zone: string | null;
  priority: number;
  dueAt: number;
  expiresAt: number | null;
};

/** `after`: the last gate that held it. `until`: when it is asked again; null where time alone does not open the gate. */
export type Fate =
  | { kind: 'sends'; leavesAt: number; after: GateReason | null }
  | { kind: 'held'; reason: GateReason; until: number | null }
  | { kind: 'expires'; expiresAt: number; after: GateReason | null };

/** A draft that was held so often is left as it stands: months of nights, or half a day behind another letter. */
const ASKS_MAX = 200;

/** Some ten milliseconds. */
const PLACES_A_STRETCH = 1_000;

/**
 * By the id of the draft. It takes at most ASKS_MAX questions for each, and stops now and then: of fifty thousand drafts it takes
 * half a second, in which nobody else would be served.
 */
export function* simulating(queue: Queue, policy: Policy, now: number): Steps<Map<string, Fate>> {
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

/** Where one draft stands. `at`: when it is asked next or, in the line, since when it stands there. */
type Place = { draft: QueuedDraft; at: number; asks: number; after: GateReason | null };

type Walk = {
  policy: Policy;
  clock: number;
  bucket: Bucket | null;
  claims: Map<string, number[]>;
  /** Those under way that want a slot of the same address, in the order of their claims to it. */
  rivals: Map<string, Set<Place>>;
  due: Ordered<Place>;
  /** Whom only the throttle holds. They are asked one by one as it lets them go: all of them at each token would be too many. */
  line: Ordered<Place>;
  fates: Map<string, Fate>;
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
    // Nobody yields to a letter that will not leave.
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

/** Moves the clock to whoever comes next: the first in the line when the throttle lets it go, or the first that is due. */
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
    // Of a restored database nothing leaves at all: what a policy would do is asked for the time behind that.
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
  // Where no slot is left, which is soon said, it is the cap that holds.
  if (!policy.caps || capUntil(policy.caps, claimed, clock) !== null) return null;
  const slots = slotsLeft(policy.caps, claimed, clock);
  // They stand in the order of their claims, so that these are the first answers of `whoYields`, without asking it of all.
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

function end(walk: Walk, place: Place, fate: Fate): void {
  walk.fates.set(place.draft.id, fate);
  walk.rivals.get(place.draft.address ?? '')?.delete(place);
}

function expired({ after }: Place, expiresAt: number): Fate {
  return { kind: 'expires', expiresAt, after };
}

function heldBy({ reason, until }: GateAnswer & { passes: false }): Fate {
  return { kind: 'held', reason, until };
}
