/**
 * Frequency caps are rolling windows per address. An email takes a slot of every cap when it is claimed, and returns it when the window has
 * passed. A cap is a maximum number of emails within a period.
 */
export type Cap = { emails: number; windowMs: number };

type HeldByCap = { cap: Cap; until: number };

/** Returns the full cap that opens last. `claimedAt` is newest first. */
export function heldByCap(caps: Cap[], claimedAt: number[], now: number): HeldByCap | null {
  let held: HeldByCap | null = null;
  for (const cap of caps) {
    // If as many claims as the cap allows are in the window, it has no slot. It has one again when the oldest of them leaves the window.
    const oldest = claimedAt[cap.emails - 1];
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
export function remainingSlots(caps: Cap[] | null, claimedAt: number[], now: number): number {
  let remaining = Infinity;
  for (const { emails, windowMs } of caps ?? []) {
    const claimed = claimedAt.filter((at) => at + windowMs > now).length;
    remaining = Math.min(remaining, Math.max(0, emails - claimed));
  }
  return remaining;
}

/** An email that was returned without an attempt no longer has a slot. */
export const HAS_SLOT = `m.state <> 'failed' AND (m.state <> 'deferred' OR m.attempts > 0)`;
