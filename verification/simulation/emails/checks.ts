/**
 * The invariants, computed in another way than in the product: by counting over a list of past actions, and by local time for quiet hours.
 * `EmailWatch` receives everything that the rows do not show afterwards.
 */

import type { Draft } from '../../../packages/server/src/modules/drafts/draft.ts';
import type { GateReason } from '../../../packages/server/src/modules/delivery/gate/gate.ts';
import type { Policy } from '../../../packages/server/src/modules/delivery/gate/facts.ts';
import { isQuietTime, localTime } from '../../../packages/server/testing/oracles/quiet-hours.ts';
import type { Owner } from '../schedule.ts';
import type { Email, Store } from './store.ts';
import { isIncomplete, rendersForSending } from './template.ts';

export type EmailWatch = {
  claimed(what: { draft: Draft; email: Email; now: number; owner: Owner }): void;
  /** `isOwner`: submitted by the process that claimed it last. */
  submitted(what: { draft: Draft; now: number; isOwner: boolean }): void;
  refused(what: { draft: Draft; reason: GateReason; until: number | null; now: number }): void;
  /** The sender could not render it and recorded that. */
  withheld(draftId: string): void;
  accepted(draftId: string): void;
};

type Rules = { store: Store; zone: string; realNow: () => number; skewMs: number };

export function watchEmails({ store, zone, realNow, skewMs }: Rules): EmailWatch {
  /** Real times of claims that used a token. `slots`: claims that used a cap slot, by address. */
  const tokens: number[] = [];
  const slots = new Map<string, { draftId: string; at: number }[]>();
  const acceptedDrafts = new Set<string>();
  /** For each draft, its number of moves when it was withheld. */
  const withheld = new Map<string, number>();
  return {
    claimed({ draft, email, now }) {
      const { policy, ruleIsOn } = store;
      must(!policy.paused, `${draft.id} was claimed while the project is paused`);
      must(ruleIsOn, `${draft.id} was claimed though its rule is off`);
      mustBeDue(draft, now);
      mustBeChanged(store, draft, withheld.get(draft.id));
      mustNotBeQuiet(policy, { zone, now, what: `${draft.id} was claimed` });
      mustNotBeSuppressed(store, email.address, now);
      tokens.push(realNow());
      mustBeWithinThrottle(policy, tokens, skewMs);
      if (!email.counts || email.attempts > 0) return;
      // An earlier claim may have been for the user's former address.
      for (const [address, addressClaims] of slots)
        slots.set(
          address,
          addressClaims.filter(({ draftId }) => draftId !== draft.id),
        );
      const claims = [...(slots.get(email.address) ?? []), { draftId: draft.id, at: now }];
      slots.set(email.address, claims);
      mustBeWithinCaps({ store, skewMs }, claims, now);
    },
    submitted({ draft, now, isOwner }) {
      must(isOwner, `${draft.id} was submitted by a worker that lost its claim`);
      must(!isIncomplete(draft), `${draft.id} was submitted with incomplete content`);
      must(rendersForSending(draft), `${draft.id} was submitted, and cannot be rendered`);
      must(!store.policy.paused, `${draft.id} was submitted while the project is paused`);
      mustNotBeQuiet(store.policy, { zone, now, what: `${draft.id} was submitted` });
    },
    refused({ draft, reason, until, now }) {
      must(until === null || until > now, `${draft.id} was refused for ${reason}, until before now`);
    },
    withheld(draftId) {
      const { state, reason, moves = 0 } = store.drafts.get(draftId) ?? {};
      must(
        state === 'held' && reason === 'render_failed',
        `${draftId} could not be rendered, and is ${state} for ${reason}`,
      );
      withheld.set(draftId, moves);
    },
    accepted(draftId) {
      must(!acceptedDrafts.has(draftId), `the relay accepted ${draftId} twice`);
      must(
        store.drafts.get(draftId)?.state !== 'scheduled',
        `${draftId} was sent although no worker has claimed it`,
      );
      acceptedDrafts.add(draftId);
    },
  };
}

function mustBeDue(
  { id, state, resumeState, notBefore, deadlineAt, endsAt, leaseBy }: Draft,
  now: number,
): void {
  const isApproved = (state === 'held' ? resumeState : state) === 'approved';
  const at = isApproved ? notBefore : deadlineAt;
  must(at !== null && at <= now, `${id} was claimed before its time`);
  must(endsAt === null || now < endsAt, `${id} was claimed after the end of what it is about`);
  must(leaseBy === null, `${id} was claimed while ${leaseBy} edited it`);
}

/** Actions that allow another rendering: the content changed, or a member approved the draft. */
const CORRECTING_ACTIONS: ReadonlySet<string> = new Set([
  'edit',
  'refresh_content',
  'void_approval',
  'approve',
]);

function mustBeChanged({ moves }: Store, { id }: Draft, withheldAt: number | undefined): void {
  if (withheldAt === undefined) return;
  const since = (moves.get(id) ?? []).slice(withheldAt);
  must(
    since.some(({ action }) => CORRECTING_ACTIONS.has(action)),
    `${id} was claimed again without a change after its rendering failed`,
  );
}

function mustNotBeQuiet(
  { quietHours }: Policy,
  { zone, now, what }: { zone: string; now: number; what: string },
): void {
  if (!quietHours) return;
  const isQuiet = isQuietTime(now, { ...quietHours, timeZone: zone });
  must(!isQuiet, `${what} at ${localTime(now, zone)}, when it is quiet`);
}

function mustNotBeSuppressed({ suppressed }: Store, address: string, now: number): void {
  const suppression = suppressed.get(address);
  must(
    suppression === undefined || (suppression.until !== null && suppression.until <= now),
    `${address} is suppressed`,
  );
}

/** In any span of time the claims are at most a burst plus the rate for that span. Spans that end now are checked. */
function mustBeWithinThrottle({ throttle }: Policy, tokens: number[], skewMs: number): void {
  if (!throttle) return;
  const { emails, perMs } = throttle;
  const burst = Math.max(1, Math.ceil((emails * 1_000) / perMs));
  const last = tokens.at(-1) ?? 0;
  for (let i = tokens.length - 1, count = 1; i >= 0; i -= 1, count += 1) {
    const ms = last - (tokens[i] ?? 0) + 2 * skewMs;
    must(count <= burst + (ms * emails) / perMs + 1e-6, `${count} emails were claimed within ${ms} ms`);
  }
}

function mustBeWithinCaps(
  { store, skewMs }: { store: Store; skewMs: number },
  claims: { draftId: string; at: number }[],
  now: number,
): void {
  const counting = claims.filter(({ draftId }) => {
    const { state, attempts = 0 } = store.emails.get(draftId) ?? {};
    return state !== 'failed' && (state !== 'deferred' || attempts > 0);
  });
  for (const { emails, windowMs } of store.policy.caps ?? []) {
    const within = counting.filter(({ at }) => at > now - windowMs + 2 * skewMs);
    must(within.length <= emails, `${within.length} emails to one address within ${windowMs} ms`);
  }
}

const FINAL_STATES = new Set(['sent', 'skipped', 'canceled', 'failed', 'unknown']);
const DRAFT_STATES_OF: Record<Email['state'], string[]> = {
  claimed: ['sending'],
  submitting: ['sending'],
  deferred: ['held', 'canceled'],
  sent: ['sent'],
  failed: ['failed'],
  unknown: ['unknown'],
};

/** States of a draft that was claimed and never submitted: it continues as before. */
const RETURNED_STATES = ['scheduled', 'approved', 'held', 'canceled', 'skipped'];

/** Runs after every step. Finds rows that contradict each other, or a refusal without its reason. */
export function checkRows(store: Store, acceptedCountOf: (draftId: string) => number): void {
  for (const draft of store.drafts.values()) {
    checkDraft(draft);
    checkMoves(store, draft);
    const { id, state } = draft;
    const email = store.emails.get(id);
    if (email) checkEmail(email, state, acceptedCountOf(id));
    else must(state !== 'sending' && state !== 'sent', `${id} is ${state} without an email`);
  }
}

const STATES_WITH_REASON = new Set(['held', 'canceled', 'failed', 'unknown']);

function checkDraft({ id, state, reason, resumeState, dueAt, endedAt, leaseBy }: Draft): void {
  if (STATES_WITH_REASON.has(state)) must(reason !== null, `${id} is ${state} for no reason`);
  if (state === 'held' && reason === 'render_failed')
    must(dueAt === null || leaseBy !== null, `${id} cannot be rendered, and is due`);
  if (state === 'held') must(resumeState !== null, `${id} is held without a state to resume`);
  must(FINAL_STATES.has(state) === (endedAt !== null), `${id} is ${state}, and ended at ${endedAt}`);
  if (FINAL_STATES.has(state) || state === 'sending') must(dueAt === null, `${id} is ${state}, and due`);
}

function checkEmail(email: Email, draftState: string, acceptedCount: number): void {
  const { draftId, state, attempts } = email;
  const isReturned = state === 'deferred' && attempts === 0;
  const states = isReturned ? RETURNED_STATES : DRAFT_STATES_OF[state];
  must(states.includes(draftState), `${draftId} is ${draftState}, its email ${state}`);
  if (state === 'failed' || state === 'deferred')
    must(acceptedCount === 0, `${draftId} was taken, but its email is ${state}`);
  if (state === 'sent')
    must(acceptedCount === 1, `${draftId} is recorded as sent, but the relay never accepted it`);
}

function checkMoves(store: Store, { id, moves, state }: Draft): void {
  const rows = store.moves.get(id) ?? [];
  const last = rows.at(-1);
  must(
    rows.length === moves && last?.number === moves && last.to === state,
    `the moves of ${id} do not end in its state`,
  );
  must(
    rows.at(-2) === undefined || rows.at(-2)?.to === last?.from,
    `a move of ${id} does not begin where the last ended`,
  );
}

/** A violated invariant, as opposed to an error that is part of the history. */
export class InvariantError extends Error {}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new InvariantError(what);
}
