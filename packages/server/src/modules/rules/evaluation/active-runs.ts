import type { Predicate } from '../../../platform/predicate/predicate.ts';
import type { Definition } from '../definitions/rule.ts';
import type { EndReason, Run } from '../runs/run.ts';
import { onEvent, onTime, type SeenEvent } from '../runs/advance-run.ts';
import {
  definitionOf,
  type EvaluationContext,
  finishRun,
  matchesPredicate,
  programOf,
  replace,
  advanceRun,
} from './context.ts';

/** An event as open runs receive it. */
type RunEvent = SeenEvent & { id: string; occurredAt: number };

/** Continues runs that wait for the event, and ends runs that exit on it. */
export function applyEvent(context: EvaluationContext, event: RunEvent): void {
  for (const run of context.runs) {
    const definition = definitionOf(context, run);
    if (!definition || run.state === 'ended' || event.id === run.anchor.id || isBefore(event, run)) continue;
    const reason = endsBy(event, run, definition);
    if (reason) finishRun(context, run, reason);
    else if (run.state === 'active' && run.waitsFor === 'event') {
      const next = onEvent(programOf(context, run), run.step, event);
      if (next !== null) advanceRun(context, run, next);
    }
  }
}

/**
 * Returns true for an event that happened before the run's own trigger. It does not concern the run, however late it arrives. A date is in
 * the future and a join has no time of its own, so for these the time of the cause counts.
 */
function isBefore({ occurredAt }: RunEvent, { anchor }: Run): boolean {
  return occurredAt < (anchor.kind === 'event' ? anchor.occurredAt : anchor.acceptedAt);
}

function endsBy(event: RunEvent, run: Run, { exits, about }: Definition): EndReason | null {
  if (exits.events.includes(event.name)) return 'exit_event';
  return about?.event === event.name && event.id !== run.key ? 'replaced' : null;
}

/** Continues a run whose time has come. A run that something else moved before waits for its new time. */
export function continueRun(context: EvaluationContext, { id }: Pick<Run, 'id'>): void {
  const run = context.runs.find((candidate) => candidate.id === id);
  const isDue = run?.state === 'active' && run.nextAt !== null && run.nextAt <= context.now;
  if (run && isDue) advanceRun(context, run, onTime(programOf(context, run), run.step));
}

/** Its draft has ended, so the run continues now, or when it is resumed. */
export function continueAfterDraft(context: EvaluationContext, run: Run): void {
  if (run.waitsFor === 'draft') replace(context, run, { ...run, waitsFor: 'time', nextAt: context.now });
}

/** Ends runs by exit conditions and goals. A run that has just started was checked at its start. */
export function checkExits(context: EvaluationContext): void {
  for (const run of context.runs) {
    const definition = definitionOf(context, run);
    if (!definition || context.outcome.begun.includes(run)) continue;
    const { goal, exits } = definition;
    if (goal) checkGoal(context, run, goal);
    if (exits.when && run.state !== 'ended' && matchesPredicate(context, exits.when))
      finishRun(context, run, 'exit_condition');
  }
}

/** Ends an open run at its goal. The goal counts as reached only within its time, and then also after the last step. */
function checkGoal(context: EvaluationContext, run: Run, goal: Predicate): void {
  const { now } = context;
  const isAwaited = run.convertedAt === null && run.goalUntil !== null && now <= run.goalUntil;
  if (!(isAwaited || run.state !== 'ended') || !matchesPredicate(context, goal)) return;
  if (isAwaited) replace(context, run, { ...run, convertedAt: now });
  finishRun(context, run, 'goal');
}
