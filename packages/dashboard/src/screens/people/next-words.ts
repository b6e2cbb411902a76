import type { NextEmail, RunCause } from '@beckon/contract/dashboard';
import { draftReasonWords } from '../../parts/draft-words.ts';

/** What delays or holds the next email; null if nothing does. */
export function waitWords(next: NextEmail): string | null {
  if (next.kind === 'step') return null;
  const { at, reason } = next;
  if (at !== null) return reason === null ? null : `after ${draftReasonWords(reason)}`;
  return reason === null ? 'Waits for approval' : `Held: ${draftReasonWords(reason)}`;
}

/** What started the run, before its time: "“trial_started” happened". */
export function causeWords({ kind, name }: RunCause): string {
  if (kind === 'event') return `“${name}” happened`;
  return kind === 'date' ? `of the date in “${name}”,` : `the user joined or left “${name}”`;
}
