import { createHash } from 'node:crypto';

export type Random = () => number;

/** Returns numbers from 0 (inclusive) to 1 (exclusive), the same ones for the same seed. */
export function randomOf(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(from: readonly T[], random: Random): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) throw new Error('the list is empty');
  return picked;
}

/** Returns an integer, both ends included. */
export function between(min: number, max: number, random: Random): number {
  return min + Math.floor(random() * (max - min + 1));
}

/** Returns the time until the next random event, with this mean. */
export function exponential(meanMs: number, random: Random): number {
  return -Math.log(1 - random()) * meanMs;
}
