import { Group, SegmentedControl, Skeleton, Table, Text, Title } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { axisLabel } from './chart-axes.ts';
import { TextButton } from './text-button.tsx';
import classes from './chart-with-table.module.css';

export type Point = Record<string, string | number | null>;
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

const Inner = lazy(() => import('./chart-inner.tsx'));
/** The colors also differ in lightness, in both schemes. */
const COLORS = ['beacon.6', 'indigo.4', 'orange.5', 'grape.6', 'gray.5', 'pink.5'];

/** A chart with a switch to show the same data as a table. The arrow keys move between its points. */
export function ChartWithTable(props: ChartProps): ReactNode {
  const { title, description, rows, height = 220, controls, onOpen } = props;
  const [view, setView] = useState('chart');
  const series = props.series.map((entry, index) => ({
    ...entry,
    color: entry.color ?? COLORS[index % 6] ?? 'gray.5',
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
      {rows.length > 0 && view === 'table' && <Twin {...props} />}
      {rows.length > 0 && view === 'chart' && (
        <div
          role="group"
          aria-roledescription="chart"
          aria-label={`${title}. ${description} Use the arrow keys to move between points${onOpen ? ', and Enter to open one' : ''}.`}
          className={onOpen ? `${classes.chart} ${classes.opens}` : classes.chart}
        >
          <Suspense fallback={<Skeleton height={height} />}>
            <Inner {...props} series={series} height={height} />
          </Suspense>
        </div>
      )}
      <figcaption className={classes.caption}>{description}</figcaption>
    </figure>
  );
}

function Twin(props: ChartProps): ReactNode {
  const { title, rows, x, xLabel, series, format = defaultFormat } = props;
  return (
    <Table.ScrollContainer minWidth={0} maxHeight={320}>
      <Table striped stickyHeader aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{xLabel ?? x}</Table.Th>
            {series.map(({ name, label }) => (
              <Table.Th key={name} scope="col" ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            <Table.Tr key={index}>
              <Table.Th scope="row" fw={400}>
                <PointName {...props} value={row[x]} />
              </Table.Th>
              {series.map(({ name }) => (
                <Table.Td key={name} ta="right">
                  {typeof row[name] === 'number' ? format(row[name]) : (row[name] ?? '–')}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Opens the same as the point of the chart. */
function PointName({
  value,
  onOpen,
  openLabel,
}: ChartProps & { value: Point[string] | undefined }): ReactNode {
  const label = axisLabel(value);
  if (!onOpen) return label;
  return (
    <TextButton aria-label={`${label}: ${openLabel ?? 'Open'}`} onClick={() => onOpen(String(value))}>
      {label}
    </TextButton>
  );
}

export function defaultFormat(value: number): string {
  return value.toLocaleString('en-GB');
}
