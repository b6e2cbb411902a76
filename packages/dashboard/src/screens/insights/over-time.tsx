import { Select, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { EmailDays } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { Loaded } from '../../parts/index.ts';
import { type Metric, metricOf, METRICS } from '../../parts/email-days.ts';
import { EmailDaysChart } from '../../parts/email-days-chart.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Titled } from '../../parts/titled.tsx';
import { RuleTile } from './rule-tile.tsx';

const route = getRouteApi('/p/$project/insights');

/** The emails of each day, of all rules or one, and of each rule in small. */
export function OverTime({ days, compare }: { days: number; compare: boolean }): ReactNode {
  const query = useApi(
    'GET /projects/:project/insights/days',
    { query: { days, compare, rules: true } },
    { keep: true },
  );
  return (
    <Loaded query={query} skeleton={<Skeleton height={330} />}>
      {({ data }) => (
        <Stack aria-busy={query.isPlaceholderData} opacity={query.isPlaceholderData ? 0.5 : 1}>
          <Shown emails={data} />
        </Stack>
      )}
    </Loaded>
  );
}

function Shown({ emails }: { emails: EmailDays }): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { days, rules } = emails;
  const metric = metricOf(search.metric);
  const rule = rules.find(({ id }) => id === search.rule);
  const set = (next: { metric?: Metric; rule?: string | undefined }): void =>
    void navigate({ search: (was) => ({ ...was, ...next }), replace: true, resetScroll: false });
  return (
    <Stack gap="xl">
      <Stack gap="xs">
        <Select
          aria-label="Rule"
          w={{ base: '100%', xs: 260 }}
          allowDeselect={false}
          data={[
            { value: ALL, label: 'All rules' },
            ...rules.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={rule?.id ?? ALL}
          onChange={(value) => set({ rule: value === null || value === ALL ? undefined : value })}
        />
        <EmailDaysChart
          title={rule ? `${rule.name} over time` : 'Emails over time'}
          days={days}
          counts={rule ?? emails}
          metric={metric}
          controls={<MetricChoice value={metric} onChange={(next) => set({ metric: next })} />}
          {...(rule ? { rule: rule.name } : {})}
        />
      </Stack>
      {rules.length > 1 && (
        <Titled id="rules-over-time" title={`${METRICS[metric]} by rule`}>
          <SimpleGrid component="ul" cols={{ base: 1, xs: 2, md: 3, lg: 4 }} spacing="sm" p={0} m={0}>
            {rules.map((of) => (
              <RuleTile
                key={of.id}
                rule={of}
                days={days}
                metric={metric}
                isShown={of.id === rule?.id}
                onShow={() => set({ rule: of.id })}
              />
            ))}
          </SimpleGrid>
          <Muted size="xs">Each rule has its own scale. Select a name to see it in the chart above.</Muted>
        </Titled>
      )}
    </Stack>
  );
}

/** The value of the choice of no rule. Rules have UUIDs. */
const ALL = 'all';

type ChoiceProps = { value: Metric; onChange: (metric: Metric) => void };

/** Six numbers do not fit beside each other on a phone. */
function MetricChoice({ value, onChange }: ChoiceProps): ReactNode {
  return (
    <>
      <Segments label="Number" value={value} onChange={onChange} options={METRICS} visibleFrom="md" />
      <Select
        hiddenFrom="md"
        size="xs"
        w={150}
        aria-label="Number"
        allowDeselect={false}
        data={Object.entries(METRICS).map(([metric, text]) => ({ value: metric, label: text }))}
        value={value}
        onChange={(next) => onChange(metricOf(next ?? undefined))}
      />
    </>
  );
}
