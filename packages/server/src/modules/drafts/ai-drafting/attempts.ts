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
