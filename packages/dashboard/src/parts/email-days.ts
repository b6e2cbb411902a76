import type { EmailCounts, EmailDays } from '@beckon/contract/dashboard';

export type Metric = keyof EmailCounts;

/** The numbers of emails, by the name of their outcome in the filter of Emails. */
export const METRICS: Record<Metric, string> = {
  sent: 'Sent',
  opened: 'Opened',
  clicked: 'Clicked',
  replied: 'Replied',
  bounced: 'Bounced',
  unsubscribed: 'Unsubscribed',
};

/** The metric of a URL; sent emails by default. */
export function metricOf(text: string | undefined): Metric {
  return text !== undefined && Object.hasOwn(METRICS, text) ? (text as Metric) : 'sent';
}

export function sum(counts: number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** One row per day for a chart: the count, and the one of as many days earlier. */
export function dayRows(
  days: string[],
  { total, before }: Pick<EmailDays, 'total' | 'before'>,
  metric: Metric,
): { day: string; now: number; before: number | null }[] {
  return days.map((day, at) => ({
    day,
    now: total[metric][at] ?? 0,
    before: before === null ? null : (before[metric][at] ?? 0),
  }));
}

/** The change of a count against the previous period, "+12 %"; null if that was zero. */
export function growth(now: number, before: number): string | null {
  if (before === 0) return null;
  const share = Math.round(((now - before) / before) * 100);
  return `${share >= 0 ? '+' : ''}${share} %`;
}

export type Change = { direction: 'up' | 'down' | 'same'; words: string };

/** The change of a count in words. A share of zero emails does not exist, so the count of before stands in for it. */
export function changeOf(now: number, before: number): Change {
  if (now === before) return { direction: 'same', words: 'no change' };
  const direction = now > before ? 'up' : 'down';
  return { direction, words: growth(now, before) ?? '0 before' };
}

export type CountedEmails = {
  metric: Metric;
  /** A day in the project's time zone. */
  day?: string;
  /** The first day of a period that ends now. */
  since?: string;
  rule?: string | undefined;
};

/** The filter of Emails that lists exactly the emails of a number. */
export function emailFilter({ metric, day, since, rule }: CountedEmails): string {
  return [
    ...(rule === undefined ? [] : [`rule:"${rule.replaceAll(/["\\]/g, '\\$&')}"`]),
    ...(day === undefined ? [] : [`sent:${day}`]),
    ...(since === undefined ? [] : [`sent:>${dayBefore(since)}`]),
    ...(metric === 'sent' ? [] : [`outcome:${metric}`]),
  ].join(' ');
}

function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) - 86_400_000).toISOString().slice(0, 10);
}
