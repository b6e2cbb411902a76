/** Formats times. The caller always passes the zone; the browser's own zone is never used. */

export type TimeStyle = 'short' | 'long' | 'day' | 'clock' | 'minute';

const STYLES: Record<TimeStyle, Intl.DateTimeFormatOptions> = {
  short: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  long: {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  minute: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
};

const formats = new Map<string, Intl.DateTimeFormat>();

export function formatTime(at: string | Date, zone: string, style: TimeStyle = 'short'): string {
  const key = `${zone} ${style}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { ...STYLES[style], timeZone: zone });
    formats.set(key, format);
  }
  return format.format(new Date(at)).replace(' at ', ', ');
}

const UNITS: [string, number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** "3 h 10 min", "2 d 4 h", "45 s": the two largest units that count. */
export function formatSpan(ms: number): string {
  let seconds = Math.max(0, Math.round(Math.abs(ms) / 1_000));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    if (count === 0 && parts.length === 0) continue;
    if (count > 0) parts.push(`${count} ${unit}`);
    seconds -= count * size;
    if (parts.length === 2 || count === 0) break;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** "in 3 h 10 min", "2 d ago", "now". */
export function formatRelative(at: string | Date, now: number): string {
  const ms = new Date(at).getTime() - now;
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `in ${formatSpan(ms)}` : `${formatSpan(ms)} ago`;
}
