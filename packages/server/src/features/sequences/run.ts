/**
 * One person on their way through the steps of one version of a rule. A run is one row: where it stands, and what it waits
 * for. Its steps are a program whose jumps lead forward only, so that it comes to its end.
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
  /** Of a rule that lets a person in once at a time. */
  single: boolean;
  /** The place in the program. */
  step: number;
  waitsFor: 'time' | 'event' | 'draft' | null;
  /** Milliseconds, as all moments here. When time moves it on: the end of a wait, or of waiting for an event. */
  nextAt: number | null;
  anchor: RunAnchor;
  /** No letter of it leaves after this. */
  endsAt: number | null;
  enrolledAt: number;
  /** Until when its goal is waited for; null where there is none. */
  goalUntil: number | null;
  convertedAt: number | null;
  endedAt: number | null;
  endReason: EndReason | null;
  /**
   * A restore took time away in which a letter of it may have left. Within so much waiting its next letters may have left then,
   * too; null: what it writes nobody has got.
   */
  lostMs: number | null;
};

/** What started it: see `Anchor` of the rules. */
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
