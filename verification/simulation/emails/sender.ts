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
import type { Happened } from './checks.ts';
import type { Product } from './product.ts';
import type { Relay } from './relay.ts';
import { type Message, nextToSend, type Said, type Store, write } from './store.ts';
import { rendersForSending } from './template.ts';

export type Stage = {
  schedule: Schedule;
  product: Product;
  store: Store;
  relay: Relay;
  happened: Happened;
  zone: string;
  /** Set once the members have stopped acting. */
  isCalm: boolean;
};

/** `isFrozen`: the email was submitted before, and is submitted again as the same bytes. */
type Claimed = { draftId: string; epoch: number; recipient: string; isFrozen: boolean };

const CLAIMED_FOR_MS = 60_000;
const SUBMITTED_FOR_MS = 15 * 60_000;
const GIVE_UP_EVERY_MS = 10_000;
const LOOK_EVERY_MS = 100;
const ROOM = 3;
const LOOKED_AT_MIN = 50;
/** The delays of `record-results.ts`. */
const BACKOFF_MS = [1, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * 60_000);
const RETURN_DELAYS_MS = [0, 0, 1, 5, 15, 30, 60].map((minutes) => minutes * 60_000);
const TRIED_FOR_MS = 24 * 3_600_000;

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
      yield { did: `claimed ${emails.length}, and forgot` };
    else for (const email of emails) schedule.also(owner, handOver(stage, owner, email));
    const rest = emails.length > 0 ? schedule.now() : restUntil(stage);
    yield { did: `claimed ${emails.length}`, until: rest };
  }
}

/** Returns the next time to check. No draft can be due before the real sender checks. Actions of others do not wake it, but time does. */
function restUntil({ schedule, store }: Stage): number {
  const next = Math.max(nextToSend(store), store.policy.paused ? Infinity : store.nextTokenAt);
  return Math.max(schedule.now() + LOOK_EVERY_MS, Math.min(next, schedule.now() + 10 * 60_000));
}

function claimBatch(stage: Stage, owner: Owner): Claimed[] {
  const { store, product, schedule } = stage;
  const now = schedule.clockOf(owner);
  const { paused, throttle } = store.policy;
  const { remaining: left, bucket } = product.refill(store.bucket, throttle, now);
  const limit = paused ? 0 : Math.max(Math.min(left, ROOM), LOOKED_AT_MIN);
  const due = [...store.drafts.values()]
    .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
    .toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
  if (due.length === 0) return [];
  const gates = openGates(stage, now, bucket);
  const emails: Claimed[] = [];
  for (const draft of due) {
    const action = product.dueAction(draft, now);
    if (action === 'leave' && left >= 1) leave({ stage, owner, now, gates, emails }, draft);
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
      endByOthers(store, draft.id);
      return product.finish(draft, { result: 'failed', reason: 'expired' }, { now });
    }
    case 'wait':
    case 'leave':
      return null;
  }
}

function endByOthers(store: Store, draftId: string): void {
  const message = store.messages.get(draftId);
  if (message) store.messages.set(draftId, { ...message, state: 'failed', nextAt: null });
}

type Leaving = { stage: Stage; owner: Owner; now: number; gates: Gates; emails: Claimed[] };

function leave({ stage, owner, now, gates, emails }: Leaving, draft: Draft): void {
  const { store, product, happened } = stage;
  const person = store.people.get(draft.userId);
  const before = store.messages.get(draft.id);
  if (!person) throw new Error('this simulation erases no users');
  const address = person.email === null ? null : normaliseAddress(person.email);
  if (wasTried(before) && before.address !== address) {
    endByOthers(store, draft.id);
    return note(stage, product.finish(draft, { result: 'failed', reason: 'address_changed' }, { now }));
  }
  if (emails.length >= ROOM) return;
  const tracked = { projectId: 1, ...person } as unknown as Tracked;
  const answer = product.passGates(gates, draft, { person: tracked, isTriedAgain: wasTried(before) });
  if (!answer.passes) return keepIn(stage, { draft, answer, now });
  const decided = product.claim(draft, { now });
  if (isRefused(decided) || address === null || person.email === null) return;
  note(stage, decided);
  const message = claimed(before, { draft, address, now });
  store.messages.set(draft.id, message);
  happened.claimed({ draft, message, now, owner });
  emails.push({
    draftId: draft.id,
    epoch: message.epoch,
    recipient: person.email,
    isFrozen: wasTried(before),
  });
}

function wasTried(message: Message | undefined): message is Message {
  return message !== undefined && message.attempts > 0;
}

function claimed(
  before: Message | undefined,
  { draft, address, now }: { draft: Draft; address: string; now: number },
): Message {
  const claim = { state: 'claimed' as const, address, nextAt: now + CLAIMED_FOR_MS };
  if (before && before.state !== 'deferred')
    throw new Error('a draft was claimed that has a message already');
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

type No = Extract<GateResult, { passes: false }>;

function keepIn(stage: Stage, { draft, answer, now }: { draft: Draft; answer: No; now: number }): void {
  const { reason, until, detail } = answer;
  stage.happened.refused({ draft, reason, until, now });
  if (reason === 'throttle') return;
  const isUnwanted = reason === 'suppressed' && until === null;
  if (isUnwanted) return note(stage, cancel(draft, { reason, now, detail }));
  note(
    stage,
    stage.product.hold(draft, { reason, until: stage.product.askAgainAt(draft, until, now), now, detail }),
  );
}

function note({ store }: Pick<Stage, 'store'>, decided: DraftActionResult | null): void {
  if (decided && !isRefused(decided)) write(store, decided);
}

/** Returns the input of the project's send checks, as `openGates` reads it. */
function openGates({ store, zone }: Stage, now: number, bucket: Gates['bucket']): Gates {
  const messages = [...store.messages.values()].filter(hasSlot);
  const people = [...store.people.values()];
  const addressOf = (userId: string): string => normaliseAddress(store.people.get(userId)?.email ?? '');
  const contending = [...store.drafts.values()].filter((draft) => contends(draft, now + CONTEND_WITHIN_MS));
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
      [...Map.groupBy(messages, ({ address }) => address)].map(([address, some]) => [
        address,
        some.map(({ claimedAt }) => claimedAt).toSorted((a, b) => b - a),
      ]),
    ),
    contenders: new Map(
      [...Map.groupBy(contending, ({ userId }) => addressOf(userId))].map(([address, some]) => [
        address,
        some.map(({ id, priority, dueAt }) => ({ id, priority, deadlineAt: dueAt ?? 0 })),
      ]),
    ),
  };
}

function hasSlot({ counts, state, attempts }: Message): boolean {
  return counts && state !== 'failed' && (state !== 'deferred' || attempts > 0);
}

const HELD_BY_TIME: ReadonlySet<string | null> = new Set([
  'quiet_hours',
  'suppressed',
  'frequency_cap',
  'frequency_cap_yielded',
]);

function contends({ dueAt, counts, state, deadlineAt, reason }: Draft, until: number): boolean {
  if (dueAt === null || dueAt > until || !counts) return false;
  if (state === 'approved' || (state === 'scheduled' && deadlineAt !== null)) return true;
  return state === 'held' && HELD_BY_TIME.has(reason);
}

/** Sends one email, from its claim to its result. */
function* handOver(stage: Stage, owner: Owner, email: Claimed): Task {
  const { schedule, relay } = stage;
  const { random } = schedule;
  yield { did: `has ${email.draftId} by its epoch ${email.epoch}` };
  const rendered = email.isFrozen ? 'rendered' : render(stage, email);
  if (rendered !== 'rendered') {
    yield { did: `cannot render ${email.draftId}: ${rendered}` };
    return record(stage, owner, { email, said: { result: rendered } });
  }
  const submitted = submit(stage, owner, email);
  if (submitted === 'unheard') return;
  let said: Said = { result: 'returned' };
  if (submitted === 'may go') {
    yield { did: `submitted ${email.draftId}` };
    said = relay.hand(email.draftId);
    yield { did: `the relay says of ${email.draftId}: ${said.result}` };
  }
  record(stage, owner, { email, said });
  // The commit got no response, so it is repeated.
  if (random.chance(0.1)) {
    yield { did: `recorded ${email.draftId}, and was not told so` };
    record(stage, owner, { email, said });
  }
}

/** Renders. The renderer may also be busy, and then the draft is returned. */
function render({ store, schedule }: Stage, { draftId }: Claimed): 'rendered' | 'withheld' | 'returned' {
  const draft = store.drafts.get(draftId);
  if (!draft) throw new Error('a message without its draft');
  if (schedule.random.chance(0.02)) return 'returned';
  return rendersForSending(draft) ? 'rendered' : 'withheld';
}

function submit(stage: Stage, owner: Owner, email: Claimed): 'may go' | 'may not' | 'unheard' {
  const { store, schedule, happened } = stage;
  const now = schedule.clockOf(owner);
  const message = store.messages.get(email.draftId);
  const draft = store.drafts.get(email.draftId);
  if (!message || !draft) throw new Error('a message without its draft');
  if (!mayGo(stage, { email, message, draft, now })) return 'may not';
  const chance = schedule.random.next();
  if (chance < 0.03) return 'unheard';
  const attempts = message.attempts + 1;
  const submitted = { ...message, state: 'submitting' as const, attempts, nextAt: now + SUBMITTED_FOR_MS };
  store.messages.set(email.draftId, { ...submitted, firstAt: message.firstAt ?? now });
  happened.submitted({ draft, now, isTheirs: message.epoch === email.epoch });
  return chance < 0.06 ? 'unheard' : 'may go';
}

/** Checks quiet hours again, and every condition that the statement repeats. */
function mayGo(
  { store, product, zone }: Stage,
  { email, message, draft, now }: { email: Claimed; message: Message; draft: Draft; now: number },
): boolean {
  const { quietHours, paused } = store.policy;
  if (paused || (quietHours && quietUntil(now, zone, quietHours) !== null)) return false;
  const found = store.suppressed.get(message.address);
  if (found && (found.until === null || found.until > now)) return false;
  const isTheirs = store.people.get(draft.userId)?.email === email.recipient;
  return isTheirs && product.maySubmit(message, email.epoch);
}

function record(
  stage: Stage,
  owner: Owner,
  { email, said }: { email: Pick<Claimed, 'draftId' | 'epoch'>; said: Said },
): void {
  const { store, product, schedule } = stage;
  const now = schedule.clockOf(owner);
  const message = store.messages.get(email.draftId);
  const draft = store.drafts.get(email.draftId);
  if (!message || !draft || !product.mayEnd(message, email.epoch, said)) return;
  const againAt = againAtOf(said, { message, draft, now });
  if (said.result === 'withheld') return holdWhileSending(stage, { message, draft, now });
  const isOver = againAt === null;
  const result = said.result === 'sent' || said.result === 'unknown' ? said.result : 'failed';
  store.messages.set(email.draftId, { ...message, state: isOver ? result : 'deferred', nextAt: null });
  const again = said.result === 'returned' && message.attempts === 0 ? product.returnDraft : product.retry;
  note(stage, isOver ? product.finish(draft, endedAs(said), { now }) : again(draft, { at: againAt, now }));
}

/** Holds the draft. The email waits until the draft is corrected. */
function holdWhileSending(
  { store, product, happened }: Stage,
  { message, draft, now }: { message: Message; draft: Draft; now: number },
): void {
  store.messages.set(draft.id, { ...message, state: 'deferred', nextAt: null });
  note({ store }, product.holdWhileSending(draft, { now }));
  happened.withheld(draft.id);
}

function againAtOf(
  said: Said,
  { message, draft, now }: { message: Message; draft: Draft; now: number },
): number | null {
  if (said.result === 'returned') return now + returnDelayMs(message.epoch - message.attempts);
  if (said.result !== 'deferred') return null;
  const at = now + (BACKOFF_MS[Math.max(0, message.attempts - 1)] ?? BACKOFF_MS.at(-1) ?? 0);
  const until = Math.min((message.firstAt ?? now) + TRIED_FOR_MS, draft.expiresAt ?? Infinity);
  return at < until ? at : null;
}

function returnDelayMs(claims: number): number {
  return RETURN_DELAYS_MS[Math.max(0, claims - 1)] ?? RETURN_DELAYS_MS.at(-1) ?? 0;
}

function endedAs(said: Said): Parameters<Product['finish']>[1] {
  if (said.result === 'sent') return { result: 'sent' };
  if (said.result === 'unknown' || said.result === 'failed')
    return { result: said.result, reason: said.reason };
  return { result: 'failed', reason: said.result };
}

/** Lost emails are read in one step and written in another, as in the product. */
function* giveUp(stage: Stage, owner: Owner): Task {
  const { store, schedule, product } = stage;
  const now = schedule.clockOf(owner);
  const lost = [...store.messages.values()]
    .filter(({ nextAt }) => nextAt !== null && nextAt < now)
    .map((message) => ({ email: message, said: product.saidOfLost(message) }));
  if (lost.length === 0) return;
  yield { did: `found ${lost.length} lost` };
  for (const one of lost) record(stage, owner, one);
  yield { did: 'gave them up' };
}
