import type { Point, Series } from './chart-with-table.tsx';

/** The parts of a chart that decide its scale. */
export type Scaled = {
  kind: 'bar' | 'stacked' | 'line' | 'area';
  rows: Point[];
  series: Pick<Series, 'name'>[];
};

const INTERVALS_MAX = 4;
/** Six dates of six characters fit into the narrowest chart, which has 300 px. */
const DAYS_MAX = 6;

/** Whole numbers from 0 to at least the largest value, at equal distances. */
export function valueTicks(chart: Scaled): number[] {
  const step = stepFor(largest(chart) / INTERVALS_MAX);
  const intervals = Math.max(1, Math.ceil(largest(chart) / step));
  return Array.from({ length: intervals + 1 }, (_, at) => at * step);
}

function largest({ kind, rows, series }: Scaled): number {
  const heights = rows.map((row) => {
    const values = series.map(({ name }) => Number(row[name] ?? 0));
    return kind === 'stacked' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
  });
  return Math.max(0, ...heights);
}

/** The smallest of 1, 2, 5, 10, 20, 25, 50, 100 … that is large enough. */
function stepFor(least: number): number {
  for (let power = 1; ; power *= 10)
    for (const digit of power === 1 ? [1, 2, 5] : [1, 2, 2.5, 5])
      if (digit * power >= least) return digit * power;
}

/** The labeled days: equidistant, and always with the last one. */
export function dayTicks(days: string[]): string[] {
  const every = Math.max(1, Math.ceil(days.length / DAYS_MAX));
  return days.filter((_, at) => (days.length - 1 - at) % every === 0);
}

const DAY_MS = 86_400_000;

/** Every day from the first to the last of these. */
export function daysBetween(days: string[]): string[] {
  const [first, last] = [days.toSorted().at(0), days.toSorted().at(-1)];
  if (first === undefined || last === undefined) return [];
  const count = Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(first) + at * DAY_MS).toISOString().slice(0, 10),
  );
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `2026-10-26` is "26 Oct". Other values stay unchanged. */
export function axisLabel(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return isDay(text) ? DAY.format(new Date(`${text}T12:00:00.000Z`)) : text;
}

type Words = { x: string; series: Pick<Series, 'name' | 'label'>[]; format: (value: number) => string };

/** A point in words, for screen readers: "24 Nov: Sent 12, Opened 5". */
export function pointWords(row: Point, { x, series, format }: Words): string {
  const values = series.map(({ name, label }) => {
    const value = row[name] ?? null;
    return `${label} ${typeof value === 'number' ? format(value) : (value ?? 'unknown')}`;
  });
  return `${axisLabel(row[x])}: ${values.join(', ')}`;
}

export function isDay(text: unknown): boolean {
  return typeof text === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(text);
}

export function defaultFormat(value: number): string {
  return value.toLocaleString('en-GB');
}
