import type { RuleLift, RuleVariant } from '@beckon/contract/dashboard';

/**
 * The outcomes of a group of emails. Each email counts once, however often it is opened. `opened` and `clicked` count humans. Bots are
 * counted separately, because they say nothing about users.
 */
export type Insight = {
  /** The name of the rule, the template, the sender domain or the recipients' mailbox provider. */
  name: string;
  /** The rule's id when grouped by rule. */
  ruleId: string | null;
  sent: number;
  opened: number;
  clicked: number;
  botOpened: number;
  botClicked: number;
  replied: number;
  hard: number;
  soft: number;
  policy: number;
  infrastructure: number;
  complained: number;
  unsubscribed: number;
  /** How many were edited before sending, among those whose draft still exists. */
  edited: number;
  editable: number;
  /** First opens by humans, by the time since the email was claimed: one count per bound in `OPENED_WITHIN_MS` and one for later opens. */
  openedWithin: number[];
  /** The median time of the first open. */
  medianOpenMs: number | null;
};

const HOUR_MS = 3_600_000;
export const OPENED_WITHIN_MS = [
  HOUR_MS / 4,
  HOUR_MS,
  4 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  72 * HOUR_MS,
] as const;

/** Returns the number of emails that did not bounce. An email bounces at most once. */
export function deliveredOf({ sent, ...of }: Insight): number {
  return sent - bouncedOf(of);
}

export function bouncedOf(of: Pick<Insight, 'hard' | 'soft' | 'policy' | 'infrastructure'>): number {
  return of.hard + of.soft + of.policy + of.infrastructure;
}

/** How much more often users with emails reached the goal than the holdout, as a share with its interval. */
type LiftEstimate = NonNullable<RuleLift['estimate']>;

/** No lift is shown for fewer users. */
const VARIANT_MIN = 100;
/** The quantile of the normal distribution for a 95% interval. */
const Z = 1.959964;

/**
 * Returns the lift with Newcombe's interval (his method 10), which is also valid for small shares. Returns null if one of the two sides is
 * too small.
 */
export function liftOf(email: RuleVariant, holdout: RuleVariant): LiftEstimate | null {
  if (email.enrolled < VARIANT_MIN || holdout.enrolled < VARIANT_MIN) return null;
  return intervalOf(email, holdout);
}

export function intervalOf(first: RuleVariant, second: RuleVariant): LiftEstimate {
  const [a, b] = [first.converted / first.enrolled, second.converted / second.enrolled];
  const [ofA, ofB] = [wilson(first), wilson(second)];
  const difference = a - b;
  return {
    difference,
    from: difference - Math.hypot(a - ofA.from, ofB.to - b),
    to: difference + Math.hypot(ofA.to - a, b - ofB.from),
  };
}

function wilson({ enrolled: n, converted }: RuleVariant): { from: number; to: number } {
  const share = converted / n;
  const middle = share + Z ** 2 / (2 * n);
  const half = Z * Math.sqrt((share * (1 - share) + Z ** 2 / (4 * n)) / n);
  const of = 1 + Z ** 2 / n;
  return { from: (middle - half) / of, to: (middle + half) / of };
}
