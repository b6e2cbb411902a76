/**
 * Simulates the effect of a policy on the current queue. Drafts are checked by the real gate in the order in which they are due. A draft
 * takes a slot of its address and a token of the throttle, which later drafts cannot use. The simulation assumes no new drafts and no
 * actions, and leaves out the warm-up and provider paces.
 */

import type { Steps } from '../../../platform/time/steps.ts';
import { CONTEND_WITHIN_MS, type Contender, refill, slotOrder, takeTokens } from './limits.ts';
import { gate, type GateResult, type GateReason } from './gate.ts';
import { createBinaryHeap, type BinaryHeap } from './binary-heap.ts';
import type { Policy, GateFacts } from './facts.ts';
import { type ThrottleBucket, capUntil, remainingSlots } from '../../sending/index.ts';

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
const CHECKS_MAX = 200;

/** About ten milliseconds of work. */
const ENTRIES_PER_STEP = 1_000;

/**
 * Returns forecasts by draft id. It makes at most CHECKS_MAX checks per draft and pauses now and then. Fifty thousand drafts take half a second,
 * which would otherwise block all other requests.
 */
export function* simulateQueue(queue: Queue, policy: Policy, now: number): Steps<Map<string, DraftForecast>> {
  const simulation = yield* beginSimulation(queue, policy, now);
  let checks = 0;
  for (let entry = takeNextEntry(simulation); entry; entry = takeNextEntry(simulation)) {
    const { expiresAt } = entry.draft;
    if (expiresAt !== null && expiresAt <= simulation.clock)
      end(simulation, entry, expired(entry, expiresAt));
    else settle(simulation, entry);
    checks += 1;
    if (checks % ENTRIES_PER_STEP === 0) yield;
  }
  return simulation.forecasts;
}

/** The state of one draft. `at`: when it is checked next or, in the throttle's line, since when it waits there. */
type QueueEntry = { draft: QueuedDraft; at: number; checks: number; after: GateReason | null };

type QueueSimulation = {
  policy: Policy;
  clock: number;
  bucket: ThrottleBucket | null;
  claims: Map<string, number[]>;
  /** Drafts in progress that want a slot of the same address, in the order of their claims to it. */
  rivals: Map<string, Set<QueueEntry>>;
  due: BinaryHeap<QueueEntry>;
  /**
   * Drafts that only the throttle holds. They are checked one by one as tokens become free. Checking all of them at each token would be too
   * slow.
   */
  line: BinaryHeap<QueueEntry>;
  forecasts: Map<string, DraftForecast>;
};

function* beginSimulation(queue: Queue, policy: Policy, now: number): Generator<void, QueueSimulation> {
  const simulation: QueueSimulation = {
    policy,
    clock: now,
    bucket: queue.bucket,
    claims: new Map(queue.claims),
    rivals: new Map(),
    due: createBinaryHeap(entryOrder),
    line: createBinaryHeap(entryOrder),
    forecasts: new Map(),
  };
  const entries = queue.drafts.map((draft): QueueEntry => ({
    draft,
    at: Math.max(now, draft.dueAt),
    checks: 0,
    after: null,
  }));
  let entered = 0;
  for (const entry of entries.toSorted((a, b) => slotOrder(contender(a), contender(b)))) {
    const { draft } = entry;
    entered += 1;
    if (entered % ENTRIES_PER_STEP === 0) yield;
    // No draft yields to one that will not be sent.
    const result = gate(factsOf(simulation, draft), policy, now);
    if (!result.passes && result.until === null) end(simulation, entry, heldBy(result));
    else enter(simulation, entry);
  }
  return simulation;
}

function entryOrder(a: QueueEntry, b: QueueEntry): number {
  return a.at - b.at || slotOrder(contender(a), contender(b));
}

function contender({ draft: { id, priority, dueAt } }: QueueEntry): Contender {
  return { id, priority, deadlineAt: dueAt };
}

function enter(simulation: QueueSimulation, entry: QueueEntry): void {
  simulation.due.push(entry);
  const { address, counts } = entry.draft;
  if (address === null || !counts) return;
  const rivals = simulation.rivals.get(address);
  if (rivals) rivals.add(entry);
  else simulation.rivals.set(address, new Set([entry]));
}

/** Moves the clock to the next draft: the first in the throttle's line when a token is free, or the first that is due. */
function takeNextEntry(simulation: QueueSimulation): QueueEntry | undefined {
  const dueAt = simulation.due.first()?.at ?? Infinity;
  const lineAt = simulation.line.first() ? throttleAt(simulation).nextAt : Infinity;
  const fromLine = lineAt <= dueAt;
  const entry = (fromLine ? simulation.line : simulation.due).pop();
  if (entry) simulation.clock = fromLine ? lineAt : dueAt;
  return entry;
}

function throttleAt({ bucket, policy, clock }: QueueSimulation): ReturnType<typeof refill> {
  return refill(bucket, policy.throttle, clock);
}

function settle(simulation: QueueSimulation, entry: QueueEntry): void {
  const { draft } = entry;
  const result = gate(
    { ...factsOf(simulation, draft), yieldsTo: betterClaim(simulation, entry) },
    simulation.policy,
    simulation.clock,
  );
  entry.checks += 1;
  if (result.passes) {
    claim(simulation, draft);
    end(simulation, entry, { kind: 'sends', leavesAt: simulation.clock, after: entry.after });
    return;
  }
  entry.after = result.reason;
  const { until } = result;
  if (until === null || entry.checks >= CHECKS_MAX) end(simulation, entry, heldBy(result));
  else if (result.reason === 'throttle') simulation.line.push(Object.assign(entry, { at: simulation.clock }));
  else if (draft.expiresAt !== null && draft.expiresAt <= until)
    end(simulation, entry, expired(entry, draft.expiresAt));
  else simulation.due.push(Object.assign(entry, { at: until }));
}

function factsOf(simulation: QueueSimulation, draft: QueuedDraft): GateFacts {
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
    zone: draft.zone ?? simulation.policy.timeZone,
    counts,
    claimedAt: claimsOf(simulation, draft),
    yieldsTo: null,
    throttle: throttleAt(simulation),
    domainLimit: null,
    warmup: 'pass',
  };
}

function claimsOf(simulation: QueueSimulation, { address }: QueuedDraft): number[] {
  return (address !== null && simulation.claims.get(address)) || [];
}

function betterClaim(simulation: QueueSimulation, entry: QueueEntry): Contender | null {
  const { draft } = entry;
  const { clock, policy } = simulation;
  const rivals = simulation.rivals.get(draft.address ?? '');
  if (!rivals?.has(entry)) return null;
  const claimed = claimsOf(simulation, draft);
  // If no slot is left, which is quick to check, the cap itself holds the draft.
  if (!policy.caps || capUntil(policy.caps, claimed, clock) !== null) return null;
  const slots = remainingSlots(policy.caps, claimed, clock);
  // Rivals are in the order of their claims, so this returns the same as `findYields` without checking all of them.
  let claimedSlots = 0;
  let last: QueueEntry | null = null;
  for (const rival of rivals) {
    if (rival === entry || claimedSlots === slots) break;
    if (rival.at > clock + CONTEND_WITHIN_MS) continue;
    claimedSlots += 1;
    last = rival;
  }
  return last && claimedSlots === slots ? contender(last) : null;
}

function claim(simulation: QueueSimulation, draft: QueuedDraft): void {
  simulation.bucket = takeTokens(throttleAt(simulation).bucket, 1);
  if (draft.address === null || !draft.counts) return;
  simulation.claims.set(draft.address, [simulation.clock, ...claimsOf(simulation, draft)]);
}

function end(simulation: QueueSimulation, entry: QueueEntry, forecast: DraftForecast): void {
  simulation.forecasts.set(entry.draft.id, forecast);
  simulation.rivals.get(entry.draft.address ?? '')?.delete(entry);
}

function expired({ after }: QueueEntry, expiresAt: number): DraftForecast {
  return { kind: 'expires', expiresAt, after };
}

function heldBy({ reason, until }: GateResult & { passes: false }): DraftForecast {
  return { kind: 'held', reason, until };
}
