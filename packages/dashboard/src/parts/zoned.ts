/** Converts between instants and local times of a zone. The browser's own zone is never used. */

export type Local = { date: string; time: string };

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local time of a zone at an instant, as `2026-01-15` and `09:00`. */
export function localOf(at: number, zone: string): Local {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return { date: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}` };
}

/** The instant of a local time; a skipped time moves forward by the gap; null for an invalid time. */
export function instantOf({ date, time }: Local, zone: string): number | null {
  const asUtc = Date.parse(`${date}T${time}:00.000Z`);
  if (Number.isNaN(asUtc)) return null;
  let at = asUtc;
  // The offset from UTC depends on the instant itself: two rounds find it.
  for (let n = 0; n < 2; n++) at = asUtc - offsetAt(at, zone);
  return at;
}

function offsetAt(at: number, zone: string): number {
  const { date, time } = localOf(at, zone);
  return Date.parse(`${date}T${time}:00.000Z`) - (at - (at % 60_000));
}

/** 9:00 of the next day in the zone. */
export function tomorrowAtNine(now: number, zone: string): number {
  const today = Date.parse(`${localOf(now, zone).date}T00:00:00.000Z`);
  const date = new Date(today + 86_400_000).toISOString().slice(0, 10);
  return instantOf({ date, time: '09:00' }, zone) ?? now;
}
