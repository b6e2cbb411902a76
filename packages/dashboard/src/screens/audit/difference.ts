export type Difference = { field: string; before: string | null; after: string | null };

/** The changed fields; a value without fields counts as one field. */
export function differenceOf(before: unknown, after: unknown): Difference[] {
  if (!isRecord(before) && !isRecord(after)) return withChange([rowOf('value', before, after)]);
  const [was, is] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
  const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return withChange(fields.map((field) => rowOf(field, was[field], is[field])));
}

function rowOf(field: string, before: unknown, after: unknown): Difference {
  return { field, before: toText(before), after: toText(after) };
}

function withChange(rows: Difference[]): Difference[] {
  return rows.filter(({ before, after }) => before !== after);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}
