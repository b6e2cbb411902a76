/**
 * Frequency caps are rolling windows for each address: a letter takes a slot of every cap when it is claimed and gives it
 * back when the window has passed. A cap: at most so many letters in so much time.
 */
export type Cap = { letters: number; windowMs: number };
export type HeldByCap = { cap: Cap; until: number };

/** The cap that opens last of those that have no slot. `claimedAt` is newest first. */
export function heldByCap(caps: Cap[], claimedAt: number[], now: number): HeldByCap | null {
  let held: HeldByCap | null = null;
  for (const cap of caps) {
    // With the newest so many inside the window there is no slot; there is one again when the oldest of them leaves it.
    const oldest = claimedAt[cap.letters - 1];
    if (oldest === undefined) continue;
    const until = oldest + cap.windowMs;
    if (until > now && until > (held?.until ?? -Infinity)) held = { cap, until };
  }
  return held;
}

/** When every cap has a slot again; null where each has one now. */
export function capUntil(caps: Cap[], claimedAt: number[], now: number): number | null {
  return heldByCap(caps, claimedAt, now)?.until ?? null;
}

/** How many letters the caps let go to this address now. */
export function slotsLeft(caps: Cap[] | null, claimedAt: number[], now: number): number {
  let left = Infinity;
  for (const { letters, windowMs } of caps ?? []) {
    const taken = claimedAt.filter((at) => at + windowMs > now).length;
    left = Math.min(left, Math.max(0, letters - taken));
  }
  return left;
}

/** One of the drafts for one address. `deadlineAt`: when it is due, where no deadline was set. */
export type Contender = { id: string; priority: number; deadlineAt: number };

/** Drafts for one address that are due within this time are considered together. */
export const CONTEND_WITHIN_MS = 2 * 3_600_000;

/** Who comes first where there are fewer slots than letters: the higher priority, the earlier deadline, the smaller id. */
export function slotOrder(a: Contender, b: Contender): number {
  return b.priority - a.priority || a.deadlineAt - b.deadlineAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/**
 * By the id of each that has to wait: the one that takes the last slot before it. With no slot at all nobody yields; it is
 * the cap that holds them. Letters that do not count are no contenders.
 */
export function whoYields<C extends Contender>(contenders: C[], slots: number): Map<string, C> {
  const inOrder = contenders.toSorted(slotOrder);
  const last = inOrder[slots - 1];
  return last === undefined ? new Map() : new Map(inOrder.slice(slots).map(({ id }) => [id, last]));
}
