import type { Tx } from '../../platform/db/statements.ts';
import { upsertTeamDigest } from './digest-store.ts';
import type { TeamEmail } from '../delivery/index.ts';

/** Drafts of one rule that wait for the team. */
export type WaitingOfRule = {
  rule: string;
  /** Drafts that wait for their deadline or a member. */
  waiting: number;
  /** Drafts with a hold that does not end by time. */
  held: number;
  /** How many of both are new since the last digest. */
  fresh: number;
  earliestDeadlineAt: number | null;
  /** The draft to review first: with the earliest deadline, otherwise the oldest. */
  firstId: string | null;
};

export type TeamDigestContent = {
  project: string;
  rules: WaitingOfRule[];
  /** The address of the project in the dashboard. */
  projectUrl: string;
  /** Other news for the team, one sentence each, such as a demoted rule or a failing domain. */
  notices: string[];
  timeZone: string;
};

export const TEAM_DIGEST_EVERY_MS = 15 * 60_000;

/** Returns the digest email for the team if there is news and the last one was long enough ago. The first one is sent immediately. */
export function teamDigest(
  content: TeamDigestContent,
  now: number,
  lastSentAt: number | null,
): TeamEmail | null {
  if (lastSentAt !== null && now < lastSentAt + TEAM_DIGEST_EVERY_MS) return null;
  const isFresh = content.notices.length > 0 || content.rules.some(({ fresh }) => fresh > 0);
  return isFresh ? { subject: subjectOf(content), text: textOf(content) } : null;
}

function subjectOf({ rules, notices, project }: TeamDigestContent): string {
  const drafts = total(rules, 'waiting');
  const held = total(rules, 'held');
  const parts = [
    ...(drafts > 0 ? [`${countOf(drafts, 'draft')} ${drafts === 1 ? 'waits' : 'wait'}`] : []),
    ...(held > 0 ? [`${held} held`] : []),
  ];
  return `${project}: ${parts.join(', ') || notices[0] || ''}`;
}

function textOf({ rules, notices, projectUrl, timeZone }: TeamDigestContent): string {
  const waitingRules = rules.filter(({ waiting, held }) => waiting + held > 0).toSorted(byDeadline);
  const earliest = waitingRules[0]?.earliestDeadlineAt ?? null;
  return [
    ...notices,
    ...(notices.length > 0 && waitingRules.length > 0 ? [''] : []),
    ...(earliest === null
      ? []
      : [`The first is sent at ${localTime(earliest, timeZone)}, unless a member decides first.`, '']),
    ...waitingRules.flatMap((rule) => ruleLines(rule, { projectUrl, timeZone })),
    '',
  ].join('\n');
}

function ruleLines(
  rule: WaitingOfRule,
  { projectUrl, timeZone }: { projectUrl: string; timeZone: string },
): string[] {
  const { waiting, held, earliestDeadlineAt, firstId } = rule;
  const parts = [
    ...(waiting > 0 ? [`${countOf(waiting, 'draft')} ${waiting === 1 ? 'waits' : 'wait'}`] : []),
    ...(held > 0 ? [`${countOf(held, 'draft')} held`] : []),
    ...(earliestDeadlineAt === null
      ? []
      : [`the first is sent at ${localTime(earliestDeadlineAt, timeZone)}`]),
  ];
  const link = firstId === null ? [] : [`  ${projectUrl}/drafts/${firstId}`];
  return [`${rule.rule}: ${parts.join(', ')}`, ...link];
}

/** Sorts rules without a deadline last, because nothing happens to their drafts before a member acts. */
function byDeadline(a: WaitingOfRule, b: WaitingOfRule): number {
  return (
    (a.earliestDeadlineAt ?? Infinity) - (b.earliestDeadlineAt ?? Infinity) || (a.rule < b.rule ? -1 : 1)
  );
}

function total(rules: WaitingOfRule[], field: 'waiting' | 'held'): number {
  return rules.reduce((sum, rule) => sum + rule[field], 0);
}

function countOf(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function localTime(ms: number, timeZone: string): string {
  const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  return `${at.toPlainDate().toString()} ${at.toPlainTime().toString({ smallestUnit: 'minute' })} (${timeZone})`;
}

/**
 * Returns whether this caller sends the digest now. Only one of two concurrent callers does. Call it in the transaction that submits the
 * email.
 */
export function takeTeamDigest(tx: Tx, projectId: number, now: number): Promise<boolean> {
  return upsertTeamDigest(tx, { projectId, now, before: now - TEAM_DIGEST_EVERY_MS });
}
