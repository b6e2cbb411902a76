import type { AiDraftingLease } from '../../drafts/index.ts';

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
