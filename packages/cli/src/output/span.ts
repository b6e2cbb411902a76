const UNITS: [ms: number, name: string][] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
];

/** A length of time in its largest unit: "250 ms", "3 minutes". */
export function span(ms: number): string {
  const [unit, name] = UNITS.find(([least]) => ms >= least) ?? [];
  if (unit === undefined || name === undefined) return `${Math.round(ms)} ms`;
  const units = Math.floor(ms / unit);
  return `${units.toLocaleString('en-US')} ${name}${units === 1 ? '' : 's'}`;
}
