import { iso } from '../base/clock.ts';
import type { Outcome } from '../features/outcomes/index.ts';

/** What became of a letter, under the names of the interface; `detail` is what its webhook says besides. */
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
