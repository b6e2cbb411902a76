import type { Tx } from '../../io/db/index.ts';
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

/**
 * The moment at which a rule whose trigger lies in time is to be considered for a person, by the version that set it: whoever
 * waits for their moment is under way in it.
 */
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

/** One of each key: a statement cannot touch a row twice. */
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

/** Those whose moment has come, the longest overdue first. */
export async function dueTimers(
  tx: Tx,
  asked: { projectId: number; now: Date; limit: number },
): Promise<Timer[]> {
  return (await listTimersDue(tx, asked)).map(toTimer);
}

function toTimer({ trigger, anchor, ...row }: TimerRow): Timer {
  return { ...row, place: trigger, anchor: anchor as Anchor };
}

/** All that are set for a person. */
export async function listTimersOf(tx: Tx, person: { projectId: number; userId: string }): Promise<Timer[]> {
  return (await listTimersOfPerson(tx, person)).map(toTimer);
}

export function nextTimerAt(tx: Tx, projectId: number): Promise<Date | null> {
  return findNextTimer(tx, projectId);
}
