import type { BounceClass, BotVerdict, UnsubscribeMethod, WebhookType } from '@beckon/contract';

/** Something that became of a letter, as whoever heard of it says it. */
export type Happened = { projectId: number; messageId: string; occurredAt: number } & WhatHappened;

export type WhatHappened =
  | { type: 'email.opened'; bot: BotVerdict; botReason: string | null }
  | {
      type: 'email.clicked';
      bot: BotVerdict;
      botReason: string | null;
      link: number;
      url: string;
    }
  /** `inboundId`: by which the same answer is known when it comes once more. */
  | { type: 'email.replied'; inboundId: string; snippet: string }
  | {
      type: 'email.bounced';
      bounceClass: BounceClass;
      status: string | null;
      reason: string;
      source: 'smtp' | 'dsn';
      /** False where only a Message-ID tells which letter it was: it is written down, and nobody is suppressed. */
      verified: boolean;
    }
  | { type: 'email.unsubscribed'; method: UnsubscribeMethod };

/** As it is kept, once for each message, type, link and class. */
export type Outcome = {
  projectId: number;
  id: string;
  messageId: string;
  draftId: string;
  ruleId: string;
  userId: string;
  type: WebhookType;
  /** -1 where it is about no link. */
  link: number;
  class: string;
  /** Milliseconds. */
  occurredAt: number;
  recordedAt: number;
  detail: Record<string, unknown>;
};
