/** Time is an argument: production passes `systemClock`, tests pass a fixed time. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
};

export const systemClock: Clock = { now: () => Date.now() };

/** Formats every timestamp that Beckon emits: UTC, milliseconds, `Z`. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Formats a time that may be missing. */
export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
