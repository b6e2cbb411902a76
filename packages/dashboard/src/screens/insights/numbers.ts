import type { InsightGroup, OpenedWithin } from '@beckon/contract/dashboard';

const HOUR_MS = 3_600_000;

/** "12.3 %"; a dash of nothing. */
export function percent(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`;
}

/** By how many points a share changed, "+1.2"; null where one of the two is of nothing. */
export function change(now: number | null, before: number | null): string | null {
  return now === null || before === null ? null : signed(now - before);
}

/** Shares as points with their sign. */
export function signed(share: number): string {
  const points = (share * 100).toFixed(1);
  if (Number(points) === 0) return '+0.0';
  return share < 0 ? points : `+${points}`;
}

/** "+12 %" of a count against that of the range before; null where there was none. */
export function growth(now: number, before: number): string | null {
  if (before === 0) return null;
  const share = Math.round(((now - before) / before) * 100);
  return `${share >= 0 ? '+' : ''}${share} %`;
}

/** "15 min", "4 h", "3 d". */
function shortSpan(ms: number): string {
  if (ms < HOUR_MS) return `${Math.round(ms / 60_000)} min`;
  return ms < 48 * HOUR_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / (24 * HOUR_MS))} d`;
}

/** How the letters that were opened spread over the time after they left, each slice with its share of them. */
export function openedRows(within: OpenedWithin[]): { when: string; letters: number; share: string }[] {
  const all = within.reduce((sum, { emails: letters }) => sum + letters, 0);
  return within.map(({ until_ms: until, emails: letters }, at) => {
    const from = within[at - 1]?.until_ms ?? null;
    const when = until === null ? `later than ${shortSpan(from ?? 0)}` : `within ${shortSpan(until)}`;
    return { when, letters, share: percent(all === 0 ? null : letters / all) };
  });
}

/** What became of all letters, from what was sent to what was answered. */
export function funnelRows(group: InsightGroup): { step: string; letters: number; share: string }[] {
  const { sent, delivered, opened, clicked, replied } = group;
  const steps = [
    ['Sent', sent, sent],
    ['Arrived', delivered, sent],
    ['Opened', opened, delivered],
    ['Clicked', clicked, delivered],
    ['Answered', replied, delivered],
  ] as const;
  return steps.map(([step, letters, of]) => ({
    step,
    letters,
    share: percent(of === 0 ? null : letters / of),
  }));
}

export const RANGES = [
  { value: '1d', label: 'Last 24 hours', days: 1 },
  { value: '7d', label: 'Last 7 days', days: 7 },
  { value: '30d', label: 'Last 30 days', days: 30 },
  { value: '90d', label: 'Last 90 days', days: 90 },
  { value: '365d', label: 'Last 365 days', days: 365 },
] as const;

/** A range that nobody knows is thirty days. */
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

/** Descending; groups of nothing stand last. */
export function sortGroups(groups: InsightGroup[], by: SortName): InsightGroup[] {
  return groups.toSorted((a, b) => valueOf(b, by) - valueOf(a, by) || b.sent - a.sent);
}

function valueOf({ sent, rates, complained, unsubscribed }: InsightGroup, by: SortName): number {
  if (by === 'sent') return sent;
  if (by === 'unhappy') return complained + unsubscribed;
  return rates[by] ?? -1;
}
