import { iso } from '../base/clock.ts';
import type { Draft, Move } from '../features/drafts/index.ts';
import type { GateAnswer } from '../features/sending/index.ts';
import type { ManyActed } from '../flows/move-drafts.ts';
import type { ShownWhole } from '../flows/show-draft.ts';
import type { ShownOutcome } from '../flows/shown-outcome.ts';
import { printable } from './audience-output.ts';
import { table } from './table.ts';

export type ListedDraft = ReturnType<typeof toListed>;

/** Under the names of the interface. */
export function toListed(draft: Draft, rule: string) {
  const { id, state, userId, content, deadlineAt, reason, expiresAt, notBefore, dueAt, priority } = draft;
  return {
    id,
    state,
    rule,
    external_user_id: userId,
    subject: content.subject,
    deadline_at: time(deadlineAt),
    reason,
    expires_at: time(expiresAt),
    not_before: time(notBefore),
    held_until: state === 'held' ? time(dueAt) : null,
    edited: draft.isEdited,
    priority,
  };
}

export function toActed(draft: Draft, { rule, gate }: { rule: string; gate: GateAnswer | null }) {
  return { ...toListed(draft, rule), gate: toGate(gate) };
}

export function toWhole({ draft, rule, moves, ahead, outcomes }: ShownWhole) {
  const { content, version, key, facts, endsAt, againOf, createdAt, updatedAt, endedAt } = draft;
  return {
    ...toListed(draft, rule),
    preheader: content.preheader,
    body: content.body,
    format: content.format,
    facts,
    version,
    key,
    ends_at: time(endsAt),
    again_of: againOf,
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
    ended_at: time(endedAt),
    rule_holds: ahead?.holds ?? null,
    gate: toGate(ahead?.gate ?? null),
    moves: moves.map(toShownMove),
    outcomes,
  };
}

function toShownMove({ number, at, action, from, to, actor, reason, detail }: Move) {
  return { number, at: iso(at), action, from, to, actor, reason, detail };
}

/** Null where it is not asked. */
function toGate(gate: GateAnswer | null) {
  if (gate === null || gate.passes) return gate;
  const { passes, reason, until, detail } = gate;
  return { passes, reason, until: time(until), detail };
}

export function describeList(rows: ListedDraft[]): string {
  return table(
    rows.map(({ id, state, reason, rule, external_user_id, subject, deadline_at }) => ({
      id,
      state,
      reason,
      rule,
      external_user_id,
      subject,
      deadline_at,
    })),
    'There is no such draft',
  );
}

export function describeActed({ gate, ...draft }: ReturnType<typeof toActed>): string {
  return [describeList([draft]), ...(gate === null ? [] : [describeGate(gate)])].join('\n\n');
}

export function describeWhole(whole: ReturnType<typeof toWhole>): string {
  const { preheader, body, facts, moves, rule_holds: ruleHolds, gate, subject, outcomes } = whole;
  return [
    describeList([whole]),
    printable([subject, preheader, '', body].join('\n')),
    printable(`What it says of the person: ${JSON.stringify(facts)}`),
    ...(ruleHolds === false ? ['The condition of its rule does not hold any more'] : []),
    ...(gate === null ? [] : [describeGate(gate)]),
    table(
      moves.map(({ at, action, from, to, actor, reason }) => ({ at, action, from, to, actor, reason })),
      'It has made no move yet',
    ),
    ...(outcomes.length === 0 ? [] : [table(outcomes.map(outcomeRow), '')]),
  ].join('\n\n');
}

function outcomeRow({ occurred_at, type, detail }: ShownOutcome) {
  return { occurred_at, became: type, detail };
}

function describeGate(gate: NonNullable<ReturnType<typeof toGate>>): string {
  if (gate.passes) return 'Nothing would hold it now';
  const { reason, until, detail } = gate;
  const when = until === null ? '' : ` until ${until}`;
  return printable(`It would be held${when}: ${reason} ${JSON.stringify(detail)}`);
}

export function describeMany({ acted, refused }: ManyActed): string {
  const head = `${acted.length} drafts done, ${refused.length} left as they are`;
  return refused.length === 0 ? head : [head, table(refused, '')].join('\n\n');
}

function time(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
