import type { DraftListed, DraftMoved, SendForecast } from '@beckon/contract/dashboard';
import type { Column } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import { plain, type Words } from '../output/words.ts';

export const DRAFT_ROW: readonly Column<DraftListed>[] = [
  'id',
  ['state', stateOf],
  'rule',
  ['user', ({ user: person }) => person.external_user_id],
  ['subject', ({ subject, edited }) => (edited ? `${subject} (edited)` : subject)],
  ['deadline', ({ deadline_at }, { when }) => when(deadline_at) ?? 'none'],
  ['when untouched', ({ autopilot }) => (autopilot ? 'sent at the deadline' : 'waits for approval')],
];

function stateOf({ state, reason }: Pick<DraftListed, 'state' | 'reason'>): string {
  const name = state === 'unknown' ? 'delivery unknown' : state;
  return reason === null ? name : `${name}: ${plain(reason)}`;
}

export function forecastWords({ result, at, reason }: SendForecast, { when }: Words): string {
  if (result === 'sends') return `sent ${when(at) ?? ''}`;
  return result === 'held' ? `held: ${plain(reason ?? '')}` : 'expires';
}

export function movedView({ draft, send_check: gate }: DraftMoved, { when }: Words): View {
  const until = gate?.until ? `, until ${when(gate.until)}` : '';
  const after = gate === null ? '' : ` Held for now: ${gate.sentence}${until}.`;
  return `“${draft.subject}” to ${draft.user.external_user_id} is ${stateOf(draft)}.${after}`;
}
