/**
 * Formats numbers, ids, booleans or moments as an array parameter of PostgreSQL. node-postgres would check each element for characters to
 * escape. For a thousand rows that costs more than the database needs to read them. Never use it for user-supplied text.
 */
export function plainList(values: (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Formats moments in milliseconds in the same way. */
export function momentList(values: (number | null)[]): string {
  return plainList(values.map((ms) => (ms === null ? null : new Date(ms).toISOString())));
}
