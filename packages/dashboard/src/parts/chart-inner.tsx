import '@mantine/charts/styles.css';
import { AreaChart, BarChart, LineChart } from '@mantine/charts';
import { useReducedMotion } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { axisLabel, dayTicks, isDay, valueTicks } from './chart-axes.ts';
import type { ChartProps, Series } from './chart-with-table.tsx';

type InnerProps = Omit<ChartProps, 'series'> & { series: (Series & { color: string })[]; height: number };

const LETTER_PX = 7;
const LABEL_MAX = 22;
const ROW_PX = 30;

export default function ChartInner(props: InnerProps): ReactNode {
  const isStill = useReducedMotion();
  const { kind, rows, x, series, height, format } = props;
  const still = { isAnimationActive: isStill !== true };
  // Names do not fit below bars, so groups are horizontal bars.
  const isByGroup = !rows.every((row) => isDay(row[x]));
  const shared = {
    h: isByGroup ? Math.max(height, rows.length * ROW_PX + 60) : height,
    data: rows,
    dataKey: x,
    series,
    withLegend: series.length > 1,
    tickLine: 'none' as const,
    ...(format ? { valueFormatter: format } : {}),
    tooltipProps: { labelFormatter: axisLabel },
  };
  // The last label is centered on its tick, and so extends beyond it.
  const margin = { margin: { right: 24 } };
  const axes = isByGroup ? groupAxes(props) : dayAxes(props);
  switch (kind) {
    case 'line':
      return (
        <LineChart
          {...shared}
          {...dayAxes(props)}
          curveType="linear"
          withDots={false}
          lineProps={still}
          lineChartProps={margin}
        />
      );
    case 'area':
      return (
        <AreaChart
          {...shared}
          {...dayAxes(props)}
          curveType="linear"
          withDots={false}
          areaProps={still}
          areaChartProps={margin}
        />
      );
    case 'stacked':
      return (
        <BarChart
          {...shared}
          {...axes}
          type="stacked"
          barProps={still}
          barChartProps={margin}
          maxBarWidth={32}
        />
      );
    case 'bar':
      return <BarChart {...shared} {...axes} barProps={still} barChartProps={margin} maxBarWidth={32} />;
    default:
      return kind satisfies never;
  }
}

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
