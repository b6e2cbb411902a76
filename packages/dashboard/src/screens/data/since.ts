const DAY_MS = 86_400_000;

/** The start of the export, rounded to the minute so that the link stays stable; null: all data. */
export function sinceOf(span: string, now: Date): string | null {
  const days = Number(span);
  if (!Number.isFinite(days)) return null;
  const at = now.getTime() - days * DAY_MS;
  return new Date(at - (at % 60_000)).toISOString();
}
