/** The result of AI drafting for a draft. */
export type AiDraftingResult =
  /** The draft has the model's text. */
  | 'drafted'
  /** The model's text was not supported by known facts, twice. */
  | 'refused'
  /** The model refused. */
  | 'declined'
  /** The model did not answer within the allowed attempts. */
  | 'failed'
  /** Too little time was left for a review, or the draft had ended. */
  | 'too_late'
  /** A person had viewed the draft, or its content has changed since. */
  | 'changed'
  /** Its email cannot be drafted by a model. */
  | 'not_supported'
  /** The project uses the text of its templates again. */
  | 'off';

/** A lease on the AI drafting of a draft. */
export type AiDraftingLease = {
  projectId: number;
  draftId: string;
  /** How often it was claimed, including this time. */
  attempt: number;
};

export type AiDraftingRecord = {
  result: AiDraftingResult | null;
  findings: string[];
  model: string | null;
  promptHash: string | null;
};

/** Each attempt calls the model twice at most. */
const ATTEMPTS_MAX = 3;
const AGAIN_AFTER_MS = 60_000;

/** A held draft is checked again with growing intervals, because it may wait for an address forever. */
const LOOKS_MAX = 10;
const LOOK_AGAIN_MS = 5 * 60_000;

/** Returns when a held draft is checked again, or null after the last check. */
export function lookAgainAt({ attempt }: AiDraftingLease, now: number): number | null {
  return attempt >= LOOKS_MAX ? null : now + LOOK_AGAIN_MS * 2 ** (attempt - 1);
}

/** Returns whether its workers crashed on this draft repeatedly. */
export function isWornOut({ attempt }: AiDraftingLease): boolean {
  return attempt > LOOKS_MAX + ATTEMPTS_MAX;
}

/** Returns when a model that did not answer is called again, or null after the last attempt. */
export function againAt({ attempt }: AiDraftingLease, now: number): number | null {
  return attempt >= ATTEMPTS_MAX ? null : now + AGAIN_AFTER_MS * attempt;
}
