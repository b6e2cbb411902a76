import { axisLabel, dayTicks, isDay, type Scaled, valueTicks } from './chart-axes.ts';

/** What a layout depends on. `width` and `height` are those of the drawing. */
type Measured = Scaled & {
  x: string;
  format: (value: number) => string;
  width: number;
  height: number;
};

type Tick = { at: number; label: string };
type Rect = { x: number; y: number; width: number; height: number };

export type ChartLayout = {
  /** Names do not fit below bars, so groups are horizontal bars. Days go from left to right. */
  isByGroup: boolean;
  plot: Rect;
  values: Tick[];
  names: Tick[];
  /** Where each row is, along the axis of the names. */
  centers: number[];
  /** The place of a value, along the other axis. */
  placeOf: (value: number) => number;
  /** The space that the bars of a row share. */
  band: number;
};

const LETTER_PX = 7;
const LABEL_MAX = 22;
const ROW_PX = 30;
const AXIS_PX = 24;
/** The last label is centered on its tick, and so extends beyond it. */
const RIGHT_PX = 24;
const TOP_PX = 8;
const BAND_SHARE = 0.8;
const BAR_MAX_PX = 32;

/** Groups need a row each. */
export function heightOf({ rows, x }: Pick<Measured, 'rows' | 'x'>, least: number): number {
  return hasDays({ rows, x }) ? least : Math.max(least, rows.length * ROW_PX + 60);
}

function hasDays({ rows, x }: Pick<Measured, 'rows' | 'x'>): boolean {
  return rows.every((row) => isDay(row[x]));
}

export function layoutOf(chart: Measured): ChartLayout {
  return hasDays(chart) ? dayLayout(chart) : groupLayout(chart);
}

function dayLayout(chart: Measured): ChartLayout {
  const { rows, x, kind, format } = chart;
  const ticks = valueTicks(chart);
  const plot = plotOf(chart, widthOf(ticks.map(format)));
  const band = plot.width / rows.length;
  // A line begins at the axis, and a bar has its own space.
  const isBars = kind === 'bar' || kind === 'stacked' || rows.length === 1;
  const step = isBars ? band : plot.width / (rows.length - 1);
  const centers = rows.map((_, at) => plot.x + (isBars ? band / 2 : 0) + at * step);
  const labeled = new Set(dayTicks(rows.map((row) => String(row[x]))));
  const placeOf = (value: number): number => plot.y + plot.height * (1 - value / (ticks.at(-1) ?? 1));
  return {
    isByGroup: false,
    plot,
    values: ticks.map((value) => ({ at: placeOf(value), label: format(value) })),
    names: rows.flatMap((row, at) =>
      labeled.has(String(row[x])) ? [{ at: centers[at] ?? 0, label: axisLabel(row[x]) }] : [],
    ),
    centers,
    placeOf,
    band: band * BAND_SHARE,
  };
}

function groupLayout(chart: Measured): ChartLayout {
  const { rows, x } = chart;
  const ticks = valueTicks(chart);
  const labels = rows.map((row) => cut(axisLabel(row[x])));
  const plot = plotOf(chart, widthOf(labels));
  const band = plot.height / rows.length;
  const centers = rows.map((_, at) => plot.y + (at + 0.5) * band);
  const placeOf = (value: number): number => plot.x + (plot.width * value) / (ticks.at(-1) ?? 1);
  return {
    isByGroup: true,
    plot,
    values: ticks.map((value) => ({ at: placeOf(value), label: value.toLocaleString('en-GB') })),
    names: labels.map((label, at) => ({ at: centers[at] ?? 0, label })),
    centers,
    placeOf,
    band: band * BAND_SHARE,
  };
}

function plotOf({ width, height }: Measured, left: number): Rect {
  return {
    x: left,
    y: TOP_PX,
    width: Math.max(1, width - left - RIGHT_PX),
    height: Math.max(1, height - TOP_PX - AXIS_PX),
  };
}

function widthOf(labels: string[]): number {
  return Math.max(...labels.map(({ length }) => length), 2) * LETTER_PX + 18;
}

function cut(name: string): string {
  return name.length > LABEL_MAX ? `${name.slice(0, LABEL_MAX - 1)}…` : name;
}

/** The row that is nearest to a position along the axis of the names. */
export function nearestRow({ centers }: ChartLayout, at: number): number {
  const distances = centers.map((center) => Math.abs(center - at));
  return distances.indexOf(Math.min(...distances));
}

type Bar = Rect & { series: number };

/** The bars of a row: beside each other, or on top of each other. */
export function barsOf(layout: ChartLayout, chart: Scaled, at: number): Bar[] {
  const isStacked = chart.kind === 'stacked';
  const thickness = Math.min(BAR_MAX_PX, layout.band / (isStacked ? 1 : chart.series.length));
  const all = isStacked ? thickness : thickness * chart.series.length;
  const first = (layout.centers[at] ?? 0) - all / 2;
  let below = 0;
  return chart.series.map(({ name }, series) => {
    const value = Number(chart.rows[at]?.[name] ?? 0);
    const [from, to] = [layout.placeOf(below), layout.placeOf(below + value)];
    if (isStacked) below += value;
    const across = first + (isStacked ? 0 : series * thickness);
    return layout.isByGroup
      ? { series, x: from, y: across, width: to - from, height: thickness }
      : { series, x: across, y: to, width: thickness, height: from - to };
  });
}

export type Place = { x: number; y: number };

/** The line of a series. A row without a value interrupts it. */
export function linesOf(layout: ChartLayout, { rows }: Scaled, name: string): Place[][] {
  const lines: Place[][] = [];
  rows.forEach((row, at) => {
    const value = row[name];
    if (typeof value !== 'number') return;
    const place = { x: layout.centers[at] ?? 0, y: layout.placeOf(value) };
    const continues = at > 0 && typeof rows[at - 1]?.[name] === 'number';
    if (continues) lines.at(-1)?.push(place);
    else lines.push([place]);
  });
  return lines;
}
