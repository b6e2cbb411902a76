import type { Draft } from '../../../packages/server/src/modules/drafts/draft.ts';
import type {
  DraftTransition,
  DraftChange,
} from '../../../packages/server/src/modules/drafts/transitions.ts';
import type { ThrottleBucket } from '../../../packages/server/src/modules/sending/emails/send-lock.ts';
import type { Policy } from '../../../packages/server/src/modules/delivery/gate/facts.ts';
import type { Run } from '../../../packages/server/src/modules/rules/runs/run.ts';

/** The rows that sending uses. A transaction is one step of a task: all of it, or nothing. */
export type Email = {
  draftId: string;
  epoch: number;
  state: 'claimed' | 'submitting' | 'deferred' | 'sent' | 'failed' | 'unknown';
  address: string;
  counts: boolean;
  claimedAt: number;
  attempts: number;
  firstAt: number | null;
  /** The end of the lease. Null if no process holds it. */
  nextAt: number | null;
};

/** The result of a claimed email. */
export type SendResult =
  | { kind: 'sent' }
  | { kind: 'failed' | 'unknown'; reason: string }
  | { kind: 'deferred' }
  | { kind: 'returned' }
  /** Rendering exceeded its limits. */
  | { kind: 'withheld' };

/** The published template of the rule: one that renders, or one that exceeds the limits in drafting or in sending. */
export type Template = 'good' | 'fails in drafting' | 'fails in sending';

export type Person = { userId: string; email: string | null; traits: Map<string, unknown> };

export type Store = {
  policy: Policy;
  ruleIsOn: boolean;
  template: Template;
  people: Map<string, Person>;
  /** By address. */
  suppressed: Map<string, { reason: string; until: number | null }>;
  drafts: Map<string, Draft>;
  moves: Map<string, DraftTransition[]>;
  emails: Map<string, Email>;
  runs: Map<string, Run>;
  bucket: ThrottleBucket | null;
  /** When the throttle allows the next email, which is the alarm of the project. */
  nextTokenAt: number;
};

/** Writes the draft after a move. A run whose draft has ended continues. */
export function write(store: Store, { draft, move }: DraftChange): void {
  const before = store.drafts.get(draft.id);
  if ((before?.moves ?? 0) + 1 !== draft.moves)
    throw new Error(`a move of ${draft.id} was written over another`);
  if ((before?.state ?? null) !== move.from)
    throw new Error(`${draft.id} was not ${move.from} when it was moved`);
  store.drafts.set(draft.id, draft);
  store.moves.set(draft.id, [...(store.moves.get(draft.id) ?? []), move]);
  if (draft.endedAt !== null && draft.resendOf === null) wake(store, draft.runId ?? '', move.at);
}

function wake({ runs }: Store, id: string, at: number): void {
  const run = runs.get(id);
  if (run?.waitsFor === 'draft') runs.set(id, { ...run, waitsFor: 'time', nextAt: at });
}

/** Returns when the sender has work next. */
export function nextToSend({ drafts, emails }: Store): number {
  let next = Infinity;
  for (const { dueAt } of drafts.values()) next = Math.min(next, dueAt ?? Infinity);
  for (const { nextAt } of emails.values()) next = Math.min(next, nextAt ?? Infinity);
  return next;
}

/** Returns when the next run continues by time. */
export function nextToRun({ runs }: Store): number {
  let next = Infinity;
  for (const { nextAt } of runs.values()) next = Math.min(next, nextAt ?? Infinity);
  return next;
}
