import { Group, Paper, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { EmailDays } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Loaded } from '../../parts/index.ts';
import { ChangeMark } from '../../parts/change-mark.tsx';
import { emailFilter, type Metric, metricOf, METRICS, sum } from '../../parts/email-days.ts';
import { EmailDaysChart } from '../../parts/email-days-chart.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Segments } from '../../parts/segments.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import classes from './home.module.css';

const route = getRouteApi('/p/$project/home');

const RANGES = { '7d': '7 days', '30d': '30 days', '90d': '90 days' };
type Range = keyof typeof RANGES;
const SHOWN: Metric[] = ['sent', 'opened', 'clicked', 'replied'];
const OPTIONS = Object.fromEntries(SHOWN.map((metric) => [metric, METRICS[metric]])) as Record<
  Metric,
  string
>;
const STALE_MS = 60_000;

/** Four numbers of the chosen days against the days before, and one of them by day. */
export function Numbers(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const range = rangeOf(search.range);
  const metric = metricOf(search.metric);
  const shown = SHOWN.includes(metric) ? metric : 'sent';
  const query = useApi(
    'GET /projects/:project/insights/days',
    { query: { days: Number.parseInt(range, 10), compare: true } },
    { staleTimeMs: STALE_MS, keep: true },
  );
  const set = (next: { range?: Range; metric?: Metric }): void =>
    void navigate({ search: (was) => ({ ...was, ...next }), replace: true, resetScroll: false });
  return (
    <Stack gap="sm" component="section" aria-labelledby="emails-title">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5" id="emails-title">
          Emails of the last {RANGES[range]}
        </Title>
        <Segments label="Range" value={range} onChange={(next) => set({ range: next })} options={RANGES} />
      </Group>
      <Loaded query={query} skeleton={<NumbersSkeleton />}>
        {({ data }) => (
          <Stack gap="sm" aria-busy={query.isPlaceholderData} className={classes.numbers}>
            <Tiles emails={data} />
            <EmailDaysChart
              title="By day"
              days={data.days}
              counts={data}
              metric={shown}
              controls={
                <Segments
                  label="Number"
                  value={shown}
                  onChange={(next) => set({ metric: next })}
                  options={OPTIONS}
                />
              }
            />
          </Stack>
        )}
      </Loaded>
    </Stack>
  );
}

function rangeOf(text: string | undefined): Range {
  return text !== undefined && Object.hasOwn(RANGES, text) ? (text as Range) : '30d';
}

function Tiles({ emails }: { emails: EmailDays }): ReactNode {
  const { days, total, before, truncated } = emails;
  const delivered = sum(total.sent) - sum(total.bounced);
  return (
    <>
      <SimpleGrid component="dl" cols={{ base: 2, md: 4 }} spacing="sm" m={0}>
        {SHOWN.map((metric) => {
          const count = sum(total[metric]);
          return (
            <Paper key={metric} withBorder p="md" radius="md">
              <Text component="dt" size="sm" c="dimmed">
                {METRICS[metric]}
              </Text>
              <dd className={classes.number}>
                <TextLink
                  inherit
                  to="/p/$project/emails"
                  search={{ filter: emailFilter({ metric, since: days[0] ?? '' }) }}
                  aria-label={`${METRICS[metric]}: ${count.toLocaleString('en-GB')}. Show these emails`}
                >
                  {count.toLocaleString('en-GB')}
                </TextLink>
              </dd>
              <Group component="dd" m={0} gap="xs" c="dimmed">
                {before && <ChangeMark now={count} before={sum(before[metric])} />}
                {metric !== 'sent' && <Muted size="xs">{rate(count, delivered)}</Muted>}
              </Group>
            </Paper>
          );
        })}
      </SimpleGrid>
      {truncated && <Muted size="xs">The data exceeds the limit: only the newest emails are counted.</Muted>}
    </>
  );
}

function rate(count: number, delivered: number): string {
  return delivered <= 0 ? '' : `${((count / delivered) * 100).toFixed(1)} % of delivered`;
}

function NumbersSkeleton(): ReactNode {
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        {SHOWN.map((name) => (
          <Skeleton key={name} height={112} />
        ))}
      </SimpleGrid>
      <Skeleton height={330} />
    </Stack>
  );
}
