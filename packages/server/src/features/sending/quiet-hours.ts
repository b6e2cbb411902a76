import { sha256 } from '../../base/hash.ts';
import { recentMap } from '../../base/recent-map.ts';
import type { Outlet } from './sender.ts';

/**
 * Quiet hours in the recipient's own time. Every local date d has one quiet span, from `start` on d to `end` on d, or on
 * the next date where the end is not after the start. Both become instants by one rule: a time that a change of the clocks
 * skips is shifted by that change, a time that comes twice means its second coming. So the night on which clocks go back
 * stays quiet to its real end, and no span ends before an instant that lies in it.
 */
export type QuietWindow = { start: string; end: string };

/**
 * Quiet hours that hold emails. Without a relay emails stay in the test inbox and wake no recipient, so the default would only delay
 * the first email of a new installation until the morning. Quiet hours that a project set itself always hold.
 */
export function quietHoursInForce(
  { quietHours, isQuietHoursSet }: { quietHours: QuietWindow | null; isQuietHoursSet: boolean },
  { kind }: Pick<Outlet, 'kind'>,
): QuietWindow | null {
  return kind === 'relay' || isQuietHoursSet ? quietHours : null;
}

/** So long after the end of quiet hours the letters that waited for it go, each at a moment of its own. */
const SPREAD_MS = 30 * 60_000;

/** When it is quiet at `atMs`: the first moment at which it is not. The same start and end are no window at all. */
export function quietUntil(atMs: number, zone: string, window: QuietWindow): number | null {
  if (window.start === window.end) return null;
  let until = atMs;
  for (let links = 0; links < CHAIN_MAX; links++) {
    const span = spanAfter(until, zone, window);
    if (until < span.start) return until === atMs ? null : until;
    until = span.end;
  }
  throw new Error(`quiet hours ${window.start}-${window.end} never end in ${zone}`);
}

/**
 * When a draft that waited for the end of quiet hours is asked again. The place in the spread is that of its id, so that it
 * is the same however often it is asked; where the next quiet hours begin sooner, the spread ends with the open time.
 */
export function releaseAt(
  untilMs: number,
  draftId: string,
  where: { zone: string; window: QuietWindow },
): number {
  const { zone, window } = where;
  const opensAt = quietUntil(untilMs, zone, window) ?? untilMs;
  const open = window.start === window.end ? SPREAD_MS : spanAfter(opensAt, zone, window).start - opensAt;
  return opensAt + Math.floor(placeOf(draftId) * Math.min(SPREAD_MS, open));
}

/** When it is quiet between two moments, in order; what reaches over one of them is cut there. */
export function quietSpans(
  zone: string,
  window: QuietWindow,
  { from, to }: { from: number; to: number },
): Span[] {
  const spans: Span[] = [];
  if (window.start === window.end) return spans;
  for (let at = from; at < to;) {
    const { start, end } = spanAfter(at, zone, window);
    if (start >= to) break;
    const last = spans.at(-1);
    // What runs over the end of a worked-out week comes in two parts.
    if (last && start <= last.end) last.end = Math.min(end, to);
    else spans.push({ start: Math.max(start, from), end: Math.min(end, to) });
    at = end;
  }
  return spans;
}

/** From 0 to just below 1, evenly over all ids. */
function placeOf(draftId: string): number {
  return Number.parseInt(sha256(draftId).slice(0, 8), 16) / 2 ** 32;
}

/** Half open, in milliseconds. */
type Span = { start: number; end: number };

const DAY_MS = 86_400_000;
/** Spans are worked out for a week at a time: two conversions a day would cost each question more than all the rest. */
const WEEK_MS = 7 * DAY_MS;
/**
 * A span ends at most 3.5 days after its date begins in UTC: to the end of the next date, half a day for the zone, and a day
 * where a country leaves out a date. One of the second date after the week ends after the week in every zone; two dates more,
 * because a change of the clocks may leave nothing of a short one.
 */
const DAYS_BEFORE = 3;
const DAYS_AFTER = 4;
/** Every zone with three windows for some weeks. */
const WEEKS_MAX = 8_192;
/** Spans that touch are one; only what runs over the end of a worked-out week makes a second link. */
const CHAIN_MAX = 32;

const weeks = recentMap<Span[]>(WEEKS_MAX);

/** The span that `atMs` lies in, else the next one. */
function spanAfter(atMs: number, zone: string, window: QuietWindow): Span {
  const week = Math.floor(atMs / WEEK_MS);
  const key = `${zone} ${window.start} ${window.end} ${week}`;
  let spans = weeks.get(key);
  if (!spans) weeks.set(key, (spans = spansOf(week, zone, window)));
  for (const span of spans) if (atMs < span.end) return span;
  throw new Error(`no quiet hours ${window.start}-${window.end} in ${zone} after ${atMs}`);
}

function spansOf(week: number, zone: string, window: QuietWindow): Span[] {
  const [start, end] = [Temporal.PlainTime.from(window.start), Temporal.PlainTime.from(window.end)];
  const overnight = Temporal.PlainTime.compare(end, start) < 0;
  const first = Temporal.Instant.fromEpochMilliseconds(week * WEEK_MS)
    .toZonedDateTimeISO('UTC')
    .toPlainDate()
    .subtract({ days: DAYS_BEFORE });
  const spans: Span[] = [];
  for (let day = 0; day < DAYS_BEFORE + 7 + DAYS_AFTER; day++) {
    const date = first.add({ days: day });
    spans.push({
      start: instantOf(date.toPlainDateTime(start), zone),
      end: instantOf(date.add({ days: overnight ? 1 : 0 }).toPlainDateTime(end), zone),
    });
  }
  return joined(spans);
}

function instantOf(local: Temporal.PlainDateTime, zone: string): number {
  return local.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds;
}

/** In order, without those that a change of the clocks made empty; those that overlap or touch are one. */
function joined(spans: Span[]): Span[] {
  const real = spans.filter((span) => span.start < span.end).sort((a, b) => a.start - b.start);
  const result: Span[] = [];
  for (const span of real) {
    const last = result.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else result.push(span);
  }
  return result;
}
