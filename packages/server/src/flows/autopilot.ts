import type { Rule } from '../features/rules/index.ts';

/** After how long an untouched draft leaves by itself; null where only a person sends it. The project's word beats the rule's. */
export function autopilotPeriod(
  { mode, deadlineMs }: Pick<Rule, 'mode' | 'deadlineMs'>,
  ofProject: number | null,
): number | null {
  return ofProject === null || mode !== 'autopilot' ? null : (deadlineMs ?? ofProject);
}
