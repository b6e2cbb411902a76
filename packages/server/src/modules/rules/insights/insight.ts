/** The properties by which emails can be grouped. */
export const GROUPINGS = ['rule', 'template', 'domain', 'provider'] as const;
export type Grouping = (typeof GROUPINGS)[number];

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
