/** A moment for people, to the minute: the same everywhere, so that two who talk about it mean the same. */
export function when(moment: string | null | undefined): string {
  if (moment === null || moment === undefined) return '-';
  const at = new Date(moment);
  return Number.isNaN(at.getTime()) ? moment : `${at.toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s`, `15m`, `24h`, `30d`, in milliseconds; null for what is none. */
export function readDuration(text: string): number | null {
  const found = /^(\d{1,6})([smhd])$/.exec(text);
  return found ? Number(found[1]) * UNITS[found[2] as keyof typeof UNITS] : null;
}
