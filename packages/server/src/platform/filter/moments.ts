import { parseInstant, timestampText } from '../time/time-text.ts';
import type { FieldFault } from '../fault.ts';

type TimeTerm = { key: string; negated: boolean; values: readonly (readonly string[])[] };

/** Values that are times: a day, or a time after < or >, such as `seen:>2026-01-01`. */
const MOMENT = /^([<>]?)(.+)$/;
const DAY_MS = 86_400_000;

/** The errors of a term whose values must be times. */
export function momentFaults({ key, values }: TimeTerm): FieldFault[] {
  const isMoment = values.every(([text = '', ...more]) => more.length === 0 && momentOf(text) !== null);
  const message = `${key} must be a date such as 2026-01-31, or one after < or >`;
  return isMoment ? [] : [{ message, field: 'filter' }];
}

/** The range of times: from `from` on and before `until`. A day is one of the zone. */
function momentOf(text: string, zone = 'UTC'): { from: number | null; until: number | null } | null {
  const [, sign = '', moment = ''] = MOMENT.exec(text) ?? [];
  const instant = parseInstant(moment);
  if (Number.isNaN(instant)) return null;
  const [at, end] = moment.length === 10 ? dayIn(moment, { instant, zone }) : [instant, instant + 1];
  if (sign === '<') return { from: null, until: at };
  return sign === '>' ? { from: end, until: null } : { from: at, until: end };
}

/** The start and the end of a day. A day with a change of the clock has 23 or 25 hours. */
function dayIn(day: string, { instant, zone }: { instant: number; zone: string }): [number, number] {
  if (zone === 'UTC') return [instant, instant + DAY_MS];
  const date = Temporal.PlainDate.from(day);
  const startOf = (of: Temporal.PlainDate): number => of.toZonedDateTime(zone).epochMilliseconds;
  return [startOf(date), startOf(date.add({ days: 1 }))];
}

type MomentsOptions = {
  bind: (value: string) => string;
  /** The zone of days; UTC by default. */
  zone?: string;
};

/** A condition on a column with times, for a term that has no errors. */
export function momentsSql(
  { values, negated }: TimeTerm,
  column: string,
  { bind, zone = 'UTC' }: MomentsOptions,
): string {
  const spans = values.flatMap(([text = '']) => momentOf(text, zone) ?? []);
  const conditions = spans.map(({ from, until }) => {
    const parts = [
      ...(from === null ? [] : [`${column} >= ${bind(timestampText(from))}::timestamptz`]),
      ...(until === null ? [] : [`${column} < ${bind(timestampText(until))}::timestamptz`]),
    ];
    return `(${parts.join(' AND ')})`;
  });
  return `${negated ? 'NOT ' : ''}(${conditions.join(' OR ')})`;
}
