/** What became of a draft that a model was to word. */
export type Verdict =
  /** It says what the model wrote. */
  | 'worded'
  /** What the model wrote was not borne out by what is known, twice. */
  | 'refused'
  /** The model would not. */
  | 'declined'
  /** The model did not answer, as often as it was asked. */
  | 'failed'
  /** Too little time was left for a person to see it, or the draft had ended. */
  | 'too_late'
  /** A person had looked at it, or it says something else by now. */
  | 'touched'
  /** Its letter is none that a model can word. */
  | 'unfit'
  /** The project wants letters worded by their templates again. */
  | 'off';

/** The right to word a draft, for a while. */
export type Claim = {
  projectId: number;
  draftId: string;
  /** How often it was claimed, this time included. */
  attempt: number;
};

export type Wording = {
  verdict: Verdict | null;
  findings: string[];
  model: string | null;
  promptHash: string | null;
};

/** Each asks the model twice at the most. */
const ATTEMPTS_MAX = 3;
const AGAIN_AFTER_MS = 60_000;

/** One that is held is looked at again more and more seldom: it may wait for an address for ever. */
const LOOKS_MAX = 10;
const LOOK_AGAIN_MS = 5 * 60_000;

/** When a draft that is held is looked at again; null where that was done often enough. */
export function lookAgainAt({ attempt }: Claim, now: number): number | null {
  return attempt >= LOOKS_MAX ? null : now + LOOK_AGAIN_MS * 2 ** (attempt - 1);
}

/** Whoever claimed it died of it, again and again. */
export function isWornOut({ attempt }: Claim): boolean {
  return attempt > LOOKS_MAX + ATTEMPTS_MAX;
}

/** When a model that did not answer is asked again; null where it was asked often enough. */
export function againAt({ attempt }: Claim, now: number): number | null {
  return attempt >= ATTEMPTS_MAX ? null : now + AGAIN_AFTER_MS * attempt;
}
