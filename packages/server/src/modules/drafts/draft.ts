/** An email to one user that waits for its deadline, a review or the send checks. Times are in milliseconds. */
export type Draft = {
  projectId: number;
  id: string;
  ruleId: string;
  version: number;
  runId: string | null;
  /** The step in the program of the run. */
  step: number;
  userId: string;
  key: string;
  state: DraftState;
  /** The state to which a held draft returns. */
  resumeState: 'composing' | 'scheduled' | 'approved' | null;
  /** Why the draft is held, canceled or failed. For a skip, the reason given by the member. */
  reason: string | null;
  content: Content;
  contentHash: string;
  /** A member rewrote it, so it no longer follows its template or its facts. */
  isEdited: boolean;
  /** The facts about the user in the email, by variable. */
  facts: Record<string, unknown>;
  priority: number;
  counts: boolean;
  /** The full period after which an untouched draft is sent automatically. If it is null, only a member can send it. */
  autopilotMs: number | null;
  deadlineAt: number | null;
  /** An approval or skip is not final before this time. */
  notBefore: number | null;
  /** When the sender must check the draft. If it is null, only a member or an event moves it. */
  dueAt: number | null;
  expiresAt: number | null;
  /** The end of the subject of the email, such as a trial. The draft cannot be postponed beyond it. */
  endsAt: number | null;
  leaseBy: string | null;
  resendOf: string | null;
  /** The number of its moves. */
  moves: number;
  createdAt: number;
  updatedAt: number;
  endedAt: number | null;
};

/** `body` is Markdown, or a whole HTML page if the email has a layout of its own. */
export type Content = { subject: string; preheader: string; body: string; format: 'markdown' | 'html' };

export const DRAFT_STATES = [
  'composing',
  'scheduled',
  'approved',
  'held',
  'sending',
  'sent',
  'skipped',
  'canceled',
  'failed',
  'unknown',
] as const;
export type DraftState = (typeof DRAFT_STATES)[number];

/** A draft held for one of these waits for a member's decision, even if it was approved before. */
export const PERSON_DECIDES: readonly string[] = ['needs_review', 'replied', 'restored'];

/** A draft held for one of these cannot be sent until its content changes. A value is missing, or rendering takes more than the limit. */
export const NOT_WHOLE: readonly string[] = ['missing_variable', 'render_failed'];

export function isNotWhole({ reason }: Pick<Draft, 'reason'>): boolean {
  return reason !== null && NOT_WHOLE.includes(reason);
}

/** A member of the team, `operator`, or the engine. */
export type Actor = string;
export const ENGINE: Actor = 'engine';
