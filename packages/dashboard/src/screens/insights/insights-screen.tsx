import { Group, SegmentedControl, Select, SimpleGrid, Skeleton, Stack, Switch } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { InsightGrouping, Insights } from '@beckon/contract/dashboard';
import { ChartNoAxesColumn } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useMay, useProject } from '../../api/index.ts';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';
import { Empty, formatSpan, Loaded, Page } from '../../parts/index.ts';
import { Groups } from './groups.tsx';
import { OverTime } from './over-time.tsx';
import { daysOf, funnelRows, openedRows, percent, RANGES, SORTS } from './numbers.ts';
import { Totals } from './totals.tsx';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Muted } from '../../parts/muted.tsx';

const route = getRouteApi('/p/$project/insights');

const GROUPINGS: { value: InsightGrouping; label: string }[] = [
  { value: 'rule', label: 'Rule' },
  { value: 'template', label: 'Template' },
  { value: 'domain', label: 'Sending domain' },
  { value: 'provider', label: 'Mailbox provider' },
];

export function InsightsScreen(): ReactNode {
  const search = route.useSearch();
  const by = GROUPINGS.find(({ value }) => value === search.by)?.value ?? 'rule';
  const days = daysOf(search.range);
  const compare = search.compare ?? true;
  const insights = useApi(
    'GET /projects/:project/insights',
    { query: { by, days, compare } },
    { keep: true },
  );
  return (
    <Page title="Insights" actions={<Export by={by} days={days} />}>
      <Controls by={by} compare={compare} />
      <Loaded query={insights} skeleton={<Waiting />}>
        {({ data }) => <Whole insights={data} days={days} compare={compare} />}
      </Loaded>
    </Page>
  );
}

function Waiting(): ReactNode {
  return (
    <Stack mt="md">
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        {Array.from({ length: 8 }, (_, at) => (
          <Skeleton key={at} height={76} />
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Skeleton height={260} />
        <Skeleton height={260} />
      </SimpleGrid>
      <Skeleton height={240} />
    </Stack>
  );
}

function Controls({ by, compare }: { by: InsightGrouping; compare: boolean }): ReactNode {
  const { range = '30d' } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (next: object): void =>
    void navigate({ search: (was) => ({ ...was, ...next }), replace: true });
  return (
    <Group gap="sm" wrap="wrap">
      <Select
        aria-label="Range"
        w={{ base: '100%', xs: 170 }}
        allowDeselect={false}
        data={RANGES.map(({ value, label }) => ({ value, label }))}
        value={RANGES.find(({ value }) => value === range)?.value ?? '30d'}
        onChange={(value) => set({ range: value ?? undefined })}
      />
      <SegmentedControl
        visibleFrom="sm"
        aria-label="Group by"
        data={GROUPINGS}
        value={by}
        onChange={(value) => set({ by: value })}
      />
      <Select
        hiddenFrom="sm"
        aria-label="Group by"
        w="100%"
        allowDeselect={false}
        data={GROUPINGS}
        value={by}
        onChange={(value) => set({ by: value ?? undefined })}
      />
      <Switch
        label="Compare with previous period"
        checked={compare}
        onChange={(event) => set({ compare: event.currentTarget.checked })}
      />
    </Group>
  );
}

function Export({ by, days }: { by: InsightGrouping; days: number }): ReactNode {
  const project = useProject();
  if (!useMay('admin')) return null;
  const href = apiUrl('GET /projects/:project/insights/export', {
    params: { project: project.id },
    query: { by, days },
  });
  return <DownloadButton href={href}>CSV</DownloadButton>;
}

type WholeProps = { insights: Insights; days: number; compare: boolean };

function Whole({ insights: { by, range, before }, days, compare }: WholeProps): ReactNode {
  const { sort } = route.useSearch();
  const navigate = route.useNavigate();
  if (range.total.sent === 0 && (before?.total.sent ?? 0) === 0)
    return (
      <Empty icon={ChartNoAxesColumn} title="No emails in this period">
        Deliveries, opens, clicks, replies and bounces of sent emails appear here. Bots are counted
        separately.
      </Empty>
    );
  return (
    <Stack gap="xl" mt="md">
      {range.truncated && (
        <Muted>The data exceeds the limit: only the newest emails and the largest groups are counted.</Muted>
      )}
      <Totals total={range.total} before={before?.total ?? null} />
      {days > 1 && <OverTime days={days} compare={compare} />}
      <Charts insights={{ by, range, before }} />
      <Groups
        by={by}
        groups={range.groups}
        before={before?.groups ?? null}
        sort={SORTS.find((name) => name === sort) ?? 'sent'}
        onSort={(next) => void navigate({ search: (was) => ({ ...was, sort: next }), replace: true })}
      />
    </Stack>
  );
}

const TOP_GROUPS = 12;

function Charts({ insights: { by, range } }: { insights: Insights }): ReactNode {
  const { total, groups } = range;
  const opened = openedRows(total.opened_within);
  const topGroups = groups.slice(0, TOP_GROUPS);
  const name = GROUPINGS.find(({ value }) => value === by)?.label ?? by;
  const half =
    total.median_open_ms === null ? '' : ` Half of them within ${formatSpan(total.median_open_ms)}.`;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="xl">
      <ChartWithTable
        title="From sent to replied"
        description={`${total.sent.toLocaleString('en-GB')} sent, ${percent(total.rates.delivered)} delivered; of those ${percent(total.rates.opened)} opened by a human, ${percent(total.rates.clicked)} clicked, ${percent(total.rates.replied)} replied.`}
        kind="bar"
        rows={funnelRows(total)}
        x="step"
        xLabel="Step"
        series={[{ name: 'emails', label: 'Emails' }]}
      />
      <ChartWithTable
        title="Time to first open"
        description={`${total.opened.toLocaleString('en-GB')} ${total.opened === 1 ? 'email was' : 'emails were'} opened by a human.${half}`}
        kind="bar"
        rows={opened}
        x="when"
        xLabel="Time after sending"
        series={[{ name: 'emails', label: 'Emails' }]}
      />
      <ChartWithTable
        title={`Delivered by ${name.toLowerCase()}`}
        description="Share of sent emails that did not bounce, in percent."
        kind="bar"
        rows={topGroups.map((group) => ({ name: group.name, share: pointsOf(group.rates.delivered) }))}
        x="name"
        xLabel={name}
        series={[{ name: 'share', label: 'Delivered, %' }]}
        format={(value) => `${value.toFixed(1)} %`}
      />
      <ChartWithTable
        title={`Bounces by ${name.toLowerCase()}`}
        description="Bounced emails by reason."
        kind="stacked"
        rows={topGroups.map((group) => ({ name: group.name, ...group.bounced }))}
        x="name"
        xLabel={name}
        series={[
          { name: 'hard', label: 'Invalid address' },
          { name: 'soft', label: 'Temporary failure' },
          { name: 'policy', label: 'Rejected by policy' },
          { name: 'infrastructure', label: 'Server failure' },
        ]}
      />
    </SimpleGrid>
  );
}

function pointsOf(share: number | null): number | null {
  return share === null ? null : Math.round(share * 1_000) / 10;
}
