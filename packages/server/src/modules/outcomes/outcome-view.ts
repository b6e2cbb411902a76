import { iso } from '../../platform/time/clock.ts';
import type { Outcome } from './outcome.ts';

/** The outcome of an email, with the names of the API; `detail` has the additional fields of its webhook. */
export type ShownOutcome = {
  id: string;
  type: Outcome['type'];
  rule: string;
  email_id: string;
  draft_id: string;
  occurred_at: string;
  recorded_at: string;
  detail: Record<string, unknown>;
};

export function toShownOutcome(outcome: Outcome, nameOf: (ruleId: string) => string): ShownOutcome {
  const { id, type, ruleId, messageId, draftId, occurredAt, recordedAt, detail } = outcome;
  return {
    id,
    type,
    rule: nameOf(ruleId),
    email_id: messageId,
    draft_id: draftId,
    occurred_at: iso(occurredAt),
    recorded_at: iso(recordedAt),
    detail,
  };
}
