import type { BotLikelihood, BounceClass, UnsubscribeMethod, WebhookType } from '@beckon/contract';
import { iso } from '../../platform/time/clock.ts';

/** An outcome of an email as its source reports it. */
export type ReportedOutcome = { projectId: number; emailId: string; occurredAt: number } & OutcomeData;

export type OutcomeData =
  | { type: 'email.opened'; bot: BotLikelihood; botReason: string | null }
  | {
      type: 'email.clicked';
      bot: BotLikelihood;
      botReason: string | null;
      link: number;
      url: string;
    }
  /** `inboundId` identifies the reply if it arrives again. */
  | { type: 'email.replied'; inboundId: string; snippet: string }
  | {
      type: 'email.bounced';
      bounceClass: BounceClass;
      status: string | null;
      reason: string;
      source: 'smtp' | 'dsn' | 'relay';
      /** False if only a Message-ID identifies the email. The outcome is then stored, but the address is not suppressed. */
      verified: boolean;
    }
  | { type: 'email.unsubscribed'; method: UnsubscribeMethod };

/** A stored outcome, unique by email, type, link and class. */
export type Outcome = {
  projectId: number;
  id: string;
  emailId: string;
  draftId: string;
  ruleId: string;
  userId: string;
  type: WebhookType;
  /** -1 if it concerns no link. */
  link: number;
  class: string;
  /** In milliseconds. */
  occurredAt: number;
  recordedAt: number;
  detail: Record<string, unknown>;
};

/** The outcome of an email, with the names of the API; `detail` has the additional fields of its webhook. */
export type OutcomeView = {
  id: string;
  type: Outcome['type'];
  rule: string;
  email_id: string;
  draft_id: string;
  occurred_at: string;
  recorded_at: string;
  detail: Record<string, unknown>;
};

export function outcomeView(outcome: Outcome, nameOf: (ruleId: string) => string): OutcomeView {
  const { id, type, ruleId, emailId, draftId, occurredAt, recordedAt, detail } = outcome;
  return {
    id,
    type,
    rule: nameOf(ruleId),
    email_id: emailId,
    draft_id: draftId,
    occurred_at: iso(occurredAt),
    recorded_at: iso(recordedAt),
    detail,
  };
}
