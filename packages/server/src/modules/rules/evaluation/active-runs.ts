import type { Predicate } from '../../../platform/predicate/predicate.ts';
import type { Definition } from '../definitions/rule.ts';
import type { EndReason, Run } from '../runs/run.ts';
import { onEvent, onTime, type SeenEvent } from '../runs/advance-run.ts';
import { definitionOf, type Desk, end, holds, programOf, replace, walk } from './context.ts';

/** An event as open runs receive it. */
type HeardEvent = SeenEvent & { id: string; occurredAt: number };

/** Continues runs that wait for the event, and ends runs that exit on it. */
export function hear(desk: Desk, event: HeardEvent): void {
  for (const run of desk.runs) {
    const definition = definitionOf(desk, run);
    if (!definition || run.state === 'ended' || event.id === run.anchor.id || isBefore(event, run)) continue;
    const reason = endsBy(event, run, definition);
    if (reason) end(desk, run, reason);
    else if (run.state === 'active' && run.waitsFor === 'event') {
      const next = onEvent(programOf(desk, run), run.step, event);
      if (next !== null) walk(desk, run, next);
    }
  }
}

/**
 * Returns true for an event that happened before the run's own trigger. It does not concern the run, however late it arrives. A date is in
 * the future and a join has no time of its own, so for these the time of the cause counts.
 */
function isBefore({ occurredAt }: HeardEvent, { anchor }: Run): boolean {
  return occurredAt < (anchor.kind === 'event' ? anchor.occurredAt : anchor.acceptedAt);
}

function endsBy(event: HeardEvent, run: Run, { exits, about }: Definition): EndReason | null {
  if (exits.events.includes(event.name)) return 'exit_event';
  return about?.event === event.name && event.id !== run.key ? 'replaced' : null;
}

/** Continues a run whose time has come. A run that something else moved before waits for its new time. */
export function goOn(desk: Desk, { id }: Pick<Run, 'id'>): void {
  const run = desk.runs.find((one) => one.id === id);
  const isDue = run?.state === 'active' && run.nextAt !== null && run.nextAt <= desk.now;
  if (run && isDue) walk(desk, run, onTime(programOf(desk, run), run.step));
}

/** Its draft has ended, so the run continues now, or when it is resumed. */
export function wake(desk: Desk, run: Run): void {
  if (run.waitsFor === 'draft') replace(desk, run, { ...run, waitsFor: 'time', nextAt: desk.now });
}

/** Ends runs by exit conditions and goals. A run that has just started was checked at its start. */
export function checkOut(desk: Desk): void {
  for (const run of desk.runs) {
    const definition = definitionOf(desk, run);
    if (!definition || desk.outcome.begun.includes(run)) continue;
    const { goal, exits } = definition;
    if (goal) checkGoal(desk, run, goal);
    if (exits.when && run.state !== 'ended' && holds(desk, exits.when)) end(desk, run, 'exit_condition');
  }
}

/** Ends an open run at its goal. The goal counts as reached only within its time, and then also after the last step. */
function checkGoal(desk: Desk, run: Run, goal: Predicate): void {
  const { now } = desk;
  const isAwaited = run.convertedAt === null && run.goalUntil !== null && now <= run.goalUntil;
  if (!(isAwaited || run.state !== 'ended') || !holds(desk, goal)) return;
  if (isAwaited) replace(desk, run, { ...run, convertedAt: now });
  end(desk, run, 'goal');
}
