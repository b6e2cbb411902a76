import type {
  DraftGate,
  DraftListed,
  DraftMoveEntry,
  DraftWhole,
  WhyStep as WhyShown,
} from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import type { Draft, DraftTransition } from '../drafts/index.ts';
import type { GateResult } from '../delivery/index.ts';
import { reasonWords } from '../explain/index.ts';
import type { DescribedDraft } from './list-drafts.ts';
import type { WhyStep } from './why-draft.ts';
import type { DraftDetail } from './show-draft.ts';

/** The member who views the draft, and the names of all others. */
export type DraftViewer = { actor: string; now: number; names: ReadonlyMap<string, string> };

export function toDraftListed({ draft, rule, person }: DescribedDraft, viewer: DraftViewer): DraftListed {
  const { id, state, resumeState, reason, ruleId, userId, subject } = draft;
  return {
    id,
    state,
    resume_state: resumeState,
    reason,
    rule: { id: ruleId, name: rule },
    user: {
      external_user_id: userId,
      name: person.name,
      email: person.email,
      time_zone: person.timeZone,
    },
    subject,
    deadline_at: isoOrNull(draft.deadlineAt),
    expires_at: isoOrNull(draft.expiresAt),
    ends_at: isoOrNull(draft.endsAt),
    not_before: isoOrNull(draft.notBefore),
    held_until: state === 'held' ? isoOrNull(draft.dueAt) : null,
    edited: draft.isEdited,
    autopilot: draft.autopilotMs !== null,
    priority: draft.priority,
    lease: toLease(draft, viewer),
    content_hash: draft.contentHash,
    moves: draft.moves,
    resend_of: draft.resendOf,
    created_at: iso(draft.createdAt),
    updated_at: iso(draft.updatedAt),
    ended_at: isoOrNull(draft.endedAt),
  };
}

/** A lease without a recent heartbeat counts as closed. */
function toLease(
  { leaseBy, dueAt }: Pick<Draft, 'leaseBy' | 'dueAt'>,
  { actor, now, names }: DraftViewer,
): DraftListed['lease'] {
  if (leaseBy === null || dueAt === null || dueAt <= now) return null;
  return { by: names.get(leaseBy) ?? leaseBy, until: iso(dueAt), mine: leaseBy === actor };
}

/** Null if nothing would hold it. */
export function toGate(gate: GateResult | null): DraftGate | null {
  if (gate === null || gate.passes) return null;
  const { reason, until, detail } = gate;
  return { reason, sentence: reasonWords(reason, 'draft', detail), until: isoOrNull(until), detail };
}

export function toDraftWhole(described: DescribedDraft, whole: DraftDetail, viewer: DraftViewer): DraftWhole {
  const { draft, moves, ahead, outcomes } = whole;
  return {
    ...toDraftListed(described, viewer),
    content: draft.content,
    facts: draft.facts,
    version: draft.version,
    key: draft.key,
    rule_holds: ahead?.matches ?? null,
    send_check: toGate(ahead?.gate ?? null),
    history: moves.map((move) => toMove(move, viewer)),
    outcomes: outcomes.map(({ type, occurred_at, detail }) => ({ type, occurred_at, detail })),
  };
}

function toMove(
  { at, contentHash, from, to, actor, ...move }: DraftTransition,
  { names }: DraftViewer,
): DraftMoveEntry {
  const { number, action, reason, detail } = move;
  const actorName = names.get(actor) ?? actor;
  return {
    number,
    at: iso(at),
    action,
    from,
    to,
    actor: actorName,
    reason,
    content_hash: contentHash,
    detail,
  };
}

export function toWhy({ at, actor, ...step }: WhyStep, { names }: DraftViewer): WhyShown {
  return { ...step, at: isoOrNull(at), actor: actor === null ? null : (names.get(actor) ?? actor) };
}

/** Returns all actors that drafts and their actions name. */
export function actorsOf(
  drafts: Pick<Draft, 'leaseBy'>[],
  moves: Pick<DraftTransition, 'actor'>[] = [],
): string[] {
  const named = [...drafts.map(({ leaseBy }) => leaseBy), ...moves.map(({ actor }) => actor)];
  return [...new Set(named.filter((actor) => actor !== null))];
}
