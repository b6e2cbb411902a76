import type { Anchor, Definition, Trigger } from './rule.ts';
import {
  deleteTimers,
  listTimersDue,
  listTimersOfPerson,
  type TimerKey,
  type TimerRow,
  upsertTimers,
} from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';

type Timed = Extract<Trigger, { kind: 'relative' | 'date' | 'absence' }>;

/** When a timed trigger is evaluated, and the time after which it is too late. */
export type Moment = { at: number; endsAt: number | null };

export const DAY_MS = 86_400_000;
/** No timer waits for longer. Even a year later than this, the database can still store the time. */
const LAST_MOMENT = Date.UTC(2200, 0, 1);

export function isTimed(trigger: Trigger): trigger is Timed {
  return trigger.kind === 'relative' || trigger.kind === 'date' || trigger.kind === 'absence';
}

/** Returns whether each event has its own timer, because the rule is not about the newest one only. */
export function isOfEach({ about }: Pick<Definition, 'about'>, trigger: Trigger): boolean {
  return trigger.kind === 'relative' && about?.event !== trigger.event;
}

/** Returns null if the event or the trait contains no time. */
export function momentOf(trigger: Timed, anchor: Pick<Anchor, 'occurredAt' | 'properties'>): Moment | null {
  if (trigger.kind === 'absence') return { at: anchor.occurredAt + trigger.ms, endsAt: null };
  const reference = trigger.kind === 'date' ? anchor.occurredAt : referenceOf(trigger, anchor);
  if (reference === null || reference > LAST_MOMENT) return null;
  return trigger.side === 'before'
    ? { at: reference - trigger.ms, endsAt: reference }
    : { at: reference + trigger.ms, endsAt: null };
}

/** Returns the time that is as many days later as the property says. A day has 24 hours, regardless of daylight saving time. */
export function daysAfter(
  { occurredAt, properties }: Pick<Anchor, 'occurredAt' | 'properties'>,
  property: string,
): number | null {
  const days = Object.hasOwn(properties, property) ? properties[property] : undefined;
  if (typeof days !== 'number' || days < 0) return null;
  const at = Math.round(occurredAt + days * DAY_MS);
  return at <= LAST_MOMENT ? at : null;
}

function referenceOf(
  { plusDays }: { plusDays: string | null },
  anchor: Pick<Anchor, 'occurredAt' | 'properties'>,
): number | null {
  return plusDays === null ? anchor.occurredAt : daysAfter(anchor, plusDays);
}

/** Returns the time in a trait, or null if it is not a time. */
export function dateIn(value: unknown): number | null {
  const at = typeof value === 'string' ? parseInstant(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

export type { TimerKey } from './store.ts';

/** The time at which a rule with a timed trigger is evaluated for a user. It uses the version that set the timer. */
export type Timer = TimerKey & { at: number; version: number; position: number; anchor: Anchor };

export async function setTimers(tx: Tx, timers: (Timer & { keepFirst: boolean })[]): Promise<void> {
  for (const keepFirst of [false, true]) {
    const rows = onePerKey(
      timers.filter((timer) => timer.keepFirst === keepFirst),
      keepFirst,
    );
    if (rows.length > 0) await upsertTimers(tx, rows.map(toRow), keepFirst);
  }
}

/** Keeps one timer per key, because a statement cannot update a row twice. */
function onePerKey(timers: Timer[], keepFirst: boolean): Timer[] {
  const byKey = new Map<string, Timer>();
  for (const timer of timers) {
    const key = JSON.stringify([timer.projectId, timer.userId, timer.ruleId, timer.key]);
    const existing = byKey.get(key);
    const isBetter = existing === undefined || isLater(timer, existing) !== keepFirst;
    if (isBetter) byKey.set(key, timer);
  }
  return [...byKey.values()];
}

function isLater(a: Timer, b: Timer): boolean {
  return a.anchor.occurredAt >= b.anchor.occurredAt;
}

function toRow({ position, ...timer }: Timer): TimerRow {
  const { projectId, userId, ruleId, key, at, version, anchor } = timer;
  return { projectId, userId, ruleId, key, at, version, trigger: position, anchor };
}

export async function dropTimers(tx: Tx, keys: TimerKey[]): Promise<void> {
  if (keys.length > 0) await deleteTimers(tx, keys);
}

/** Returns the due timers, longest overdue first. */
export async function listDueTimers(
  tx: Tx,
  query: { projectId: number; now: Date; limit: number },
): Promise<Timer[]> {
  return (await listTimersDue(tx, query)).map(toTimer);
}

function toTimer({ trigger, anchor, ...row }: TimerRow): Timer {
  return { ...row, position: trigger, anchor: anchor as Anchor };
}

/** Returns all timers of a user. */
export async function listTimersOf(tx: Tx, person: { projectId: number; userId: string }): Promise<Timer[]> {
  return (await listTimersOfPerson(tx, person)).map(toTimer);
}
