import type { ReactNode } from 'react';

const [WIDTH, HEIGHT] = [80, 18];

/** A line of daily values. The numbers are shown beside it or in a table. */
export function Sparkline({ values, label }: { values: number[]; label: string }): ReactNode {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : WIDTH;
  const points = values
    .map(
      (value, index) =>
        `${(index * step).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`,
    )
    .join(' ');
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`${label}: from ${values[0] ?? 0} to ${values.at(-1) ?? 0}, at most ${Math.max(0, ...values)}`}
    >
      <polyline
        points={points}
        fill="none"
        stroke="var(--mantine-primary-color-light-color)"
        strokeWidth="1.5"
      />
    </svg>
  );
}
