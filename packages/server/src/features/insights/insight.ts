/** What letters are put together by. */
export const GROUPINGS = ['rule', 'template', 'domain', 'provider'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/**
 * What became of the letters of one group, each letter once: who opens a letter ten times opened one. Of opens and clicks the
 * first numbers are those of people; the machines' stand apart, for they say nothing of anybody.
 */
export type Insight = {
  /** The name of the rule, of the letter, of the sender's domain, of the recipients' mailbox provider. */
  name: string;
  /** The rule's id, where they are put together by rules. */
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
  /** Those that a person changed before they left, of those whose draft is still there. */
  edited: number;
  editable: number;
  /** When people opened them first, counted from when the letter was taken: as many as `OPENED_WITHIN_MS`, and all later ones. */
  openedWithin: number[];
  /** Half of those that were opened were so by then. */
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

/** Those that did not come back. A letter comes back once. */
export function deliveredOf({ sent, ...of }: Insight): number {
  return sent - bouncedOf(of);
}

export function bouncedOf(of: Pick<Insight, 'hard' | 'soft' | 'policy' | 'infrastructure'>): number {
  return of.hard + of.soft + of.policy + of.infrastructure;
}
