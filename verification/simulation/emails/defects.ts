import { Fault } from '../../../packages/server/src/platform/fault.ts';
import type { Draft } from '../../../packages/server/src/modules/drafts/draft.ts';
import { PRODUCT, type Product } from './product.ts';

const HOUR = 3_600_000;

/** Defects, each in one place. A simulation that detects one of them in no history is blind there. */
export const EMAIL_DEFECTS: Record<string, Partial<Product>> = {
  'a result is recorded although another worker has claimed the email': {
    mayEnd: ({ state }) => state === 'claimed' || state === 'submitting',
  },
  'what was submitted is put back as if it had only been claimed': {
    mayEnd: ({ state, epoch: present }, epoch) =>
      present === epoch && (state === 'claimed' || state === 'submitting'),
  },
  'what is lost goes again, submitted or not': {
    saidOfLost: () => ({ result: 'returned' }),
    mayEnd: ({ state, epoch: present }, epoch) =>
      present === epoch && (state === 'claimed' || state === 'submitting'),
  },
  'an expired claim still allows a submission': { maySubmit: ({ state }) => state === 'claimed' },
  'what is submitted is submitted again': { maySubmit: ({ epoch: present }, epoch) => present === epoch },
  'an email takes no token': {
    passGates(gates, draft, leaver) {
      const { bucket } = gates;
      const answer = PRODUCT.passGates(gates, draft, leaver);
      gates.bucket = bucket;
      return answer;
    },
  },
  'each batch finds one token more': {
    refill(bucket, throttle, now) {
      const full = PRODUCT.refill(bucket, throttle, now);
      return full.bucket
        ? {
            ...full,
            remaining: full.remaining + 1,
            bucket: { ...full.bucket, tokens: full.bucket.tokens + 1 },
          }
        : full;
    },
  },
  'a cap ignores the newest email': {
    passGates(gates, draft, leaver) {
      const claims = new Map([...gates.claims].map(([address, some]) => [address, some.slice(1)]));
      return PRODUCT.passGates({ ...gates, claims, contenders: new Map() }, draft, leaver);
    },
  },
  'quiet hours are those of somebody else': {
    passGates(gates, draft, leaver) {
      const earlier = { ...gates, now: gates.now - 3 * HOUR, suppressions: gates.suppressions };
      const answer = PRODUCT.passGates(earlier, draft, leaver);
      gates.bucket = earlier.bucket;
      return answer;
    },
  },
  'the rule may be off': {
    passGates(gates, draft, leaver) {
      const rules = { byId: { get: () => ({ enabledAt: 0, definition: { topic: null } }) } };
      const model = { ...gates.model, rules } as unknown as typeof gates.model;
      const always = { ...gates, model };
      const answer = PRODUCT.passGates(always, draft, leaver);
      gates.bucket = always.bucket;
      return answer;
    },
  },
  'an open editor keeps nothing in': {
    dueAction: (draft, now) => PRODUCT.dueAction(closed(draft), now),
    claim: (draft, at) => PRODUCT.claim(closed(draft), at),
  },
  'what a gate keeps in has no reason': {
    hold(draft, held) {
      const decided = PRODUCT.hold(draft, held);
      return 'draft' in decided ? { ...decided, draft: { ...decided.draft, reason: null } } : decided;
    },
  },
  'what was put off sleeps where a gate says no for an unknown time': {
    askAgainAt: (_draft, until) => until,
  },
  'what cannot be rendered goes again by itself': {
    holdWhileSending: (draft, { now }) => PRODUCT.returnDraft(draft, { at: now, now }),
  },
  'what cannot be rendered is due again in an hour': {
    holdWhileSending(draft, at) {
      const decided = PRODUCT.holdWhileSending(draft, at);
      return 'draft' in decided
        ? { ...decided, draft: { ...decided.draft, dueAt: at.now + HOUR, deadlineAt: at.now } }
        : decided;
    },
  },
  'incomplete content can be approved': {
    approve: (draft, by) => PRODUCT.approve({ ...draft, reason: null }, by),
  },
  'what is held for its rendering does not follow a corrected template': {
    follow: (draft, followed) =>
      draft.reason === 'render_failed' ? { refused: new Fault('conflict') } : PRODUCT.follow(draft, followed),
  },
  'lost emails are recorded as failed': { saidOfLost: () => ({ result: 'failed', reason: 'lost' }) },
};

/** Returns the draft as if no editor were open. */
function closed(draft: Draft): Draft {
  return { ...draft, leaseBy: null, dueAt: draft.dueAt };
}
