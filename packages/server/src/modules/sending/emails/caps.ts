/**
 * Frequency caps are rolling windows per address. An email takes a slot of every cap when it is claimed, and returns it when the window has
 * passed. A cap is a maximum number of emails within a period.
 */
export type Cap = { letters: number; windowMs: number };
export type HeldByCap = { cap: Cap; until: number };

/** Returns the full cap that opens last. `claimedAt` is newest first. */
export function heldByCap(caps: Cap[], claimedAt: number[], now: number): HeldByCap | null {
  let held: HeldByCap | null = null;
  for (const cap of caps) {
    // If as many claims as the cap allows are in the window, it has no slot. It has one again when the oldest of them leaves the window.
    const oldest = claimedAt[cap.letters - 1];
    if (oldest === undefined) continue;
    const until = oldest + cap.windowMs;
    if (until > now && until > (held?.until ?? -Infinity)) held = { cap, until };
  }
  return held;
}

/** Returns when every cap has a slot again, or null if each has one now. */
export function capUntil(caps: Cap[], claimedAt: number[], now: number): number | null {
  return heldByCap(caps, claimedAt, now)?.until ?? null;
}

/** Returns how many emails to this address the caps allow now. */
export function slotsLeft(caps: Cap[] | null, claimedAt: number[], now: number): number {
  let left = Infinity;
  for (const { letters, windowMs } of caps ?? []) {
    const taken = claimedAt.filter((at) => at + windowMs > now).length;
    left = Math.min(left, Math.max(0, letters - taken));
  }
  return left;
}

/** A draft that competes for an address. `deadlineAt` is the time at which it is due, if no deadline was set. */
export type Contender = { id: string; priority: number; deadlineAt: number };

/** Drafts for one address that are due within this time are considered together. */
export const CONTEND_WITHIN_MS = 2 * 3_600_000;

/** Orders drafts that compete for slots: higher priority, then earlier deadline, then smaller id. */
export function slotOrder(a: Contender, b: Contender): number {
  return b.priority - a.priority || a.deadlineAt - b.deadlineAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/**
 * Returns, by the id of each draft that has to wait, the draft that takes the last slot before it. Without any slot no draft yields,
 * because the cap holds all of them. Emails that do not count towards caps do not compete.
 */
export function whoYields<C extends Contender>(contenders: C[], slots: number): Map<string, C> {
  const inOrder = contenders.toSorted(slotOrder);
  const last = inOrder[slots - 1];
  return last === undefined ? new Map() : new Map(inOrder.slice(slots).map(({ id }) => [id, last]));
}
