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
  arm: 'treatment' | 'holdout';
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

/** The fact that started it; see `Anchor` in the rules module. */
export type RunAnchor = {
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
