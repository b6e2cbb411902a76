import { approve } from '../../../packages/server/src/modules/review/approve-draft.ts';
import {
  claim,
  finish,
  returnDraft,
  retry,
  holdWhileSending,
} from '../../../packages/server/src/modules/delivery/send-draft.ts';
import type { Draft } from '../../../packages/server/src/modules/drafts/draft.ts';
import { dueAction, hold } from '../../../packages/server/src/modules/drafts/hold-draft.ts';
import { follow } from '../../../packages/server/src/modules/drafts/follow-facts.ts';
import { refill } from '../../../packages/server/src/modules/delivery/gate/limits.ts';
import { passGates } from '../../../packages/server/src/modules/delivery/send-checks.ts';
import type { Email, SendResult } from './store.ts';

/**
 * The decisions: the product's own functions, and the conditions of its SQL statements, which are repeated here. A test replaces each by a
 * wrong one, to prove that it is detected.
 */
export type Product = {
  refill: typeof refill;
  passGates: typeof passGates;
  dueAction: typeof dueAction;
  claim: typeof claim;
  hold: typeof hold;
  finish: typeof finish;
  retry: typeof retry;
  returnDraft: typeof returnDraft;
  holdWhileSending: typeof holdWhileSending;
  follow: typeof follow;
  approve: typeof approve;
  /** Returns when a draft held by a send check is checked again. Only the sender wakes a deferred draft, so it must always have a time. */
  nextCheckAt: (draft: Draft, until: number | null, now: number) => number | null;
  /** As `markSubmitting`, for the email alone. The same statement checks the other conditions. */
  maySubmit: (email: Email, epoch: number) => boolean;
  /** As `endEmails`. */
  mayEnd: (email: Email, epoch: number, result: SendResult) => boolean;
  /** As `listLost` and `giveUp`: returns the result of an email whose lease has expired. */
  resultOfLost: (email: Email) => SendResult;
};

const CHECK_INTERVAL_MS = 3_600_000;

export const PRODUCT: Product = {
  refill,
  passGates,
  dueAction,
  claim,
  hold,
  finish,
  retry,
  returnDraft,
  holdWhileSending,
  follow,
  approve,
  nextCheckAt: ({ reason }, until, now) =>
    reason === 'deferred' ? (until ?? now + CHECK_INTERVAL_MS) : until,
  maySubmit: (email, epoch) => email.epoch === epoch && email.state === 'claimed',
  mayEnd: ({ state, epoch: current }, epoch, result) =>
    current === epoch &&
    (state === 'claimed' ||
      (state === 'submitting' && result.kind !== 'returned' && result.kind !== 'withheld')),
  resultOfLost: ({ state }) =>
    state === 'submitting' ? { kind: 'unknown', reason: 'lost' } : { kind: 'returned' },
};
