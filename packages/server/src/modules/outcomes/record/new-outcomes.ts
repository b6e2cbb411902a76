import type { LogEvent, LogFields } from '../../../platform/log.ts';
import type { Outcome } from '../outcome.ts';
import type { OutcomeLetter } from '../reads.ts';

/** New outcomes of one project whose consequences are applied. */
export type Concerned = {
  projectId: number;
  letters: Map<string, OutcomeLetter>;
  now: number;
  outcomes: Outcome[];
};

/** A log line about the consequences of an outcome. */
export type Note = { event: LogEvent<'warn'> } & LogFields;

/** Returns true for a bounce of the given class that certainly belongs to its email. */
export function isBounce({ type, class: kind, detail }: Outcome, of: string): boolean {
  return type === 'email.bounced' && kind === '' && detail['bounce_class'] === of;
}
