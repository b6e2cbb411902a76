import { printDuration } from '../../platform/time/time-text.ts';

/** How the last drafts of a rule ended: sent unchanged, edited before sending, or skipped. */
export type LadderCounts = { untouched: number; edited: number; skipped: number };

export type Suggestion = {
  kind: 'autopilot' | 'shorter_deadline' | 'longer_deadline';
  deadlineMs: number;
  why: string;
};

/** The number of last drafts to consider. Fewer are not conclusive. */
export const LADDER_DRAFTS = 20;
const UNTOUCHED_MIN = 19;
const TOUCHED_MANY = 5;
const FIRST_DEADLINE_MS = 4 * 3_600_000;
const SHORTEST_MS = 15 * 60_000;
const LONGEST_MS = 48 * 3_600_000;

/**
 * Suggests a mode that the rule has earned. No rule changes its mode by itself. `deadlineMs` is the period of its autopilot, or null
 * without autopilot.
 */
export function suggest(counts: LadderCounts, deadlineMs: number | null): Suggestion | null {
  const { untouched, edited, skipped } = counts;
  const of = untouched + edited + skipped;
  if (of < LADDER_DRAFTS) return null;
  const isTrusted = untouched / of >= UNTOUCHED_MIN / LADDER_DRAFTS;
  if (deadlineMs === null) return isTrusted ? suggestAutopilot(untouched, of) : null;
  if (isTrusted && edited + skipped === 0) return suggestShorter(of, deadlineMs);
  if ((edited + skipped) / of < TOUCHED_MANY / LADDER_DRAFTS) return null;
  return suggestLonger({ touched: edited + skipped, of }, deadlineMs);
}

function suggestAutopilot(untouched: number, of: number): Suggestion {
  const why = `${untouched} of the last ${of} drafts were sent unchanged. Autopilot could send them after ${printDuration(FIRST_DEADLINE_MS)}`;
  return { kind: 'autopilot', deadlineMs: FIRST_DEADLINE_MS, why };
}

function suggestShorter(of: number, deadlineMs: number): Suggestion | null {
  const shorter = Math.max(SHORTEST_MS, roundedToMinutes(deadlineMs / 2));
  if (shorter >= deadlineMs) return null;
  const why = `No member edited or skipped any of the last ${of} drafts. A deadline of ${printDuration(shorter)} would be enough`;
  return { kind: 'shorter_deadline', deadlineMs: shorter, why };
}

function suggestLonger(
  { touched, of }: { touched: number; of: number },
  deadlineMs: number,
): Suggestion | null {
  const longer = Math.min(LONGEST_MS, deadlineMs * 2);
  if (longer <= deadlineMs) return null;
  const why = `${touched} of the last ${of} drafts were edited or skipped. A deadline of ${printDuration(longer)} would leave more time for review`;
  return { kind: 'longer_deadline', deadlineMs: longer, why };
}

function roundedToMinutes(ms: number): number {
  return Math.round(ms / 60_000) * 60_000;
}

/** How many of a rule's last emails had each outcome. `of` is the window below or, for a new rule, the number of emails that there are. */
export type Outcomes = Record<OutcomeKind, { count: number; of: number }>;
type OutcomeKind = 'complaints' | 'hardBounces' | 'unsubscribes';

/**
 * The count, and the share of the last emails, from which a rule is demoted. Shares are in thousandths, so that they are compared as
 * integers.
 */
const DEMOTES = {
  complaints: { min: 2, perMille: 3, emailsMax: 1_000 },
  hardBounces: { min: 5, perMille: 50, emailsMax: 100 },
  unsubscribes: { min: 6, perMille: 30, emailsMax: 200 },
} as const satisfies Record<OutcomeKind, { min: number; perMille: number; emailsMax: number }>;

/** How many of the last emails are considered for each outcome. */
export const LADDER_WINDOWS = {
  complaints: DEMOTES.complaints.emailsMax,
  hardBounces: DEMOTES.hardBounces.emailsMax,
  unsubscribes: DEMOTES.unsubscribes.emailsMax,
};

export type Demotion = { reason: OutcomeKind; count: number; of: number; why: string };

/** Returns why a rule must lose its autopilot, or null. */
export function demotes(outcomes: Outcomes): Demotion | null {
  for (const reason of ['complaints', 'hardBounces', 'unsubscribes'] as const) {
    const { count, of } = outcomes[reason];
    const { min, perMille } = DEMOTES[reason];
    if (count >= min && count * 1_000 >= of * perMille) {
      return { reason, count, of, why: `${count} ${WORDS[reason]} among its last ${of} emails` };
    }
  }
  return null;
}

const WORDS: Record<OutcomeKind, string> = {
  complaints: 'complaints',
  hardBounces: 'hard bounces',
  unsubscribes: 'unsubscribes',
};
