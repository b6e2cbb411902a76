import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { runStepsSlowly } from '../../platform/time/steps.ts';
import { countOpen, findDrafts } from '../drafts/index.ts';
import { findPeople } from '../users/index.ts';
import { getSettings, type Settings } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { ruleNames, forecastOf, loadWaitingQueue } from '../explain/index.ts';
import {
  type SendServices,
  policyOf,
  type DraftForecast,
  type QueuedDraft,
  simulateQueue,
  type Policy,
  quietSpans,
  quietUntil,
  type Throttle,
  findOutlet,
} from '../delivery/index.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';

export type ScheduleDeps = { db: Pick<Database, 'session' | 'clock'>; sendServices: SendServices };

const HOUR_MS = 3_600_000;
const DAYS = 7;
const ZONES_SHOWN = 5;

/** Returns the planned emails of the next days by hour: the result of each draft that is sent automatically if no member acts. */
export function showSchedule({ db, sendServices }: ScheduleDeps, projectId: number) {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { settings, texts } = await getSettings(tx, projectId);
    const { entries, isCut, policy } = await loadForecasts(tx, { projectId, now, settings, sendServices });
    const open = await countAllOpen(tx, projectId);
    const range = { from: now - (now % HOUR_MS), to: now - (now % HOUR_MS) + DAYS * 24 * HOUR_MS };
    const { frequency_cap, throttle, time_zone } = texts;
    // The quiet hours in force: none if the default holds nothing.
    const quiet_hours = policy.quietHours ? texts.quiet_hours : 'off';
    return {
      now: iso(now),
      from: iso(range.from),
      to: iso(range.to),
      time_zone,
      paused: settings.paused,
      drafts: entries.length,
      truncated: isCut,
      waits_for_review: isCut ? 0 : Math.max(0, open - entries.length),
      hours: hoursOf(entries, range),
      beyond: beyondOf(entries, range.to),
      quiet: quietOf(entries, policy, range),
      throttle_per_hour: perHour(policy.throttle),
      policy: { quiet_hours, frequency_cap, throttle, time_zone },
    };
  });
}

/** Returns the number of emails that would be sent soon and that a pause would hold. */
export function previewPause({ db, sendServices }: ScheduleDeps, projectId: number) {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { settings } = await getSettings(tx, projectId);
    const { entries, isCut } = await loadForecasts(tx, { projectId, now, settings, sendServices });
    const leaving = (ms: number): number =>
      entries.filter(({ forecast }) => forecast.kind === 'sends' && forecast.leavesAt < now + ms).length;
    return {
      paused: settings.paused,
      next_hour: leaving(HOUR_MS),
      next_day: leaving(24 * HOUR_MS),
      open: await countAllOpen(tx, projectId),
      truncated: isCut,
    };
  });
}

async function countAllOpen(tx: Tx, projectId: number): Promise<number> {
  return [...(await countOpen(tx, projectId)).values()].reduce((a, b) => a + b, 0);
}

export type PlannedQuery = {
  projectId: number;
  /** Only drafts with this result. `from` and `to` limit the send time of drafts that are sent. */
  result: DraftForecast['kind'];
  from: number | null;
  to: number | null;
  offset: number;
  limit: number;
};

/** Lists drafts of the schedule, earliest first. */
export function listPlanned({ db, sendServices }: ScheduleDeps, query: PlannedQuery) {
  return inSnapshot(db, async (tx) => {
    const { projectId, offset, limit } = query;
    const now = db.clock.now();
    const { settings } = await getSettings(tx, projectId);
    const { entries } = await loadForecasts(tx, { projectId, now, settings, sendServices });
    const matching = entries
      .filter(({ forecast }) => matchesQuery(forecast, query))
      .toSorted((a, b) => momentOf(a) - momentOf(b) || (a.draft.id < b.draft.id ? -1 : 1));
    const rows = await scheduledDrafts(tx, projectId, matching.slice(offset, offset + limit));
    return { rows, total: matching.length };
  });
}

/** Returns the result of the oldest open draft if no member acts; null if only a member can send it. */
export async function forecastFirst(
  tx: Tx,
  query: ForecastInput,
): Promise<{ forecast: DraftForecast; zone: string; quietUntil: number | null } | null> {
  const { entries, policy } = await loadForecasts(tx, { ...query, isFirstOnly: true });
  const [entry] = entries;
  if (!entry) return null;
  const zone = entry.draft.zone ?? policy.timeZone;
  const due = Math.max(query.now, entry.draft.dueAt);
  const until = policy.quietHours && quietUntil(due, zone, policy.quietHours);
  return { forecast: entry.forecast, zone, quietUntil: until };
}

type ForecastInput = { projectId: number; now: number; settings: Settings; sendServices: SendServices };
type ScheduleEntry = { draft: QueuedDraft; forecast: DraftForecast };

async function loadForecasts(
  tx: Tx,
  query: ForecastInput & { isFirstOnly?: boolean },
): Promise<{ entries: ScheduleEntry[]; isCut: boolean; policy: Policy }> {
  // A pause has no scheduled end, so the schedule shows what would be sent without it.
  const outlet = await findOutlet(tx, query.projectId, query.sendServices.outlet);
  const policy = { ...policyOf(query.settings, outlet), paused: false };
  const { queue, isCut } = await loadWaitingQueue(tx, { ...query, policies: [policy] });
  const forecasts = await runStepsSlowly(simulateQueue(queue, policy, query.now));
  const entries = queue.drafts.flatMap((draft) => {
    const forecast = forecasts.get(draft.id);
    return forecast ? [{ draft, forecast }] : [];
  });
  return { entries, isCut, policy };
}

type Range = { from: number; to: number };

type Hour = { sends: number; waited: Record<string, number>; deadlines: number };

function hoursOf(entries: ScheduleEntry[], { from, to }: Range): (Hour & { at: string })[] {
  const hours = new Map<number, Hour>();
  const hourOf = (at: number): Hour | null => {
    if (at >= to) return null;
    const start = Math.max(from, at - (at % HOUR_MS));
    const hour = hours.get(start) ?? { sends: 0, waited: {}, deadlines: 0 };
    hours.set(start, hour);
    return hour;
  };
  for (const { draft, forecast } of entries) {
    const due = hourOf(draft.dueAt);
    if (due) due.deadlines += 1;
    const leaving = forecast.kind === 'sends' ? hourOf(forecast.leavesAt) : null;
    if (!leaving || forecast.kind !== 'sends') continue;
    leaving.sends += 1;
    if (forecast.after !== null) leaving.waited[forecast.after] = (leaving.waited[forecast.after] ?? 0) + 1;
  }
  return [...hours].toSorted(([a], [b]) => a - b).map(([at, hour]) => ({ at: iso(at), ...hour }));
}

function beyondOf(
  entries: ScheduleEntry[],
  to: number,
): { sends: number; held: Record<string, number>; expires: number } {
  const beyond = { sends: 0, held: {} as Record<string, number>, expires: 0 };
  for (const { forecast } of entries) {
    if (forecast.kind === 'expires') beyond.expires += 1;
    else if (forecast.kind === 'held') beyond.held[forecast.reason] = (beyond.held[forecast.reason] ?? 0) + 1;
    else if (forecast.leavesAt >= to) beyond.sends += 1;
  }
  return beyond;
}

/** Returns the quiet hours of the time zones with the most drafts. Drafts without a zone use the project's. */
function quietOf(entries: ScheduleEntry[], { quietHours, timeZone }: Policy, range: Range) {
  const byZone = Map.groupBy(entries, ({ draft }) => draft.zone ?? timeZone);
  const zones = [...byZone].map(([zone, drafts]) => ({ zone, drafts: drafts.length }));
  if (!byZone.has(timeZone)) zones.push({ zone: timeZone, drafts: 0 });
  return zones
    .toSorted((a, b) => b.drafts - a.drafts || (a.zone < b.zone ? -1 : 1))
    .slice(0, ZONES_SHOWN)
    .map((zone) => ({
      ...zone,
      spans: (quietHours ? quietSpans(zone.zone, quietHours, range) : []).map(({ start, end }) => ({
        from: iso(start),
        to: iso(end),
      })),
    }));
}

function perHour(throttle: Throttle | null): number | null {
  return throttle && Math.floor((throttle.emails * HOUR_MS) / throttle.perMs);
}

function matchesQuery(forecast: DraftForecast, { result, from, to }: PlannedQuery): boolean {
  if (forecast.kind !== result) return false;
  if (forecast.kind !== 'sends') return true;
  return forecast.leavesAt >= (from ?? -Infinity) && forecast.leavesAt < (to ?? Infinity);
}

function momentOf({ draft, forecast }: ScheduleEntry): number {
  if (forecast.kind === 'sends') return forecast.leavesAt;
  return forecast.kind === 'expires' ? forecast.expiresAt : draft.dueAt;
}

async function scheduledDrafts(tx: Tx, projectId: number, entries: ScheduleEntry[]) {
  const drafts = await findDrafts(
    tx,
    projectId,
    entries.map(({ draft }) => draft.id),
  );
  const draftsById = new Map(drafts.map((draft) => [draft.id, draft]));
  const users = [...new Set(entries.map(({ draft }) => draft.userId))];
  const people = await findPeople(
    tx,
    users.map((userId) => ({ projectId, userId })),
  );
  const emails = new Map(people.map(({ userId, email }) => [userId, email]));
  const names = await ruleNames(tx, projectId);
  return entries.map(({ draft, forecast }) => ({
    id: draft.id,
    subject: draftsById.get(draft.id)?.content.subject ?? '',
    rule: names(draft.ruleId),
    external_user_id: draft.userId,
    email: emails.get(draft.userId) ?? null,
    zone: draft.zone,
    deadline_at: iso(draft.dueAt),
    expires_at: isoOrNull(draft.expiresAt),
    forecast: forecastOf(forecast),
  }));
}
