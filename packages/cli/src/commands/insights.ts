import type { InsightGroup, Insights } from '@beckon/contract/dashboard';
import { custom } from '../framework/declare.ts';
import { downloadTo } from '../framework/download.ts';
import { choice, fallback, flag, time } from '../framework/options.ts';
import type { Row } from '../output/table.ts';
import type { View } from '../output/view.ts';
import { plain, span, type Words } from '../output/words.ts';

const INSIGHTS = 'GET /projects/:project/insights';
const EXPORT = 'GET /projects/:project/insights/export';

const NAMES = ['rule', 'template', 'domain', 'provider'] as const;

export const insights = custom('insights', {
  help: 'Show how many emails were delivered, opened, clicked, replied to, bounced or unsubscribed, and the lift',
  options: {
    by: fallback(choice('--by <grouping>', 'Group emails by this', NAMES), 'rule'),
    since: fallback(time('--since <time>', 'Start of the period, which has at most 366 days', 'back'), '30d'),
    until: time('--until <time>', 'End of the period (default: now)', 'back'),
    compare: flag('--compare', 'Also show the previous period of the same length'),
    csv: flag('--csv', 'Print the groups as CSV'),
  },
  routes: [INSIGHTS, EXPORT],
  async run(context, { compare, csv, ...range }) {
    if (csv) return downloadTo(context, await context.api.open(EXPORT, { query: range }));
    const query = { ...range, ...(compare ? { compare } : {}) };
    const { data } = await context.api.call(INSIGHTS, { query });
    await context.output.value(data, (all, words) => insightsView(all, range.by, words));
  },
});

function insightsView({ range, before }: Insights, by: string, { when }: Words): View {
  const earlier = new Map(before?.groups.map((group) => [group.name, group]));
  const rows = range.groups.flatMap((group): Row[] => {
    const old = earlier.get(group.name);
    return [groupRow(by, group), ...(old ? [groupRow(by, { ...old, name: `${old.name} (before)` })] : [])];
  });
  if (rows.length > 1) rows.push(groupRow(by, { ...range.total, name: 'total' }));
  return [
    { rows, empty: `No emails were sent in this period: ${when(range.since)} to ${when(range.until)}.` },
    range.truncated
      ? 'The period has too many emails or groups. These numbers do not include all of them.'
      : null,
    range.groups.flatMap(liftText).join('\n'),
  ];
}

const RATED = ['delivered', 'opened', 'clicked', 'replied', 'complained', 'unsubscribed'] as const;

function groupRow(by: string, group: InsightGroup): Row {
  const { rates, edited } = group;
  return {
    [by]: group.name,
    sent: group.sent,
    ...Object.fromEntries(RATED.map((name) => [name, withRate(group[name], rates[name])])),
    bounced: bouncesText(group),
    edited: withRate(edited.edited, rates.edited),
    'bot hits': group.bot_opened + group.bot_clicked,
    'median time to open': group.median_open_ms === null ? null : span(group.median_open_ms),
  };
}

function withRate(number: number, rate: number | null): string {
  return rate === null ? String(number) : `${number} (${percentage(rate)}%)`;
}

function bouncesText({ bounced, rates }: InsightGroup): string {
  const kinds = Object.entries(bounced).flatMap(([kind, number]) =>
    number > 0 ? [`${plain(kind)} ${number}`] : [],
  );
  return kinds.length === 0 ? '0' : `${kinds.join(', ')} (${percentage(rates.bounced ?? 0)}%)`;
}

function liftText({ name, lift }: InsightGroup): string[] {
  if (lift === null) return [];
  const { treatment, holdout, estimate } = lift;
  const both =
    `${name}: ${treatment.converted} of ${treatment.enrolled} users who get emails reached the goal, ` +
    `${holdout.converted} of ${holdout.enrolled} users in the holdout.`;
  if (estimate === null) return [`${both} Lift is shown once each group has 100 users.`];
  const { difference, from, to } = estimate;
  return [
    `${both} Lift: ${signed(difference)} percentage points (95% confidence interval: ${signed(from)} to ${signed(to)}).`,
  ];
}

function percentage(share: number): string {
  return (share * 100).toFixed(1);
}

function signed(share: number): string {
  return `${share < 0 ? '' : '+'}${percentage(share)}`;
}
