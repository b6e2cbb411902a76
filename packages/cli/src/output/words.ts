import { painter, type Paint } from './paint.ts';

/** Helpers of views: times in words, and colors if the output shows them. */
export type Words = {
  /** A time: "in 2 hours" or "Nov 24, 09:15" on a terminal, ISO 8601 in a pipe. */
  when: (moment: string | null | undefined) => string | null;
  /** A time to the second, in the time zone of this machine on a terminal, ISO 8601 in a pipe. */
  at: (moment: string) => string;
  paint: Paint;
};

export function wordsFor({ isTerminal, isPainted, now }: WordsOptions): Words {
  return {
    when: (moment) => (moment == null || !isTerminal ? (moment ?? null) : inWords(moment, now())),
    at: (moment) => (isTerminal ? absolute(Date.parse(moment), now(), { second: '2-digit' }) : moment),
    paint: painter(isPainted),
  };
}

export type WordsOptions = { isTerminal: boolean; isPainted: boolean; now: () => number };

/** A code such as `delivery_unknown` in words. */
export function plain(code: string): string {
  return code.replaceAll('_', ' ');
}

/** `1 draft`, `1,234 drafts`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? noun : plural}`;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const UNITS: [ms: number, name: string][] = [
  [DAY_MS, 'day'],
  [3_600_000, 'hour'],
  [MINUTE_MS, 'minute'],
  [1_000, 'second'],
];

/** A length of time in its largest unit: "250 ms", "3 minutes". */
export function span(ms: number): string {
  const [least, name] = UNITS.find(([unit]) => ms >= unit) ?? [1];
  return name === undefined ? `${Math.round(ms)} ms` : count(Math.floor(ms / least), name);
}

/** Relative within a day, absolute in the time zone of this machine beyond it. */
function inWords(moment: string, now: number): string {
  const at = Date.parse(moment);
  if (Number.isNaN(at)) return moment;
  const away = Math.abs(at - now);
  if (away >= DAY_MS) return absolute(at, now);
  if (away < MINUTE_MS) return at > now ? 'in less than a minute' : 'just now';
  return at > now ? `in ${span(away)}` : `${span(away)} ago`;
}

function absolute(at: number, now: number, more: Intl.DateTimeFormatOptions = {}): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat('en-US', {
    month: 'short',
    day: 'numeric',
    ...(isThisYear ? {} : { year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...more,
  }).format(at);
}
