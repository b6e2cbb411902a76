import '@mantine/charts/styles.css';
import { AreaChart, BarChart, LineChart } from '@mantine/charts';
import { useReducedMotion } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { ChartProps, Series } from './chart-with-table.tsx';

type InnerProps = Omit<ChartProps, 'series'> & { series: (Series & { color: string })[]; height: number };

export default function ChartInner({ kind, rows, x, series, height, format }: InnerProps): ReactNode {
  const isStill = useReducedMotion();
  const shared = {
    h: height,
    data: rows,
    dataKey: x,
    series,
    withLegend: series.length > 1,
    tickLine: 'none' as const,
    gridAxis: 'x' as const,
    ...(format ? { valueFormatter: format } : {}),
  };
  const still = { isAnimationActive: isStill !== true };
  switch (kind) {
    case 'line':
      return <LineChart {...shared} curveType="linear" withDots={false} lineProps={still} />;
    case 'area':
      return <AreaChart {...shared} curveType="linear" withDots={false} areaProps={still} />;
    case 'stacked':
      return <BarChart {...shared} type="stacked" barProps={still} maxBarWidth={32} />;
    case 'bar':
      return <BarChart {...shared} barProps={still} maxBarWidth={32} />;
    default:
      return kind satisfies never;
  }
}
