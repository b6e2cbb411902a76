import type { PolicyEffect, Schedule } from '@beckon/contract/dashboard';
import { localOf } from '../../parts/zoned.ts';

/** One hour of the timeline. */
export type Cell = {
  at: string;
  until: string;
  /** `10:00` in the timeline's zone. */
  time: string;
  sends: number;
  waited: Record<string, number>;
  deadlines: number;
  /** The share of quiet time in the shown zone, from 0 to 1. */
  quiet: number;
  /** The planned emails under the tested policy; null without one. */
  tried: number | null;
};

/** `blanks`: past hours of the first day. */
export type Day = { date: string; cells: Cell[]; blanks: number };

const HOUR_MS = 3_600_000;

export type WeekOptions = {
  zone: string;
  /** The zone whose quiet hours are shown. */
  band: string | undefined;
  tried: PolicyEffect['hours'] | undefined;
};

/** The hours of the schedule by local day: a day on which the clocks change is an hour shorter or longer. */
export function daysOf(schedule: Schedule, options: WeekOptions): Day[] {
  const cellAt = cellMaker(schedule, options);
  const days: Day[] = [];
  for (let at = Date.parse(schedule.from); at < Date.parse(schedule.to); at += HOUR_MS) {
    const { date, time } = localOf(at, options.zone);
    const cell = cellAt(at, time);
    const day = days.at(-1);
    if (day?.date === date) day.cells.push(cell);
    else days.push({ date, cells: [cell], blanks: days.length === 0 ? Number(time.slice(0, 2)) : 0 });
  }
  return days;
}

function cellMaker(schedule: Schedule, { band, tried }: WeekOptions): (at: number, time: string) => Cell {
  const hours = new Map(schedule.hours.map((hour) => [Date.parse(hour.at), hour]));
  const triedAt = tried && new Map(tried.map(({ at, proposed }) => [Date.parse(at), proposed]));
  const spans = (schedule.quiet.find(({ zone }) => zone === band)?.spans ?? []).map(({ from, to }) => ({
    from: Date.parse(from),
    to: Date.parse(to),
  }));
  return (at, time) => ({
    ...NOTHING,
    ...hours.get(at),
    at: new Date(at).toISOString(),
    until: new Date(at + HOUR_MS).toISOString(),
    time,
    quiet: quietShare(spans, at),
    tried: triedAt ? (triedAt.get(at) ?? 0) : null,
  });
}

const NOTHING = { sends: 0, waited: {}, deadlines: 0 };

function quietShare(spans: { from: number; to: number }[], at: number): number {
  const quiet = spans.reduce(
    (sum, { from, to }) => sum + Math.max(0, Math.min(to, at + HOUR_MS) - Math.max(from, at)),
    0,
  );
  return quiet / HOUR_MS;
}

/** The value of the highest bar. */
export function highest(days: Day[]): number {
  return Math.max(
    1,
    ...days.flatMap(({ cells }) => cells.map(({ sends, tried }) => Math.max(sends, tried ?? 0))),
  );
}

/** The cell this many hours further, for the arrow keys; the same cell at the ends. */
export function cellBeside(days: Day[], at: string, hours: number): string {
  const cells = days.flatMap((day) => day.cells);
  const from = cells.findIndex((cell) => cell.at === at);
  const to = Math.min(cells.length - 1, Math.max(0, from + hours));
  return cells[to]?.at ?? at;
}
