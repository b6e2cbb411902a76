/** The same numbers for the same seed, on every machine: a demo that somebody saw yesterday looks the same today. */
export type Random = {
  /** From 0 up to 1, without it. */
  next(): number;
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Mostly little, sometimes much: how long people take. */
  wait(meanMs: number): number;
};

/** Mulberry32: thirty-two bits of state, and good enough to make people up. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    whole: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
    pick(from) {
      const picked = from[Math.floor(next() * from.length)];
      if (picked === undefined) throw new Error('there is nothing to pick from');
      return picked;
    },
    wait: (meanMs) => -Math.log(1 - next()) * meanMs,
  };
}
