/**
 * Models `modules/delivery` over rows in memory: the same steps in the same order, with the product's decisions in them. A transaction is
 * one step here. Between two steps the process may die, or stall for longer than its lease.
 */

import { normaliseAddress } from '../../../packages/server/src/platform/net/address.ts';
import { cancel, release } from '../../../packages/server/src/modules/drafts/hold-draft.ts';
import { closeEditor } from '../../../packages/server/src/modules/drafts/edit-draft.ts';
import { type DraftActionResult, isRefused } from '../../../packages/server/src/modules/drafts/refusals.ts';
import { type Draft, ENGINE } from '../../../packages/server/src/modules/drafts/draft.ts';
import { personKey } from '../../../packages/server/src/modules/users/people/people.ts';
import type { Person as Tracked } from '../../../packages/server/src/modules/users/people/person.ts';
import { CONTEND_WITHIN_MS } from '../../../packages/server/src/modules/delivery/gate/limits.ts';
import type { GateResult } from '../../../packages/server/src/modules/delivery/gate/gate.ts';
import { quietUntil } from '../../../packages/server/src/modules/delivery/gate/quiet-hours.ts';
import type { Gates } from '../../../packages/server/src/modules/delivery/send-checks.ts';
import type { Owner, Schedule, Task } from '../schedule.ts';
import type { EmailWatch } from './checks.ts';
import type { Product } from './product.ts';
import type { Relay } from './relay.ts';
import { type Email, nextToSend, type SendResult, type Store, write } from './store.ts';
import { rendersForSending } from './template.ts';

export type Stage = {
  schedule: Schedule;
  product: Product;
  store: Store;
  relay: Relay;
  watch: EmailWatch;
  zone: string;
  /** Set once the members have stopped acting. */
  isCalm: boolean;
};

/** `isFrozen`: the email was submitted before, and is submitted again as the same bytes. */
type ClaimedEmail = { draftId: string; epoch: number; recipient: string; isFrozen: boolean };

const CLAIM_LEASE_MS = 60_000;
const SUBMIT_LEASE_MS = 15 * 60_000;
const GIVE_UP_EVERY_MS = 10_000;
const POLL_MS = 100;
const CAPACITY = 3;
const CHECKED_MIN = 50;
/** The delays of `record-results.ts`. */
const BACKOFF_MS = [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * 60_000);
const RETURN_DELAYS_MS = [0, 0, 1, 5, 15, 30, 60].map((minutes) => minutes * 60_000);
const RETRY_WINDOW_MS = 24 * 3_600_000;

export function* send(stage: Stage, owner: Owner): Task {
  const { schedule } = stage;
  let gaveUpAt = -Infinity;
  for (;;) {
    if (schedule.now() - gaveUpAt >= GIVE_UP_EVERY_MS) {
      gaveUpAt = schedule.now();
      yield* giveUp(stage, owner);
    }
    const emails = claimBatch(stage, owner);
    // The connection may break at the commit: then the process does not learn that it claimed anything.
    if (emails.length > 0 && schedule.random.chance(0.05))
      yield { action: `claimed ${emails.length}, and lost the response` };
    else for (const claim of emails) schedule.spawn(owner, submitEmail(stage, owner, claim));
    const until = emails.length > 0 ? schedule.now() : nextWakeUp(stage);
    yield { action: `claimed ${emails.length}`, until };
  }
}

/** Returns the next time to check. No draft can be due before the real sender checks. Actions of others do not wake it, but time does. */
function nextWakeUp({ schedule, store }: Stage): number {
  const next = Math.max(nextToSend(store), store.policy.paused ? Infinity : store.nextTokenAt);
  return Math.max(schedule.now() + POLL_MS, Math.min(next, schedule.now() + 10 * 60_000));
}

function claimBatch(stage: Stage, owner: Owner): ClaimedEmail[] {
  const { store, product, schedule } = stage;
  const now = schedule.clockOf(owner);
  const { paused, throttle } = store.policy;
  const { remaining, bucket } = product.refill(store.bucket, throttle, now);
  const limit = paused ? 0 : Math.max(Math.min(remaining, CAPACITY), CHECKED_MIN);
  const due = [...store.drafts.values()]
    .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
    .toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
  if (due.length === 0) return [];
  const gates = openGates(stage, now, bucket);
  const emails: ClaimedEmail[] = [];
  for (const draft of due) {
    const action = product.dueAction(draft, now);
    if (action === 'leave' && remaining >= 1) claimDraft({ stage, owner, now, gates, emails }, draft);
    else note(stage, actOn(stage, draft, now));
  }
  if (gates.bucket) store.bucket = gates.bucket;
  const after = product.refill(gates.bucket, throttle, now);
  store.nextTokenAt = after.remaining < 1 ? after.nextAt : 0;
  return emails;
}

function actOn({ product, store }: Stage, draft: Draft, now: number): DraftActionResult | null {
  switch (product.dueAction(draft, now)) {
    case 'expire':
      return cancel(draft, { reason: 'expired', now });
    case 'close_editor':
      return closeEditor(draft, { actor: ENGINE, now });
    case 'release':
      return release(draft, { now });
    case 'give_up': {
      endEmail(store, draft.id);
      return product.finish(draft, { result: 'failed', reason: 'expired' }, { now });
    }
    case 'wait':
    case 'leave':
      return null;
  }
}

function endEmail(store: Store, draftId: string): void {
  const email = store.emails.get(draftId);
  if (email) store.emails.set(draftId, { ...email, state: 'failed', nextAt: null });
}

type ClaimContext = { stage: Stage; owner: Owner; now: number; gates: Gates; emails: ClaimedEmail[] };

function claimDraft({ stage, owner, now, gates, emails }: ClaimContext, draft: Draft): void {
  const { store, product, watch } = stage;
  const person = store.people.get(draft.userId);
  const before = store.emails.get(draft.id);
  if (!person) throw new Error('this simulation erases no users');
  const address = person.email === null ? null : normaliseAddress(person.email);
  if (wasSubmitted(before) && before.address !== address) {
    endEmail(store, draft.id);
    return note(stage, product.finish(draft, { result: 'failed', reason: 'address_changed' }, { now }));
  }
  if (emails.length >= CAPACITY) return;
  const tracked = { projectId: 1, ...person } as unknown as Tracked;
  const answer = product.passGates(gates, draft, { person: tracked, isTriedAgain: wasSubmitted(before) });
  if (!answer.passes) return holdDraft(stage, { draft, answer, now });
  const decision = product.claim(draft, { now });
  if (isRefused(decision) || address === null || person.email === null) return;
  note(stage, decision);
  const email = claimEmail(before, { draft, address, now });
  store.emails.set(draft.id, email);
  watch.claimed({ draft, email, now, owner });
  emails.push({
    draftId: draft.id,
    epoch: email.epoch,
    recipient: person.email,
    isFrozen: wasSubmitted(before),
  });
}

function wasSubmitted(email: Email | undefined): email is Email {
  return email !== undefined && email.attempts > 0;
}

function claimEmail(
  before: Email | undefined,
  { draft, address, now }: { draft: Draft; address: string; now: number },
): Email {
  const claim = { state: 'claimed' as const, address, nextAt: now + CLAIM_LEASE_MS };
  if (before && before.state !== 'deferred') throw new Error('a draft was claimed that already has an email');
  const claimedAt = before?.attempts === 0 ? now : before?.claimedAt;
  if (before) return { ...before, ...claim, claimedAt: claimedAt ?? now, epoch: before.epoch + 1 };
  const first = {
    draftId: draft.id,
    epoch: 1,
    counts: draft.counts,
    claimedAt: now,
    attempts: 0,
    firstAt: null,
  };
  return { ...first, ...claim };
}

type Refusal = Extract<GateResult, { passes: false }>;

function holdDraft(
  stage: Stage,
  { draft, answer, now }: { draft: Draft; answer: Refusal; now: number },
): void {
  const { reason, until, detail } = answer;
  stage.watch.refused({ draft, reason, until, now });
  if (reason === 'throttle') return;
  const isSuppressed = reason === 'suppressed' && until === null;
  if (isSuppressed) return note(stage, cancel(draft, { reason, now, detail }));
  note(
    stage,
    stage.product.hold(draft, { reason, until: stage.product.nextCheckAt(draft, until, now), now, detail }),
  );
}

function note({ store }: Pick<Stage, 'store'>, decision: DraftActionResult | null): void {
  if (decision && !isRefused(decision)) write(store, decision);
}

/** Returns the input of the project's send checks, as `openGates` reads it. */
function openGates({ store, zone }: Stage, now: number, bucket: Gates['bucket']): Gates {
  const emails = [...store.emails.values()].filter(hasSlot);
  const people = [...store.people.values()];
  const addressOf = (userId: string): string => normaliseAddress(store.people.get(userId)?.email ?? '');
  const contenders = [...store.drafts.values()].filter((draft) =>
    isContender(draft, now + CONTEND_WITHIN_MS),
  );
  const rules = {
    byId: { get: () => ({ enabledAt: store.ruleIsOn ? 0 : null, definition: { topic: null } }) },
  };
  return {
    model: { rules, project: { settings: { timeZone: zone } } } as unknown as Gates['model'],
    sendServices: { providers: { of: (domain: string) => domain } } as unknown as Gates['sendServices'],
    policy: store.policy,
    now,
    bucket,
    isRestored: false,
    domain: 'pass',
    domainLimits: null,
    warmup: null,
    suppressions: new Map(
      people.map(({ userId, email }) => [
        personKey({ projectId: 1, userId }),
        email === null ? null : (store.suppressed.get(normaliseAddress(email)) ?? null),
      ]),
    ) as Gates['suppressions'],
    refusals: new Map(),
    claims: new Map(
      [...Map.groupBy(emails, ({ address }) => address)].map(([address, group]) => [
        address,
        group.map(({ claimedAt }) => claimedAt).toSorted((a, b) => b - a),
      ]),
    ),
    contenders: new Map(
      [...Map.groupBy(contenders, ({ userId }) => addressOf(userId))].map(([address, group]) => [
        address,
        group.map(({ id, priority, dueAt }) => ({ id, priority, deadlineAt: dueAt ?? 0 })),
      ]),
    ),
  };
}

function hasSlot({ counts, state, attempts }: Email): boolean {
  return counts && state !== 'failed' && (state !== 'deferred' || attempts > 0);
}

const HELD_BY_TIME: ReadonlySet<string | null> = new Set([
  'quiet_hours',
  'suppressed',
  'frequency_cap',
  'frequency_cap_yielded',
]);

function isContender({ dueAt, counts, state, deadlineAt, reason }: Draft, until: number): boolean {
  if (dueAt === null || dueAt > until || !counts) return false;
  if (state === 'approved' || (state === 'scheduled' && deadlineAt !== null)) return true;
  return state === 'held' && HELD_BY_TIME.has(reason);
}

/** Sends one email, from its claim to its result. */
function* submitEmail(stage: Stage, owner: Owner, claim: ClaimedEmail): Task {
  const { schedule, relay } = stage;
  const { random } = schedule;
  yield { action: `has ${claim.draftId} by its epoch ${claim.epoch}` };
  const rendered = claim.isFrozen ? 'rendered' : render(stage, claim);
  if (rendered !== 'rendered') {
    yield { action: `cannot render ${claim.draftId}: ${rendered}` };
    return record(stage, owner, { claim, result: { kind: rendered } });
  }
  const submitted = submit(stage, owner, claim);
  if (submitted === 'unanswered') return;
  let result: SendResult = { kind: 'returned' };
  if (submitted === 'submitted') {
    yield { action: `submitted ${claim.draftId}` };
    result = relay.submit(claim.draftId);
    yield { action: `the relay says of ${claim.draftId}: ${result.kind}` };
  }
  record(stage, owner, { claim, result });
  // The commit got no response, so it is repeated.
  if (random.chance(0.1)) {
    yield { action: `recorded ${claim.draftId}, without a response` };
    record(stage, owner, { claim, result });
  }
}

/** Renders. The renderer may also be busy, and then the draft is returned. */
function render({ store, schedule }: Stage, { draftId }: ClaimedEmail): 'rendered' | 'withheld' | 'returned' {
  const draft = store.drafts.get(draftId);
  if (!draft) throw new Error('an email without its draft');
  if (schedule.random.chance(0.02)) return 'returned';
  return rendersForSending(draft) ? 'rendered' : 'withheld';
}

function submit(stage: Stage, owner: Owner, claim: ClaimedEmail): 'submitted' | 'refused' | 'unanswered' {
  const { store, schedule, watch } = stage;
  const now = schedule.clockOf(owner);
  const email = store.emails.get(claim.draftId);
  const draft = store.drafts.get(claim.draftId);
  if (!email || !draft) throw new Error('an email without its draft');
  if (!maySubmitNow(stage, { claim, email, draft, now })) return 'refused';
  const chance = schedule.random.next();
  if (chance < 0.03) return 'unanswered';
  const attempts = email.attempts + 1;
  const submitted = { ...email, state: 'submitting' as const, attempts, nextAt: now + SUBMIT_LEASE_MS };
  store.emails.set(claim.draftId, { ...submitted, firstAt: email.firstAt ?? now });
  watch.submitted({ draft, now, isOwner: email.epoch === claim.epoch });
  return chance < 0.06 ? 'unanswered' : 'submitted';
}

/** Checks quiet hours again, and every condition that the statement repeats. */
function maySubmitNow(
  { store, product, zone }: Stage,
  { claim, email, draft, now }: { claim: ClaimedEmail; email: Email; draft: Draft; now: number },
): boolean {
  const { quietHours, paused } = store.policy;
  if (paused || (quietHours && quietUntil(now, zone, quietHours) !== null)) return false;
  const found = store.suppressed.get(email.address);
  if (found && (found.until === null || found.until > now)) return false;
  const isSameAddress = store.people.get(draft.userId)?.email === claim.recipient;
  return isSameAddress && product.maySubmit(email, claim.epoch);
}

function record(
  stage: Stage,
  owner: Owner,
  { claim, result }: { claim: Pick<ClaimedEmail, 'draftId' | 'epoch'>; result: SendResult },
): void {
  const { store, product, schedule } = stage;
  const now = schedule.clockOf(owner);
  const email = store.emails.get(claim.draftId);
  const draft = store.drafts.get(claim.draftId);
  if (!email || !draft || !product.mayEnd(email, claim.epoch, result)) return;
  const retryAt = retryAtOf(result, { email, draft, now });
  if (result.kind === 'withheld') return holdWhileSending(stage, { email, draft, now });
  const isFinal = retryAt === null;
  const state = result.kind === 'sent' || result.kind === 'unknown' ? result.kind : 'failed';
  store.emails.set(claim.draftId, { ...email, state: isFinal ? state : 'deferred', nextAt: null });
  const returnOrRetry =
    result.kind === 'returned' && email.attempts === 0 ? product.returnDraft : product.retry;
  note(
    stage,
    isFinal
      ? product.finish(draft, finishResult(result), { now })
      : returnOrRetry(draft, { at: retryAt, now }),
  );
}

/** Holds the draft. The email waits until the draft is corrected. */
function holdWhileSending(
  { store, product, watch }: Stage,
  { email, draft, now }: { email: Email; draft: Draft; now: number },
): void {
  store.emails.set(draft.id, { ...email, state: 'deferred', nextAt: null });
  note({ store }, product.holdWhileSending(draft, { now }));
  watch.withheld(draft.id);
}

function retryAtOf(
  result: SendResult,
  { email, draft, now }: { email: Email; draft: Draft; now: number },
): number | null {
  if (result.kind === 'returned') return now + returnDelayMs(email.epoch - email.attempts);
  if (result.kind !== 'deferred') return null;
  const at = now + (BACKOFF_MS[Math.max(0, email.attempts - 1)] ?? BACKOFF_MS.at(-1) ?? 0);
  const until = Math.min((email.firstAt ?? now) + RETRY_WINDOW_MS, draft.expiresAt ?? Infinity);
  return at < until ? at : null;
}

function returnDelayMs(claims: number): number {
  return RETURN_DELAYS_MS[Math.max(0, claims - 1)] ?? RETURN_DELAYS_MS.at(-1) ?? 0;
}

function finishResult(result: SendResult): Parameters<Product['finish']>[1] {
  if (result.kind === 'sent') return { result: 'sent' };
  if (result.kind === 'unknown' || result.kind === 'failed')
    return { result: result.kind, reason: result.reason };
  return { result: 'failed', reason: result.kind };
}

/** Lost emails are read in one step and written in another, as in the product. */
function* giveUp(stage: Stage, owner: Owner): Task {
  const { store, schedule, product } = stage;
  const now = schedule.clockOf(owner);
  const lost = [...store.emails.values()]
    .filter(({ nextAt }) => nextAt !== null && nextAt < now)
    .map((email) => ({ claim: email, result: product.resultOfLost(email) }));
  if (lost.length === 0) return;
  yield { action: `found ${lost.length} lost` };
  for (const lostEmail of lost) record(stage, owner, lostEmail);
  yield { action: 'recorded the lost emails' };
}
