import { createHash } from 'node:crypto';

export type Random = () => number;

/** Numbers from 0 up to 1, the same ones for the same seed. */
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
  if (picked === undefined) throw new Error('there is nothing to choose from');
  return picked;
}

/** A whole number, both ends included. */
export function between(least: number, most: number, random: Random): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** How long until the next of what happens by chance, once in so much time. */
export function exponential(meanMs: number, random: Random): number {
  return -Math.log(1 - random()) * meanMs;
}
