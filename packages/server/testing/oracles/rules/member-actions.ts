import { MINUTE } from '../../factories/drafts.ts';
import type { OracleRule } from './rules.ts';
import {
  addressOf,
  beforeEnd,
  cancelDraft,
  dueOfScheduled,
  endRun,
  expiryOf,
  follow,
  goOn,
  hold,
  isApproved,
  spreadOf,
  wake,
} from './sending.ts';
import type { Oracle, OracleDraft } from './state.ts';

/** The actions of members in the oracle. Only actions that the product did not refuse are applied. */
const UNDO_MS = 10_000;
const GRACE_MS = 15 * MINUTE;

export type DraftAct =
  /** Approval refreshes the facts first, even of an approved draft. */
  | { do: 'look' }
  | { do: 'approve' | 'skip' | 'edit' | 'send_anyway' }
  | { do: 'undo'; of: 'approve' | 'skip' }
  | { do: 'postpone'; until: number };

export function act(oracle: Oracle, draft: OracleDraft, action: DraftAct): void {
  const { now } = oracle;
  switch (action.do) {
    case 'look':
      follow(oracle, draft);
      return;
    case 'approve':
    case 'send_anyway':
      draft.isForced = action.do === 'send_anyway';
      Object.assign(draft, { state: 'approved', held: null, notBefore: now + UNDO_MS, due: now + UNDO_MS });
      return;
    case 'skip':
      Object.assign(draft, { end: 'skipped', due: null, held: null });
      return wake(draft.run, now + UNDO_MS);
    case 'edit':
      return edit(oracle, draft);
    case 'postpone':
      return postpone(draft, action.until);
    case 'undo':
      return undo(oracle, draft, action.of);
    default:
      action satisfies never;
  }
}

/** Returns a deadline at least a quarter of an hour from now. */
function withGrace({ deadline, run: { endsAt } }: OracleDraft, now: number): number | null {
  return deadline === null ? null : Math.max(deadline, beforeEnd(now + GRACE_MS, { now, endsAt }));
}

function edit({ now }: Oracle, draft: OracleDraft): void {
  Object.assign(draft, { isEdited: true, deadline: withGrace(draft, now) });
  if (draft.state === 'held') {
    Object.assign(draft, {
      resume: 'scheduled',
      notBefore: draft.held === 'postponed' ? draft.notBefore : null,
    });
    return;
  }
  Object.assign(draft, { state: 'scheduled', notBefore: null });
  draft.due = dueOfScheduled(draft);
}

/** In draft-only mode, postponing hides the draft until then. */
function postpone(draft: OracleDraft, until: number): void {
  if (draft.deadline === null)
    Object.assign(draft, {
      state: 'held',
      resume: 'scheduled',
      held: 'postponed',
      notBefore: until,
      due: until,
    });
  else if (draft.state === 'held')
    Object.assign(draft, { deadline: until, resume: 'scheduled', notBefore: null });
  else Object.assign(draft, { state: 'scheduled', deadline: until, notBefore: null, due: until });
}

/** Applies an action and undoes it at the same moment: the state is as before, with a little time for another review. */
function undo({ now }: Oracle, draft: OracleDraft, of: 'approve' | 'skip'): void {
  if (of === 'approve') draft.isForced = false;
  const { deadline } = draft;
  if (deadline !== null && deadline <= now + UNDO_MS) draft.deadline = withGrace(draft, now);
  if (draft.state === 'scheduled') draft.due = dueOfScheduled(draft);
  if (draft.state === 'approved') draft.due = Math.max(draft.notBefore ?? now, now);
}

export function pause(oracle: Oracle): void {
  oracle.isPaused = true;
}

export function resume(oracle: Oracle): void {
  oracle.isPaused = false;
  for (const draft of oracle.drafts) if (draft.end === null) afterPause(oracle, draft);
}

/** Cancels expired drafts. Drafts that are due now or soon get a quarter of an hour, and are spread. */
function afterPause(oracle: Oracle, draft: OracleDraft): void {
  const { now } = oracle;
  const expiry = expiryOf(draft);
  if (now >= expiry) return cancelDraft(oracle, draft, 'expired');
  const { endsAt } = draft.run;
  const spread = spreadOf(oracle, draft);
  if (draft.deadline !== null && !isApproved(draft) && draft.deadline < now + GRACE_MS)
    draft.deadline = beforeEnd(now + GRACE_MS + spread, { now, endsAt });
  if (draft.state === 'scheduled') draft.due = dueOfScheduled(draft);
  if (draft.state === 'approved' && (draft.due ?? now) <= now)
    draft.due = Math.max(now, Math.min(now + spread, expiryOf(draft) - GRACE_MS));
}

/** Ends everything that is under way for this user. */
export function suppress(
  oracle: Oracle,
  { kind, value, until }: { kind: 'user' | 'email'; value: string; until: number | null },
): void {
  oracle.suppressions.push({ kind, value, until });
  for (const person of oracle.people.values()) {
    if (value !== (kind === 'user' ? person.id : addressOf(person))) continue;
    for (const run of oracle.runs) if (run.userId === person.id) endRun(oracle, run, 'suppressed');
  }
}

/** Drafts with these reasons wait for a cause of their own, and continue to wait for it. */
const WAITS_FOR_MORE = new Set(['no_address', 'needs_review', 'postponed']);

export function switchOff(oracle: Oracle, rule: OracleRule): void {
  oracle.enabledAt.set(rule, null);
  for (const draft of oracle.drafts) {
    if (draft.run.rule !== rule || draft.end !== null) continue;
    if (draft.held === null || !WAITS_FOR_MORE.has(draft.held))
      hold(draft, { reason: 'rule_off', until: null });
  }
  for (const run of oracle.runs) if (run.rule === rule) run.isFrozen = true;
}

export function switchOn(oracle: Oracle, rule: OracleRule): void {
  oracle.enabledAt.set(rule, oracle.now);
  for (const draft of oracle.drafts) {
    if (draft.run.rule !== rule || draft.end !== null || draft.held !== 'rule_off') continue;
    goOn(oracle, draft);
    if (draft.end === null) afterPause(oracle, draft);
  }
  for (const run of oracle.runs) if (run.rule === rule) run.isFrozen = false;
}
