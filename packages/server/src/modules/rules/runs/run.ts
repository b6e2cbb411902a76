/**
 * One user's way through the steps of one version of a rule. A run is one row: its position and what it waits for. Its steps are a program
 * that only jumps forward, so it always ends.
 */
export type Run = {
  projectId: number;
  id: string;
  ruleId: string;
  version: number;
  userId: string;
  key: string;
  state: 'active' | 'paused' | 'ended';
  variant: 'treatment' | 'holdout';
  /** The rule allows one run per user at a time. */
  single: boolean;
  /** The position in the program. */
  step: number;
  waitsFor: 'time' | 'event' | 'draft' | null;
  /** When time advances it: at the end of a wait or of waiting for an event. All times here are in milliseconds. */
  nextAt: number | null;
  anchor: RunAnchor;
  /** No email of the run is sent after this time. */
  endsAt: number | null;
  enrolledAt: number;
  /** Until when the run waits for its goal. Null: it does not. */
  goalUntil: number | null;
  convertedAt: number | null;
  endedAt: number | null;
  endReason: EndReason | null;
  /**
   * The time that a restore lost, in which an email of this run may have been sent. Its next emails may have been sent too, as long as its
   * waits fit into this time. Null: none of its later emails can have been sent.
   */
  lostMs: number | null;
};

/** The fact that started it; see `Anchor` in `definitions/rule.ts`. */
type RunAnchor = {
  kind: 'event' | 'audience' | 'date';
  id: string;
  name: string;
  properties: Record<string, unknown>;
  occurredAt: number;
  acceptedAt: number;
  seq: number | null;
};

export type EndReason =
  | 'done'
  | 'exit_event'
  | 'exit_condition'
  | 'goal'
  | 'replaced'
  | 'replied'
  | 'suppressed'
  | 'bounced'
  | 'erased'
  | 'holdout';

/** A row as the driver reads it. Numbers are read several times faster than dates. */
export type RunRow = {
  project_id: number;
  id: string;
  rule_id: string;
  version: number;
  external_user_id: string;
  key: string;
  state: Run['state'];
  variant: Run['variant'];
  single: boolean;
  step: number;
  waits_for: Run['waitsFor'];
  next_ms: number | null;
  anchor: Run['anchor'];
  ends_ms: number | null;
  entered_ms: number;
  goal_until_ms: number | null;
  converted_ms: number | null;
  ended_ms: number | null;
  end_reason: Run['endReason'];
  lost_ms: number | null;
};

const ms = (column: string): string => `date_part('epoch', r.${column}) * 1000`;

/** The columns of `beckon.run r`. */
export const RUN = `r.project_id, r.id, r.rule_id, r.version, r.external_user_id, r.key, r.state, r.variant, r.single, r.step, r.waits_for,
  ${ms('next_at')} AS next_ms, r.anchor, ${ms('ends_at')} AS ends_ms, ${ms('enrolled_at')} AS entered_ms,
  ${ms('goal_until')} AS goal_until_ms, ${ms('converted_at')} AS converted_ms, ${ms('ended_at')} AS ended_ms, r.end_reason,
  r.lost_ms`;

export function fromRow(row: RunRow): Run {
  return {
    projectId: row.project_id,
    id: row.id,
    ruleId: row.rule_id,
    version: row.version,
    userId: row.external_user_id,
    key: row.key,
    state: row.state,
    variant: row.variant,
    single: row.single,
    step: row.step,
    waitsFor: row.waits_for,
    nextAt: whole(row.next_ms),
    anchor: row.anchor,
    endsAt: whole(row.ends_ms),
    enrolledAt: Math.round(row.entered_ms),
    goalUntil: whole(row.goal_until_ms),
    convertedAt: whole(row.converted_ms),
    endedAt: whole(row.ended_ms),
    endReason: row.end_reason,
    lostMs: row.lost_ms,
  };
}

/** Rounds, because seconds with a fraction do not give whole milliseconds. */
function whole(moment: number | null): number | null {
  return moment === null ? null : Math.round(moment);
}
