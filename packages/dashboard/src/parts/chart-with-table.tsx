import { Group, SegmentedControl, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ChartDrawing } from './chart-drawing.tsx';
import { later } from './later.tsx';
import classes from './chart-with-table.module.css';

export type Point = Record<string, string | number | null>;
/** `color`: a color of the theme, such as `gray-5`. */
export type Series = { name: string; label: string; color?: string; isDashed?: boolean };

export type ChartProps = {
  title: string;
  /** A sentence for screen readers: "Emails sent per day; 214 in total, most on 3 Nov". */
  description: string;
  kind: 'bar' | 'stacked' | 'line' | 'area';
  rows: Point[];
  /** The key of the x value in a row: a day such as `2026-10-26`, a provider. */
  x: string;
  xLabel?: string;
  series: Series[];
  height?: number;
  format?: (value: number) => string;
  /** Opens what a point counts. It gets the x value of the point. */
  onOpen?: (x: string) => void;
  /** What `onOpen` does: "Show the emails of this day". */
  openLabel?: string;
  /** Controls beside the title. */
  controls?: ReactNode;
};

const ChartTable = later(() => import('./chart-table.tsx'), 'ChartTable');
/** The colors also differ in lightness, in both schemes. */
const COLORS = ['beacon-6', 'indigo-4', 'orange-5', 'grape-6', 'gray-5', 'pink-5'];

/** A chart with a switch to show the same data as a table. The arrow keys move between its points. */
export function ChartWithTable(props: ChartProps): ReactNode {
  const { title, description, rows, height = 220, controls, onOpen } = props;
  const [view, setView] = useState('chart');
  const series = props.series.map((entry, index) => ({
    ...entry,
    color: `var(--mantine-color-${entry.color ?? COLORS[index % COLORS.length]})`,
  }));
  return (
    <figure className={classes.figure}>
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={2} size="h6">
          {title}
        </Title>
        <Group gap="xs">
          {controls}
          <SegmentedControl
            size="xs"
            value={view}
            onChange={setView}
            aria-label={`${title}: as`}
            data={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </Group>
      </Group>
      {rows.length === 0 && (
        <Text size="sm" c="dimmed" py="lg" ta="center">
          No data yet.
        </Text>
      )}
      {rows.length > 0 && view === 'table' && <ChartTable {...props} />}
      {rows.length > 0 && view === 'chart' && (
        <div
          role="group"
          aria-roledescription="chart"
          aria-label={`${title}. ${description} Use the arrow keys to move between points${onOpen ? ', and Enter to open one' : ''}.`}
          className={onOpen ? `${classes.chart} ${classes.opens}` : classes.chart}
        >
          <ChartDrawing {...props} series={series} height={height} />
        </div>
      )}
      <figcaption className={classes.caption}>{description}</figcaption>
    </figure>
  );
}
