import { sha256 } from '../../../platform/crypto/hash.ts';
import { recentMap } from '../../../platform/async/recent-map.ts';
import type { Outlet, QuietWindow } from './facts.ts';

/**
 * Quiet hours that hold emails. Without a relay emails stay in the test inbox and wake no recipient. The default would only delay the first
 * email of a new installation until the morning. Quiet hours that a project set itself always hold.
 */
export function quietHoursInForce(
  { quietHours, isQuietHoursSet }: { quietHours: QuietWindow | null; isQuietHoursSet: boolean },
  { kind }: Pick<Outlet, 'kind'>,
): QuietWindow | null {
  return kind === 'relay' || isQuietHoursSet ? quietHours : null;
}

/** Emails that waited for the end of quiet hours are spread over this time, each at its own time. */
const SPREAD_MS = 30 * 60_000;

/** Returns the first time outside quiet hours if `atMs` is within them, otherwise null. An equal start and end mean no quiet hours. */
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
 * Returns when a draft that waited for the end of quiet hours is checked again. Its id determines its position in the spread, so repeated
 * checks agree. If the next quiet hours begin sooner, the spread ends there.
 */
export function releaseAt(
  untilMs: number,
  draftId: string,
  where: { zone: string; window: QuietWindow },
): number {
  const { zone, window } = where;
  const opensAt = quietUntil(untilMs, zone, window) ?? untilMs;
  const open = window.start === window.end ? SPREAD_MS : spanAfter(opensAt, zone, window).start - opensAt;
  return opensAt + Math.floor(spreadPosition(draftId) * Math.min(SPREAD_MS, open));
}

/** Returns the quiet spans between two times, in order and clipped to them. */
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
    // A span across the boundary of a cached week comes in two parts.
    if (last && start <= last.end) last.end = Math.min(end, to);
    else spans.push({ start: Math.max(start, from), end: Math.min(end, to) });
    at = end;
  }
  return spans;
}

/** Returns a number from 0 to just below 1, evenly distributed over ids. */
function spreadPosition(draftId: string): number {
  return Number.parseInt(sha256(draftId).slice(0, 8), 16) / 2 ** 32;
}

/** A half-open interval in milliseconds. */
type Span = { start: number; end: number };

const DAY_MS = 86_400_000;
/** Spans are calculated and cached per week. Two conversions per day would dominate the cost of each check. */
const WEEK_MS = 7 * DAY_MS;
/**
 * A span ends at most 3.5 days after its date begins in UTC. This includes the end of the next date, half a day for the zone, and a day if
 * a country skips a date. The second date after the week ends after the week in every zone. Two more dates are needed because a clock
 * change may leave nothing of a short span.
 */
const DAYS_BEFORE = 3;
const DAYS_AFTER = 4;
/** Enough for every zone with three windows for some weeks. */
const WEEKS_MAX = 8_192;
/** Touching spans are merged. Only a span across the boundary of a cached week makes a second link. */
const CHAIN_MAX = 32;

const weeks = recentMap<Span[]>(WEEKS_MAX);

/** Returns the span that contains `atMs`, or else the next one. */
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

/** Sorts the spans, drops those that a clock change made empty, and merges those that overlap or touch. */
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
