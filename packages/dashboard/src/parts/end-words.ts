import { named } from './codes.ts';

const ENDS: Record<string, string> = {
  done: 'completed',
  exit_event: 'exit event',
  exit_condition: 'exit condition',
  goal: 'goal reached',
  replaced: 'replaced by a newer run',
  replied: 'user replied',
  bounced: 'invalid address',
  holdout: 'holdout group',
};

/** Why a run ended, for use within a sentence. */
export function endWords(reason: string): string {
  return named(ENDS, reason);
}
