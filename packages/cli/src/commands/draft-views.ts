import type { DraftGate, DraftListed, DraftMoved, DraftWhole } from '@beckon/contract/dashboard';
import type { Column } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import { plain, type Words } from '../output/words.ts';

export const DRAFT_ROW: readonly Column<DraftListed>[] = [
  'id',
  ['state', stateOf],
  'rule',
  ['user', ({ person }) => person.external_user_id],
  ['subject', ({ subject, edited }) => (edited ? `${subject} (edited)` : subject)],
  ['deadline', ({ deadline_at }, { when }) => when(deadline_at) ?? 'none'],
  ['when untouched', ({ autopilot }) => (autopilot ? 'sent at the deadline' : 'waits for approval')],
];

function stateOf({ state, reason }: Pick<DraftListed, 'state' | 'reason'>): string {
  const name = state === 'unknown' ? 'delivery unknown' : state === 'cancelled' ? 'canceled' : state;
  return reason === null ? name : `${name}: ${plain(reason)}`;
}

export function draftDetails(draft: DraftWhole, { when }: Words) {
  const { person, gate } = draft;
  return {
    id: draft.id,
    subject: draft.subject,
    state: stateOf(draft),
    to: `${person.name === null ? '' : `${person.name}, `}${person.email ?? 'no address'} (${person.external_user_id})`,
    rule: draft.rule.name,
    deadline: when(draft.deadline_at) ?? 'none; it waits for approval',
    expires: when(draft.expires_at),
    'held until': when(draft.held_until),
    'would be held': gateText(gate, when),
    'rule conditions': draft.rule_holds === false ? 'no longer hold' : null,
    edited: draft.edited ? 'yes; it no longer follows its template' : null,
    'sent again as a copy of': draft.again_of,
    facts: Object.entries(draft.facts).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    hash: draft.content_hash,
  };
}

function gateText(gate: DraftGate | null, when: Words['when']): string | null {
  if (gate === null) return null;
  return `${gate.sentence}${gate.until === null ? '' : `, until ${when(gate.until)}`}`;
}

export function movedView({ draft, gate }: DraftMoved, { when }: Words): View {
  const held = gateText(gate, when);
  const after = held === null ? '' : ` Held for now: ${held}.`;
  return `“${draft.subject}” to ${draft.person.external_user_id} is ${stateOf(draft)}.${after}`;
}
