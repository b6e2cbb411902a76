import { Select } from '@mantine/core';
import type { EmailDays } from '@beckon/contract/dashboard';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProject } from '../api/index.ts';
import { ChartWithTable } from './chart-with-table.tsx';
import { dayRows, emailFilter, type Metric, metricOf, METRICS, sum } from './email-days.ts';
import { Segments } from './segments.tsx';

type Props = {
  title: string;
  days: string[];
  counts: Pick<EmailDays, 'total' | 'before'>;
  metric: Metric;
  metrics: Metric[];
  onMetric: (metric: Metric) => void;
  /** Only emails of this rule. */
  rule?: string;
  height?: number;
};

/** The emails of each day, with the days of the previous period. A point opens the emails that it counts. */
export function EmailDaysChart(props: Props): ReactNode {
  const { title, days, counts, metric, metrics, onMetric, rule, height = 240 } = props;
  const navigate = useNavigate();
  const project = String(useProject().id);
  const rows = dayRows(days, counts, metric);
  const label = METRICS[metric];
  const total = sum(counts.total[metric]);
  const before = counts.before && sum(counts.before[metric]);
  const against = before === null ? '' : `, ${before.toLocaleString('en-GB')} in the previous period`;
  const options = Object.fromEntries(metrics.map((name) => [name, METRICS[name]])) as Record<Metric, string>;
  return (
    <ChartWithTable
      title={title}
      description={`${label} by the day on which the email was sent: ${total.toLocaleString('en-GB')} in ${days.length} days${against}.`}
      kind="area"
      rows={total === 0 && (before ?? 0) === 0 ? [] : rows}
      x="day"
      xLabel="Day sent"
      series={[
        { name: 'now', label },
        ...(before === null
          ? []
          : [{ name: 'before', label: 'Previous period', color: 'gray.5', isDashed: true }]),
      ]}
      height={height}
      controls={
        <MetricChoice label={`${title}: number`} value={metric} onChange={onMetric} options={options} />
      }
      openLabel="Show the emails of this day"
      onOpen={(day) =>
        void navigate({
          to: '/p/$project/emails',
          params: { project },
          search: { filter: emailFilter({ metric, day, rule }) },
        })
      }
    />
  );
}

type ChoiceProps = {
  label: string;
  value: Metric;
  onChange: (metric: Metric) => void;
  options: Record<Metric, string>;
};

/** More than four numbers do not fit beside each other on a phone. */
function MetricChoice({ label, value, onChange, options }: ChoiceProps): ReactNode {
  const isLong = Object.keys(options).length > SEGMENTS_MAX;
  return (
    <>
      <Segments
        label={label}
        value={value}
        onChange={onChange}
        options={options}
        {...(isLong ? { visibleFrom: 'md' } : {})}
      />
      {isLong && (
        <Select
          hiddenFrom="md"
          size="xs"
          w={150}
          aria-label={label}
          allowDeselect={false}
          data={Object.entries(options).map(([metric, text]) => ({ value: metric, label: text }))}
          value={value}
          onChange={(next) => onChange(metricOf(next ?? undefined))}
        />
      )}
    </>
  );
}

const SEGMENTS_MAX = 4;
