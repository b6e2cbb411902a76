export type Arm = { enrolled: number; converted: number };

/** By how much more often those who got letters came to the goal than those who got none, as shares, with its interval. */
export type LiftShown = { difference: number; from: number; to: number };

/** Of fewer people nothing is said. */
const ARM_MIN = 100;
/** Of the normal distribution, for an interval that holds the truth 95 times out of a hundred. */
const Z = 1.959964;

/** Newcombe's interval (his method 10), which holds for small shares too. Null where one of the two sides is too small. */
export function liftOf(letter: Arm, holdout: Arm): LiftShown | null {
  if (letter.enrolled < ARM_MIN || holdout.enrolled < ARM_MIN) return null;
  return intervalOf(letter, holdout);
}

export function intervalOf(one: Arm, other: Arm): LiftShown {
  const [a, b] = [one.converted / one.enrolled, other.converted / other.enrolled];
  const [ofA, ofB] = [wilson(one), wilson(other)];
  const difference = a - b;
  return {
    difference,
    from: difference - Math.hypot(a - ofA.from, ofB.to - b),
    to: difference + Math.hypot(ofA.to - a, b - ofB.from),
  };
}

function wilson({ enrolled: n, converted }: Arm): { from: number; to: number } {
  const share = converted / n;
  const middle = share + Z ** 2 / (2 * n);
  const half = Z * Math.sqrt((share * (1 - share) + Z ** 2 / (4 * n)) / n);
  const of = 1 + Z ** 2 / n;
  return { from: (middle - half) / of, to: (middle + half) / of };
}
