import type { InsightGroup, OpenedWithin } from '@beckon/contract/dashboard';

const HOUR_MS = 3_600_000;

/** "12.3 %"; a dash if the total is zero. */
export function percent(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`;
}

/** The change of a share in points, "+1.2"; null if either total is zero. */
export function change(now: number | null, before: number | null): string | null {
  return now === null || before === null ? null : signed(now - before);
}

/** A share in points with its sign. */
export function signed(share: number): string {
  const points = (share * 100).toFixed(1);
  if (Number(points) === 0) return '+0.0';
  return share < 0 ? points : `+${points}`;
}

/** "15 min", "4 h", "3 d". */
function shortSpan(ms: number): string {
  if (ms < HOUR_MS) return `${Math.round(ms / 60_000)} min`;
  return ms < 48 * HOUR_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / (24 * HOUR_MS))} d`;
}

/** The distribution of opens over the time after sending, with the share of each slice. */
export function openedRows(within: OpenedWithin[]): { when: string; emails: number; share: string }[] {
  const all = within.reduce((sum, { emails }) => sum + emails, 0);
  return within.map(({ until_ms: until, emails }, at) => {
    const from = within[at - 1]?.until_ms ?? null;
    const when = until === null ? `later than ${shortSpan(from ?? 0)}` : `within ${shortSpan(until)}`;
    return { when, emails, share: percent(all === 0 ? null : emails / all) };
  });
}

/** The funnel of all emails, from sent to replied. */
export function funnelRows(group: InsightGroup): { step: string; emails: number; share: string }[] {
  const { sent, delivered, opened, clicked, replied } = group;
  const steps = [
    ['Sent', sent, sent],
    ['Delivered', delivered, sent],
    ['Opened', opened, delivered],
    ['Clicked', clicked, delivered],
    ['Replied', replied, delivered],
  ] as const;
  return steps.map(([step, emails, of]) => ({
    step,
    emails,
    share: percent(of === 0 ? null : emails / of),
  }));
}

export const RANGES = [
  { value: '1d', label: 'Today', days: 1 },
  { value: '7d', label: 'Last 7 days', days: 7 },
  { value: '30d', label: 'Last 30 days', days: 30 },
  { value: '90d', label: 'Last 90 days', days: 90 },
  { value: '365d', label: 'Last 365 days', days: 365 },
] as const;

/** An unknown range is thirty days. */
export function daysOf(range: string | undefined): number {
  return RANGES.find(({ value }) => value === range)?.days ?? 30;
}

export const SORTS = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'replied',
  'bounced',
  'unhappy',
  'edited',
] as const;
export type SortName = (typeof SORTS)[number];

/** Descending, with empty groups last. */
export function sortGroups(groups: InsightGroup[], by: SortName): InsightGroup[] {
  return groups.toSorted((a, b) => valueOf(b, by) - valueOf(a, by) || b.sent - a.sent);
}

function valueOf({ sent, rates, complained, unsubscribed }: InsightGroup, by: SortName): number {
  if (by === 'sent') return sent;
  if (by === 'unhappy') return complained + unsubscribed;
  return rates[by] ?? -1;
}
