import type { Tx } from '../../../platform/db/statements.ts';
import type { Anchor } from './rule.ts';
import {
  deleteTimers,
  findNextTimer,
  listTimersDue,
  listTimersOfPerson,
  type TimerKey,
  type TimerRow,
  upsertTimers,
} from './store.ts';

export type { TimerKey } from './store.ts';

/** The time at which a rule with a timed trigger is evaluated for a user. It uses the version that set the timer. */
export type Timer = TimerKey & { at: number; version: number; place: number; anchor: Anchor };

export async function setTimers(tx: Tx, timers: (Timer & { keepFirst: boolean })[]): Promise<void> {
  for (const keepFirst of [false, true]) {
    const rows = chosen(
      timers.filter((timer) => timer.keepFirst === keepFirst),
      keepFirst,
    );
    if (rows.length > 0) await upsertTimers(tx, rows.map(toRow), keepFirst);
  }
}

/** Keeps one timer per key, because a statement cannot update a row twice. */
function chosen(timers: Timer[], keepFirst: boolean): Timer[] {
  const byKey = new Map<string, Timer>();
  for (const timer of timers) {
    const key = JSON.stringify([timer.projectId, timer.userId, timer.ruleId, timer.key]);
    const known = byKey.get(key);
    const isBetter = known === undefined || isLater(timer, known) !== keepFirst;
    if (isBetter) byKey.set(key, timer);
  }
  return [...byKey.values()];
}

function isLater(a: Timer, b: Timer): boolean {
  return a.anchor.occurredAt >= b.anchor.occurredAt;
}

function toRow({ place, ...timer }: Timer): TimerRow {
  const { projectId, userId, ruleId, key, at, version, anchor } = timer;
  return { projectId, userId, ruleId, key, at, version, trigger: place, anchor };
}

export async function dropTimers(tx: Tx, keys: TimerKey[]): Promise<void> {
  if (keys.length > 0) await deleteTimers(tx, keys);
}

/** Returns the due timers, longest overdue first. */
export async function dueTimers(
  tx: Tx,
  asked: { projectId: number; now: Date; limit: number },
): Promise<Timer[]> {
  return (await listTimersDue(tx, asked)).map(toTimer);
}

function toTimer({ trigger, anchor, ...row }: TimerRow): Timer {
  return { ...row, place: trigger, anchor: anchor as Anchor };
}

/** Returns all timers of a user. */
export async function listTimersOf(tx: Tx, person: { projectId: number; userId: string }): Promise<Timer[]> {
  return (await listTimersOfPerson(tx, person)).map(toTimer);
}

export function nextTimerAt(tx: Tx, projectId: number): Promise<Date | null> {
  return findNextTimer(tx, projectId);
}
