import type { Rule } from './rule.ts';

/**
 * Returns the time after which an untouched draft is sent automatically; null if only a member sends it. The project's setting takes
 * precedence over the rule's.
 */
export function autopilotPeriod(
  { mode, deadlineMs }: Pick<Rule, 'mode' | 'deadlineMs'>,
  ofProject: number | null,
): number | null {
  return ofProject === null || mode !== 'autopilot' ? null : (deadlineMs ?? ofProject);
}
