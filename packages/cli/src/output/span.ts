import { count } from './words.ts';

const UNITS: [ms: number, name: string][] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
];

/** A length of time in its largest unit: "250 ms", "3 minutes". */
export function span(ms: number): string {
  const [least, name] = UNITS.find(([unit]) => ms >= unit) ?? [1];
  return name === undefined ? `${Math.round(ms)} ms` : count(Math.floor(ms / least), name);
}
