/** A letter to one person that waits for its deadline, for a human, or for the gates. Moments are milliseconds. */
export type Draft = {
  projectId: number;
  id: string;
  ruleId: string;
  version: number;
  runId: string | null;
  /** The place in the program of the run. */
  step: number;
  userId: string;
  key: string;
  state: DraftState;
  /** Where a held draft goes on. */
  resumeState: 'composing' | 'scheduled' | 'approved' | null;
  /** Why it is held, canceled or failed; of a skip, what the person said. */
  reason: string | null;
  content: Content;
  contentHash: string;
  /** A person wrote it anew: it follows neither its letter nor its facts any more. */
  isEdited: boolean;
  /** What the letter says about the person, by the variable that says it. */
  facts: Record<string, unknown>;
  priority: number;
  counts: boolean;
  /** The whole period after which an untouched one leaves by itself; null: only a person sends it. */
  autopilotMs: number | null;
  deadlineAt: number | null;
  /** Approved or skipped: not final before this. */
  notBefore: number | null;
  /** When the sender has to look; null: only a person or an event moves it. */
  dueAt: number | null;
  expiresAt: number | null;
  /** The end of what it is about, beyond which it may not be postponed either. */
  endsAt: number | null;
  leaseBy: string | null;
  resendOf: string | null;
  /** How many moves it has made. */
  moves: number;
  createdAt: number;
  updatedAt: number;
  endedAt: number | null;
};

/** `body` is Markdown, or the whole page as HTML where the letter was laid out by itself. */
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

/** Held for one of these it waits until a person has decided about it, even if one had approved it before. */
export const PERSON_DECIDES: readonly string[] = ['needs_review', 'replied', 'restored'];

/**
 * Held for one of these its content is not fit to be sent until it changes: a value is missing, or rendering it takes more
 * than an email may.
 */
export const NOT_WHOLE: readonly string[] = ['missing_variable', 'render_failed'];

export function isNotWhole({ reason }: Pick<Draft, 'reason'>): boolean {
  return reason !== null && NOT_WHOLE.includes(reason);
}

/** A person of the team, `operator`, or the engine itself. */
export type Actor = string;
export const ENGINE: Actor = 'engine';
