import { describe, expect, test } from 'vitest';
import { barsOf, heightOf, layoutOf, linesOf, nearestRow } from './chart-layout.ts';

const DAYS = Array.from({ length: 5 }, (_, at) => `2026-11-0${at + 1}`);
const SIZE = { width: 400, height: 200, format: String };

function days(kind: 'bar' | 'stacked' | 'line' | 'area', ...values: (number | null)[]) {
  return {
    kind,
    x: 'day',
    rows: values.map((sent, at) => ({ day: DAYS[at] ?? '', sent })),
    series: [{ name: 'sent' }],
  };
}

describe('layoutOf', () => {
  test('places a line from axis to axis, and bars in the middle of their space', () => {
    const { plot, centers } = layoutOf({ ...days('line', 1, 2, 3), ...SIZE });
    expect(centers).toEqual([plot.x, plot.x + plot.width / 2, plot.x + plot.width]);
    const bars = layoutOf({ ...days('bar', 1, 2, 3), ...SIZE });
    expect(bars.centers[0]).toBeCloseTo(plot.x + plot.width / 6);
  });

  test('places the largest tick at the top and 0 at the bottom', () => {
    const { plot, values, placeOf } = layoutOf({ ...days('line', 1, 4), ...SIZE });
    expect(values.map(({ label }) => label)).toEqual(['0', '1', '2', '3', '4']);
    expect(placeOf(0)).toBe(plot.y + plot.height);
    expect(placeOf(4)).toBe(plot.y);
  });

  test('draws groups as rows with one label each, and shortens long names', () => {
    const names = ['welcome', 'a rule whose name is long for its chart'];
    const rows = names.map((name, sent) => ({ name, sent }));
    const chart = { kind: 'bar' as const, x: 'name', rows, series: [{ name: 'sent' }] };
    const layout = layoutOf({ ...chart, ...SIZE });
    expect(layout.isByGroup).toBe(true);
    expect(layout.names.map(({ label }) => label)).toEqual(['welcome', 'a rule whose name is …']);
    expect(heightOf({ ...chart, rows: Array.from({ length: 12 }, () => ({ name: 'x' })) }, 220)).toBe(420);
    expect(heightOf(days('bar', 1), 220)).toBe(220);
  });

  test('places a single day in the middle', () => {
    const { plot, centers } = layoutOf({ ...days('line', 1), ...SIZE });
    expect(centers).toEqual([plot.x + plot.width / 2]);
  });
});

describe('nearestRow', () => {
  test('returns the row with the nearest center, also beyond the axes', () => {
    const layout = layoutOf({ ...days('line', 1, 2, 3), ...SIZE });
    const middle = layout.plot.x + layout.plot.width / 2;
    expect([0, middle - 10, middle + 10, 400].map((at) => nearestRow(layout, at))).toEqual([0, 1, 1, 2]);
  });
});

describe('barsOf', () => {
  test('stacks the series on each other without a gap', () => {
    const rows = [{ day: '2026-11-01', a: 3, b: 5 }];
    const chart = { kind: 'stacked' as const, x: 'day', rows, series: [{ name: 'a' }, { name: 'b' }] };
    const layout = layoutOf({ ...chart, ...SIZE });
    const [a, b] = barsOf(layout, chart, 0);
    expect(a && a.y + a.height).toBe(layout.placeOf(0));
    expect(b && b.y + b.height).toBeCloseTo(a?.y ?? 0);
    expect(b?.y).toBeCloseTo(layout.placeOf(8));
  });

  test('places several series beside each other, around the center of the row', () => {
    const rows = [{ name: 'welcome', a: 3, b: 5 }];
    const chart = { kind: 'bar' as const, x: 'name', rows, series: [{ name: 'a' }, { name: 'b' }] };
    const layout = layoutOf({ ...chart, ...SIZE });
    const [a, b] = barsOf(layout, chart, 0);
    expect(a && a.y + a.height).toBe(b?.y);
    expect(b?.y).toBeCloseTo(layout.centers[0] ?? 0);
    expect([a?.width, b?.width]).toEqual([3, 5].map((value) => layout.placeOf(value) - layout.plot.x));
  });
});

describe('linesOf', () => {
  test('interrupts the line where a row has no value', () => {
    const chart = days('line', 1, 2, null, 3);
    const lines = linesOf(layoutOf({ ...chart, ...SIZE }), chart, 'sent');
    expect(lines.map(({ length }) => length)).toEqual([2, 1]);
  });
});
