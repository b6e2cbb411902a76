import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { runStepsSlowly } from '../../platform/time/steps.ts';
import { countOpen, findDrafts } from '../drafts/index.ts';
import { findPeople } from '../users/index.ts';
import { getSettings, type Settings } from '../workspace/index.ts';
import {
  type DraftForecast,
  type QueuedDraft,
  simulating,
  type Policy,
  quietSpans,
  quietUntil,
  type Throttle,
} from '../sending/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { ruleNames, forecastOf, gatherWaiting } from '../explain/index.ts';
import { type Mailroom, policyOf } from '../delivery/index.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';

export type ScheduleDeps = { db: Pick<Database, 'session' | 'clock'>; mailroom: Mailroom };

const HOUR_MS = 3_600_000;
const DAYS = 7;
const ZONES_SHOWN = 5;

/** Returns the planned emails of the next days by hour: the result of each draft that is sent automatically if no member acts. */
export function showSchedule({ db, mailroom }: ScheduleDeps, projectId: number) {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { settings, texts } = await getSettings(tx, projectId);
    const { places, isCut, policy } = await foresee(tx, { projectId, now, settings, mailroom });
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
      drafts: places.length,
      truncated: isCut,
      waits_for_review: isCut ? 0 : Math.max(0, open - places.length),
      hours: hoursOf(places, range),
      beyond: beyondOf(places, range.to),
      quiet: quietOf(places, policy, range),
      throttle_per_hour: perHour(policy.throttle),
      policy: { quiet_hours, frequency_cap, throttle, time_zone },
    };
  });
}

/** Returns the number of emails that would be sent soon and that a pause would hold. */
export function previewPause({ db, mailroom }: ScheduleDeps, projectId: number) {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { settings } = await getSettings(tx, projectId);
    const { places, isCut } = await foresee(tx, { projectId, now, settings, mailroom });
    const leaving = (ms: number): number =>
      places.filter(({ fate }) => fate.kind === 'sends' && fate.leavesAt < now + ms).length;
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

export type PlannedAsked = {
  projectId: number;
  /** Only drafts with this result. `from` and `to` limit the send time of drafts that are sent. */
  result: DraftForecast['kind'];
  from: number | null;
  to: number | null;
  offset: number;
  limit: number;
};

/** Lists drafts of the schedule, earliest first. */
export function listPlanned({ db, mailroom }: ScheduleDeps, asked: PlannedAsked) {
  return inSnapshot(db, async (tx) => {
    const { projectId, offset, limit } = asked;
    const now = db.clock.now();
    const { settings } = await getSettings(tx, projectId);
    const { places } = await foresee(tx, { projectId, now, settings, mailroom });
    const wanted = places
      .filter(({ fate }) => isAsked(fate, asked))
      .toSorted((a, b) => momentOf(a) - momentOf(b) || (a.draft.id < b.draft.id ? -1 : 1));
    const rows = await named(tx, projectId, wanted.slice(offset, offset + limit));
    return { rows, total: wanted.length };
  });
}

/** Returns the result of the oldest open draft if no member acts; null if only a member can send it. */
export async function foreseeFirst(
  tx: Tx,
  asked: Foreseeing,
): Promise<{ fate: DraftForecast; zone: string; quietUntil: number | null } | null> {
  const { places, policy } = await foresee(tx, { ...asked, isFirstOnly: true });
  const [place] = places;
  if (!place) return null;
  const zone = place.draft.zone ?? policy.timeZone;
  const due = Math.max(asked.now, place.draft.dueAt);
  const until = policy.quietHours && quietUntil(due, zone, policy.quietHours);
  return { fate: place.fate, zone, quietUntil: until };
}

type Foreseeing = { projectId: number; now: number; settings: Settings; mailroom: Mailroom };
type Place = { draft: QueuedDraft; fate: DraftForecast };

async function foresee(
  tx: Tx,
  asked: Foreseeing & { isFirstOnly?: boolean },
): Promise<{ places: Place[]; isCut: boolean; policy: Policy }> {
  // A pause has no scheduled end, so the schedule shows what would be sent without it.
  const policy = { ...policyOf(asked.settings, asked.mailroom.outlet), paused: false };
  const { queue, isCut } = await gatherWaiting(tx, { ...asked, policies: [policy] });
  const fates = await runStepsSlowly(simulating(queue, policy, asked.now));
  const places = queue.drafts.flatMap((draft) => {
    const fate = fates.get(draft.id);
    return fate ? [{ draft, fate }] : [];
  });
  return { places, isCut, policy };
}

type Range = { from: number; to: number };

type Hour = { sends: number; waited: Record<string, number>; deadlines: number };

function hoursOf(places: Place[], { from, to }: Range): (Hour & { at: string })[] {
  const hours = new Map<number, Hour>();
  const hourOf = (at: number): Hour | null => {
    if (at >= to) return null;
    const start = Math.max(from, at - (at % HOUR_MS));
    const hour = hours.get(start) ?? { sends: 0, waited: {}, deadlines: 0 };
    hours.set(start, hour);
    return hour;
  };
  for (const { draft, fate } of places) {
    const due = hourOf(draft.dueAt);
    if (due) due.deadlines += 1;
    const leaving = fate.kind === 'sends' ? hourOf(fate.leavesAt) : null;
    if (!leaving || fate.kind !== 'sends') continue;
    leaving.sends += 1;
    if (fate.after !== null) leaving.waited[fate.after] = (leaving.waited[fate.after] ?? 0) + 1;
  }
  return [...hours].toSorted(([a], [b]) => a - b).map(([at, hour]) => ({ at: iso(at), ...hour }));
}

function beyondOf(
  places: Place[],
  to: number,
): { sends: number; held: Record<string, number>; expires: number } {
  const beyond = { sends: 0, held: {} as Record<string, number>, expires: 0 };
  for (const { fate } of places) {
    if (fate.kind === 'expires') beyond.expires += 1;
    else if (fate.kind === 'held') beyond.held[fate.reason] = (beyond.held[fate.reason] ?? 0) + 1;
    else if (fate.leavesAt >= to) beyond.sends += 1;
  }
  return beyond;
}

/** Returns the quiet hours of the time zones with the most drafts. Drafts without a zone use the project's. */
function quietOf(places: Place[], { quietHours, timeZone }: Policy, range: Range) {
  const byZone = Map.groupBy(places, ({ draft }) => draft.zone ?? timeZone);
  const zones = [...byZone].map(([zone, some]) => ({ zone, drafts: some.length }));
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

function isAsked(fate: DraftForecast, { result, from, to }: PlannedAsked): boolean {
  if (fate.kind !== result) return false;
  if (fate.kind !== 'sends') return true;
  return fate.leavesAt >= (from ?? -Infinity) && fate.leavesAt < (to ?? Infinity);
}

function momentOf({ draft, fate }: Place): number {
  if (fate.kind === 'sends') return fate.leavesAt;
  return fate.kind === 'expires' ? fate.expiresAt : draft.dueAt;
}

async function named(tx: Tx, projectId: number, places: Place[]) {
  const drafts = await findDrafts(
    tx,
    projectId,
    places.map(({ draft }) => draft.id),
  );
  const known = new Map(drafts.map((draft) => [draft.id, draft]));
  const users = [...new Set(places.map(({ draft }) => draft.userId))];
  const people = await findPeople(
    tx,
    users.map((userId) => ({ projectId, userId })),
  );
  const emails = new Map(people.map(({ userId, email }) => [userId, email]));
  const names = await ruleNames(tx, projectId);
  return places.map(({ draft, fate }) => ({
    id: draft.id,
    subject: known.get(draft.id)?.content.subject ?? '',
    rule: names(draft.ruleId),
    external_user_id: draft.userId,
    email: emails.get(draft.userId) ?? null,
    zone: draft.zone,
    deadline_at: iso(draft.dueAt),
    expires_at: isoOrNull(draft.expiresAt),
    forecast: forecastOf(fate),
  }));
}
