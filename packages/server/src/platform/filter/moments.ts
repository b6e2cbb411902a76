import { parseInstant, timestampText } from '../time/time-text.ts';
import type { FieldFault } from '../fault.ts';

type TimeTerm = { key: string; negated: boolean; values: readonly (readonly string[])[] };

/** A range of times in milliseconds: from `from` on and before `until`. Null: no limit. */
export type TimeRange = { from: number | null; until: number | null };

/** Values that are times: a day, or a time after < or >, such as `seen:>2026-01-01`. */
const MOMENT = /^([<>]?)(.+)$/;

/** Returns the ranges of times that the values of a term mean, or its errors. A day is a day of the zone. */
export function readSpans({ key, values }: TimeTerm, zone: string): TimeRange[] | FieldFault[] {
  const spans = values.map(([text = '', ...more]) => (more.length === 0 ? spanOf(text, zone) : null));
  if (spans.every((span) => span !== null)) return spans;
  return [{ message: `${key} must be a date such as 2026-01-31, or one after < or >`, field: 'filter' }];
}

function spanOf(text: string, zone: string): TimeRange | null {
  const [, sign = '', moment = ''] = MOMENT.exec(text) ?? [];
  const instant = parseInstant(moment);
  if (Number.isNaN(instant)) return null;
  const [at, end] = moment.length === 10 ? dayIn(moment, zone) : [instant, instant + 1];
  if (sign === '<') return { from: null, until: at };
  return sign === '>' ? { from: end, until: null } : { from: at, until: end };
}

/** The start and the end of a day. A day with a change of the clock has 23 or 25 hours. */
function dayIn(day: string, zone: string): [number, number] {
  const date = Temporal.PlainDate.from(day);
  const startOf = (of: Temporal.PlainDate): number => of.toZonedDateTime(zone).epochMilliseconds;
  return [startOf(date), startOf(date.add({ days: 1 }))];
}

/** Returns whether a time is in one of the ranges. */
export function isWithin(spans: readonly TimeRange[], at: number): boolean {
  return spans.some(({ from, until }) => (from === null || at >= from) && (until === null || at < until));
}

/** A condition on a column with times. Each range compares the bare column, so that an index on it helps. */
export function spansSql(
  spans: readonly TimeRange[],
  column: string,
  bind: (value: string) => string,
): string {
  const conditions = spans.map(({ from, until }) => {
    const parts = [
      ...(from === null ? [] : [`${column} >= ${bind(timestampText(from))}::timestamptz`]),
      ...(until === null ? [] : [`${column} < ${bind(timestampText(until))}::timestamptz`]),
    ];
    return `(${parts.join(' AND ')})`;
  });
  return `(${conditions.join(' OR ')})`;
}
