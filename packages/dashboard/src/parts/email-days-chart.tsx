import type { EmailDays } from '@beckon/contract/dashboard';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProject } from '../api/index.ts';
import { ChartWithTable } from './chart-with-table.tsx';
import { dayRows, emailFilter, type Metric, METRICS, sum } from './email-days.ts';

type Props = {
  title: string;
  days: string[];
  counts: Pick<EmailDays, 'total' | 'before'>;
  metric: Metric;
  /** The choice of the metric. */
  controls: ReactNode;
  /** Only emails of this rule. */
  rule?: string;
  height?: number;
};

/** The emails of each day, with the days of the previous period. A point opens the emails that it counts. */
export function EmailDaysChart(props: Props): ReactNode {
  const { title, days, counts, metric, controls, rule, height = 240 } = props;
  const navigate = useNavigate();
  const project = String(useProject().id);
  const rows = dayRows(days, counts, metric);
  const label = METRICS[metric];
  const total = sum(counts.total[metric]);
  const before = counts.before && sum(counts.before[metric]);
  const against = before === null ? '' : `, ${before.toLocaleString('en-GB')} in the previous period`;
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
          : [{ name: 'before', label: 'Previous period', color: 'gray-5', isDashed: true }]),
      ]}
      height={height}
      controls={controls}
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
