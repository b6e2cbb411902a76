export type QuietHours = { start: string; end: string; timeZone: string };

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the local time as `HH:MM`. A format is created once per zone, because that costs more than its use. */
export function localTime(at: number, timeZone: string): string {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(timeZone, format);
  }
  return format.format(at);
}

/** Compares local times, unlike the product, which computes the end of the quiet hours. */
export function isQuietTime(at: number, { start, end, timeZone }: QuietHours): boolean {
  const time = localTime(at, timeZone);
  return start < end ? time >= start && time < end : start !== end && (time >= start || time < end);
}
