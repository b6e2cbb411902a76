import {
  approve,
  claim,
  type Draft,
  dueAction,
  finish,
  follow,
  hold,
  returnDraft,
  retry,
  holdWhileSending,
} from '../../packages/server/src/features/drafts/index.ts';
import { refill } from '../../packages/server/src/features/sending/index.ts';
import { passGates } from '../../packages/server/src/flows/send-drafts/ask-gates.ts';
import type { Message, Said } from './store.ts';

/**
 * What decides: the product's own functions, and the conditions of its statements, which live in SQL and are said here once
 * more. A test puts a wrong one in the place of each, to see that it is found.
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
  /** When one that a gate keeps in is asked again. Nobody but the sender wakes up what was put off, so that it never sleeps for good. */
  askAgainAt: (draft: Draft, until: number | null, now: number) => number | null;
  /** `submitMessages`: of the message alone; what it asks of others is asked in the same statement. */
  maySubmit: (message: Message, epoch: number) => boolean;
  /** `endMessages`. */
  mayEnd: (message: Message, epoch: number, said: Said) => boolean;
  /** `listLost` and `giveUp`: what is said of a message whose time is over. */
  saidOfLost: (message: Message) => Said;
};

const ASK_AGAIN_MS = 3_600_000;

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
  askAgainAt: ({ reason }, until, now) => (reason === 'deferred' ? (until ?? now + ASK_AGAIN_MS) : until),
  maySubmit: (message, epoch) => message.epoch === epoch && message.state === 'claimed',
  mayEnd: ({ state, epoch: present }, epoch, said) =>
    present === epoch &&
    (state === 'claimed' ||
      (state === 'submitting' && said.result !== 'returned' && said.result !== 'withheld')),
  saidOfLost: ({ state }) =>
    state === 'submitting' ? { result: 'unknown', reason: 'lost' } : { result: 'returned' },
};
