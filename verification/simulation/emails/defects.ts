import { Fault } from '../../../packages/server/src/platform/fault.ts';
import type { Draft } from '../../../packages/server/src/modules/drafts/draft.ts';
import { PRODUCT, type Product } from './product.ts';

const HOUR = 3_600_000;

/** Defects, each in one place. A simulation that detects one of them in no history is blind there. */
export const EMAIL_DEFECTS: Record<string, Partial<Product>> = {
  'a result is recorded although another worker has claimed the email': {
    mayEnd: ({ state }) => state === 'claimed' || state === 'submitting',
  },
  'a submitted email is returned as if it had only been claimed': {
    mayEnd: ({ state, epoch: current }, epoch) =>
      current === epoch && (state === 'claimed' || state === 'submitting'),
  },
  'a lost email is sent again, submitted or not': {
    resultOfLost: () => ({ kind: 'returned' }),
    mayEnd: ({ state, epoch: current }, epoch) =>
      current === epoch && (state === 'claimed' || state === 'submitting'),
  },
  'an expired claim still allows a submission': { maySubmit: ({ state }) => state === 'claimed' },
  'a submitted email is submitted again': { maySubmit: ({ epoch: current }, epoch) => current === epoch },
  'an email takes no token': {
    passGates(gates, draft, person) {
      const { bucket } = gates;
      const answer = PRODUCT.passGates(gates, draft, person);
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
    passGates(gates, draft, person) {
      const claims = new Map([...gates.claims].map(([address, times]) => [address, times.slice(1)]));
      return PRODUCT.passGates({ ...gates, claims, contenders: new Map() }, draft, person);
    },
  },
  'quiet hours of another time zone apply': {
    passGates(gates, draft, person) {
      const earlier = { ...gates, now: gates.now - 3 * HOUR, suppressions: gates.suppressions };
      const answer = PRODUCT.passGates(earlier, draft, person);
      gates.bucket = earlier.bucket;
      return answer;
    },
  },
  'the rule may be off': {
    passGates(gates, draft, person) {
      const rules = { byId: { get: () => ({ enabledAt: 0, definition: { topic: null } }) } };
      const model = { ...gates.model, rules } as unknown as typeof gates.model;
      const always = { ...gates, model };
      const answer = PRODUCT.passGates(always, draft, person);
      gates.bucket = always.bucket;
      return answer;
    },
  },
  'an open editor does not hold the draft': {
    dueAction: (draft, now) => PRODUCT.dueAction(closed(draft), now),
    claim: (draft, at) => PRODUCT.claim(closed(draft), at),
  },
  'a draft held by a send check has no reason': {
    hold(draft, holdOptions) {
      const decision = PRODUCT.hold(draft, holdOptions);
      return 'draft' in decision ? { ...decision, draft: { ...decision.draft, reason: null } } : decision;
    },
  },
  'a deferred draft has no next check if a send check gives no time': {
    nextCheckAt: (_draft, until) => until,
  },
  'a draft that cannot be rendered is retried automatically': {
    holdWhileSending: (draft, { now }) => PRODUCT.returnDraft(draft, { at: now, now }),
  },
  'a draft that cannot be rendered is due again in an hour': {
    holdWhileSending(draft, at) {
      const decision = PRODUCT.holdWhileSending(draft, at);
      return 'draft' in decision
        ? { ...decision, draft: { ...decision.draft, dueAt: at.now + HOUR, deadlineAt: at.now } }
        : decision;
    },
  },
  'incomplete content can be approved': {
    approve: (draft, by) => PRODUCT.approve({ ...draft, reason: null }, by),
  },
  'a draft held for its rendering does not follow a corrected template': {
    follow: (draft, change) =>
      draft.reason === 'render_failed' ? { refused: new Fault('conflict') } : PRODUCT.follow(draft, change),
  },
  'lost emails are recorded as failed': { resultOfLost: () => ({ kind: 'failed', reason: 'lost' }) },
};

/** Returns the draft as if no editor were open. */
function closed(draft: Draft): Draft {
  return { ...draft, leaseBy: null, dueAt: draft.dueAt };
}
