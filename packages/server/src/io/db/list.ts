/**
 * An array parameter of numbers, ids, truth values or moments, as PostgreSQL reads it. node-postgres would look into each
 * element for something to escape, which for a thousand rows costs more than it costs the database to read them. Never for
 * text that somebody wrote.
 */
export function plainList(values: (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** The same for moments in milliseconds. */
export function momentList(values: (number | null)[]): string {
  return plainList(values.map((ms) => (ms === null ? null : new Date(ms).toISOString())));
}
