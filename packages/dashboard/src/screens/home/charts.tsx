import { SimpleGrid, Skeleton } from '@mantine/core';
import type { DayOfDrafts, HomeCharts } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Loaded } from '../../parts/index.ts';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';

const HEIGHT_PX = 180;
const STALE_MS = 60_000;

/** The last thirty days: events, drafts, sent emails and outcomes. */
export function Charts(): ReactNode {
  const query = useApi('GET /projects/:project/home/charts', {}, { staleTimeMs: STALE_MS });
  return (
    <Loaded query={query} skeleton={<ChartsSkeleton />}>
      {({ data }) => <Four charts={data} />}
    </Loaded>
  );
}

function Four({ charts: { events, drafts, sent, outcomes } }: { charts: HomeCharts }): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Counts title="Events" noun="events" days={events} isUtc />
      <Counts title="Drafts" noun="drafts" days={drafts} />
      <Counts title="Sent" noun="emails" days={sent} />
      <ChartWithTable
        title="Outcomes"
        description={`Outcomes of the emails sent in 30 days, by day of sending; ${sum(outcomes, 'opened')} opens, ${sum(outcomes, 'clicked')} clicks, ${sum(outcomes, 'replied')} replies, ${sum(outcomes, 'bounced')} bounces, ${sum(outcomes, 'unsubscribed')} unsubscribed`}
        kind="stacked"
        rows={outcomes.every(isEmpty) ? [] : outcomes.map(toRow)}
        x="day"
        xLabel="Day sent"
        series={OUTCOMES}
        height={HEIGHT_PX}
      />
    </SimpleGrid>
  );
}

const OUTCOMES = [
  { name: 'opened', label: 'Opened' },
  { name: 'clicked', label: 'Clicked' },
  { name: 'replied', label: 'Replied' },
  { name: 'bounced', label: 'Bounced' },
  { name: 'unsubscribed', label: 'Unsubscribed' },
];

type CountsProps = { title: string; noun: string; days: DayOfDrafts[]; isUtc?: boolean };

/** Events are counted by days in UTC, everything else by days in the project's time zone. */
function Counts({ title, noun, days, isUtc = false }: CountsProps): ReactNode {
  const total = days.reduce((all, { count }) => all + count, 0);
  const isMore = days.some(({ at_least }) => at_least);
  return (
    <ChartWithTable
      title={title}
      description={`${total.toLocaleString('en')}${isMore ? ' or more' : ''} ${total === 1 ? noun.slice(0, -1) : noun} in 30 days${isUtc ? ', by day in UTC' : ''}`}
      kind="bar"
      rows={total === 0 ? [] : days.map(({ day, count }) => ({ day, count }))}
      x="day"
      xLabel={isUtc ? 'Day (UTC)' : 'Day'}
      series={[{ name: 'count', label: title }]}
      height={HEIGHT_PX}
    />
  );
}

type OutcomeDay = HomeCharts['outcomes'][number];

function toRow({ day, opened, clicked, replied, bounced, unsubscribed }: OutcomeDay) {
  return { day, opened, clicked, replied, bounced, unsubscribed };
}

function isEmpty({ opened, clicked, replied, bounced, unsubscribed }: OutcomeDay): boolean {
  return opened + clicked + replied + bounced + unsubscribed === 0;
}

function sum(
  days: HomeCharts['outcomes'],
  type: 'opened' | 'clicked' | 'replied' | 'bounced' | 'unsubscribed',
) {
  return days.reduce((all, day) => all + day[type], 0);
}

function ChartsSkeleton(): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      {['events', 'drafts', 'sent', 'outcomes'].map((name) => (
        <Skeleton key={name} height={HEIGHT_PX + 36} />
      ))}
    </SimpleGrid>
  );
}
