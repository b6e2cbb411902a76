import { parseInstant, timestampText } from '../time/time-text.ts';
import type { FieldFault } from '../fault.ts';
import type { Bind, FilterTerm } from './filter.ts';

/** Values that are times: a day, or a time after < or >, such as `seen:>2026-01-01`. */
const MOMENT = /^([<>]?)(.+)$/;
const DAY_MS = 86_400_000;

/** The errors of a term whose values must be times. */
export function momentFaults({ key, values }: FilterTerm): FieldFault[] {
  const isMoment = values.every(([text = '', ...more]) => more.length === 0 && momentOf(text) !== null);
  const message = `${key} must be a date such as 2026-01-31, or one after < or >`;
  return isMoment ? [] : [{ message, field: 'filter' }];
}

/** The range of times: from `from` on and before `until`. */
function momentOf(text: string): { from: number | null; until: number | null } | null {
  const [, sign = '', moment = ''] = MOMENT.exec(text) ?? [];
  const at = parseInstant(moment);
  if (Number.isNaN(at)) return null;
  if (sign === '<') return { from: null, until: at };
  const isDay = moment.length === 10;
  if (sign === '>') return { from: isDay ? at + DAY_MS : at + 1, until: null };
  return { from: at, until: isDay ? at + DAY_MS : at + 1 };
}

/** A condition on a column with times, for a term that has no errors. */
export function momentsSql({ values, negated }: FilterTerm, column: string, bind: Bind): string {
  const spans = values.flatMap(([text = '']) => momentOf(text) ?? []);
  const conditions = spans.map(({ from, until }) => {
    const parts = [
      ...(from === null ? [] : [`${column} >= ${bind(timestampText(from))}::timestamptz`]),
      ...(until === null ? [] : [`${column} < ${bind(timestampText(until))}::timestamptz`]),
    ];
    return `(${parts.join(' AND ')})`;
  });
  return `${negated ? 'NOT ' : ''}(${conditions.join(' OR ')})`;
}
