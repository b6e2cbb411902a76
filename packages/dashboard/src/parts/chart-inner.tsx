import '@mantine/charts/styles.css';
import { BarChart, CompositeChart, LineChart } from '@mantine/charts';
import { VisuallyHidden } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { axisLabel, dayTicks, isDay, pointWords, valueTicks } from './chart-axes.ts';
import { ChartTip } from './chart-tip.tsx';
import { type ChartProps, defaultFormat, type Series } from './chart-with-table.tsx';

export type InnerProps = Omit<ChartProps, 'series'> & {
  series: (Series & { color: string })[];
  height: number;
};

const LETTER_PX = 7;
const LABEL_MAX = 22;
const ROW_PX = 30;

/**
 * The chart itself. recharts moves a marker with the arrow keys while the chart has the focus. The marked point is announced, and Enter opens
 * it like a click.
 */
export default function ChartInner(props: InnerProps): ReactNode {
  const { rows, x, series, onOpen, format = defaultFormat } = props;
  const marked = useRef<string | null>(null);
  const [announced, setAnnounced] = useState<string | null>(null);
  const hasFocus = useRef(false);
  const mark = (value: string | null): void => {
    marked.current = value;
    if (hasFocus.current && value !== null) setAnnounced(value);
  };
  const openMarked = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !onOpen || marked.current === null) return;
    event.preventDefault();
    event.stopPropagation();
    onOpen(marked.current);
  };
  const row = announced === null ? undefined : rows.find((point) => String(point[x]) === announced);
  return (
    <div
      onKeyDownCapture={openMarked}
      // With the focus, recharts would mark the first point instead of the one below the pointer.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => {
        if (marked.current !== null) onOpen?.(marked.current);
      }}
      onFocus={() => {
        hasFocus.current = true;
        if (marked.current !== null) setAnnounced(marked.current);
      }}
      onBlur={() => {
        hasFocus.current = false;
        setAnnounced(null);
      }}
    >
      <Drawn {...props} onMark={mark} />
      <VisuallyHidden role="status">{row ? pointWords(row, { x, series, format }) : ''}</VisuallyHidden>
    </div>
  );
}

type DrawnProps = InnerProps & { onMark: (value: string | null) => void };

function Drawn(props: DrawnProps): ReactNode {
  const isStill = useReducedMotion();
  const { kind, rows, series } = props;
  const still = { isAnimationActive: isStill !== true };
  const isByGroup = !hasDays(props);
  const shared = sharedOf(props);
  const axes = isByGroup ? groupAxes(props) : dayAxes(props);
  switch (kind) {
    case 'line':
      return (
        <LineChart
          {...shared}
          {...dayAxes(props)}
          series={series.map(dashed)}
          curveType="linear"
          withDots={rows.length === 1}
          lineProps={{ ...still, activeDot: MARKED }}
          lineChartProps={INNER}
        />
      );
    case 'area':
      return <AreaOfDays {...props} />;
    case 'stacked':
      return (
        <BarChart
          {...shared}
          {...axes}
          series={series}
          type="stacked"
          barProps={still}
          barChartProps={INNER}
          maxBarWidth={32}
        />
      );
    case 'bar':
      return (
        <BarChart
          {...shared}
          {...axes}
          series={series}
          barProps={still}
          barChartProps={INNER}
          maxBarWidth={32}
        />
      );
    default:
      return kind satisfies never;
  }
}

/** Names do not fit below bars, so groups are horizontal bars. */
function hasDays({ rows, x }: InnerProps): boolean {
  return rows.every((row) => isDay(row[x]));
}

function sharedOf(props: DrawnProps) {
  const { rows, x, series, height, format, onMark } = props;
  return {
    h: hasDays(props) ? height : Math.max(height, rows.length * ROW_PX + 60),
    data: rows,
    dataKey: x,
    withLegend: series.length > 1,
    tickLine: 'none' as const,
    ...(format ? { valueFormatter: format } : {}),
    tooltipProps: {
      content: ({ active, label }: { active?: boolean; label?: unknown }) => (
        <ChartTip {...props} label={active === true ? String(label) : null} onMark={onMark} />
      ),
    },
  };
}

/** The last label is centered on its tick, and so extends beyond it. */
const INNER = { margin: { right: 24 } };

/** An area, and a line for each dashed series. */
function AreaOfDays(props: DrawnProps): ReactNode {
  return (
    <CompositeChart
      {...sharedOf(props)}
      {...dayAxes(props)}
      series={props.series.map((entry) => ({
        ...dashed(entry),
        type: entry.isDashed === true ? ('line' as const) : ('area' as const),
      }))}
      curveType="linear"
      withDots={props.rows.length === 1}
      lineProps={{ activeDot: MARKED }}
      areaProps={{ activeDot: MARKED }}
      composedChartProps={INNER}
    />
  );
}

function dashed({ isDashed, ...entry }: InnerProps['series'][number]) {
  return isDashed === true ? { ...entry, strokeDasharray: '4 4' } : entry;
}

/** The marked point of a line. */
const MARKED = { r: 4, strokeWidth: 2, stroke: 'var(--mantine-color-body)' };

/** Every label is shown, because the ticks are chosen so that they fit. */
const ALL = { interval: 0 } as const;

function dayAxes(props: InnerProps) {
  const days = props.rows.map((row) => String(row[props.x]));
  const ticks = valueTicks(props);
  const { format = String } = props;
  return {
    gridAxis: 'x' as const,
    xAxisProps: { ...ALL, ticks: dayTicks(days), tickFormatter: axisLabel },
    yAxisProps: { ...ALL, ...scaleOf(ticks), width: widthOf(ticks.map(format)) },
  };
}

function groupAxes(props: InnerProps) {
  const names = props.rows.map((row) => cut(axisLabel(row[props.x])));
  return {
    orientation: 'vertical' as const,
    gridAxis: 'y' as const,
    xAxisProps: { ...ALL, ...scaleOf(valueTicks(props)) },
    yAxisProps: {
      ...ALL,
      tickFormatter: (value: unknown) => cut(axisLabel(value)),
      width: widthOf(names),
    },
  };
}

function scaleOf(ticks: number[]) {
  return { ticks, domain: [0, ticks.at(-1) ?? 1], allowDecimals: false };
}

function widthOf(labels: string[]): number {
  return Math.max(...labels.map(({ length }) => length), 2) * LETTER_PX + 18;
}

/** A line break is not possible between characters that belong together. */
function cut(name: string): string {
  const short = name.length > LABEL_MAX ? `${name.slice(0, LABEL_MAX - 1)}…` : name;
  return short.replaceAll(' ', '\u00A0');
}
