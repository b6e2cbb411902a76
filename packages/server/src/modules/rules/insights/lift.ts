export type Arm = { enrolled: number; converted: number };

/** How much more often users with emails reached the goal than the holdout, as a share with its interval. */
export type LiftShown = { difference: number; from: number; to: number };

/** No lift is shown for fewer users. */
const ARM_MIN = 100;
/** The quantile of the normal distribution for a 95% interval. */
const Z = 1.959964;

/**
 * Returns the lift with Newcombe's interval (his method 10), which is also valid for small shares. Returns null if one of the two sides is
 * too small.
 */
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
