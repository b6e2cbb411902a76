/** A number of emails in a span of time. */
export type Rate = { emails: number; perMs: number };

const RATE = /^([1-9]\d{0,5})\/([smh])$/;
const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

export const RATE_SYNTAX = 'emails a second, minute or hour such as 10/s, 300/m or 5000/h';

/** Parses `10/s`; returns undefined for anything else. */
export function parseRate(text: string): Rate | undefined {
  const [, emails, unit] = RATE.exec(text) ?? [];
  const perMs = UNITS_MS[unit as keyof typeof UNITS_MS] as number | undefined;
  return perMs === undefined ? undefined : { emails: Number(emails), perMs };
}

export function printRate({ emails, perMs }: Rate): string {
  const unit = Object.entries(UNITS_MS).find(([, ms]) => ms === perMs)?.[0] ?? 's';
  return `${emails}/${unit}`;
}
