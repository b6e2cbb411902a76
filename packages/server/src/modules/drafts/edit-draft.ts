import {
  type DraftContent,
  type Draft,
  dueOfScheduled,
  isExpired,
  isIncomplete,
  LEASE_MS,
  INCOMPLETE_REASONS,
  MEMBER_DECIDES,
  withGrace,
} from './draft.ts';
import { afterHold, cancel } from './hold-draft.ts';
import { applyTransition } from './transitions.ts';
import { hashContent } from './new-draft.ts';
import {
  type By,
  conflict,
  type DraftActionResult,
  invalid,
  isLeased,
  type ActionRefusal,
  refusal,
  refusalOfExpired,
} from './refusals.ts';

/**
 * Replaces the text of a draft with that of a member. From then on the draft follows neither its template nor its facts. An approval
 * covered another text, so it is withdrawn. Autopilot stays on but leaves time for another review.
 */
export function edit(draft: Draft, content: DraftContent, by: By): DraftActionResult {
  const refused = refusal(draft, 'edit', by) ?? refusalOfExpired(draft, by.now) ?? refusalOfContent(content);
  if (refused) return refused;
  const { actor, now } = by;
  const deadlineAt = withGrace(draft, now);
  const changed = { content, contentHash: hashContent(content), isEdited: true, deadlineAt };
  return applyTransition(
    draft,
    { ...changed, ...stateAfterEdit({ ...draft, deadlineAt }, now) },
    { action: 'edit', actor, now, detail: { from_hash: draft.contentHash } },
  );
}

/** Returns the state of an edited draft. An edit fills missing content, and any other hold stays. */
function stateAfterEdit(draft: Draft, now: number): Partial<Draft> {
  if (draft.state === 'held' && !isIncomplete(draft)) {
    return { resumeState: 'scheduled', notBefore: draft.reason === 'postponed' ? draft.notBefore : null };
  }
  if (isLeased(draft, now)) return { reason: 'editing', resumeState: 'scheduled' };
  return { state: 'scheduled', reason: null, notBefore: null, dueAt: dueOfScheduled(draft) };
}

/** An email header line cannot be longer. */
const SUBJECT_MAX_CHARS = 998;
const PREHEADER_MAX_CHARS = 1_000;
/** Email clients cut off longer emails. */
const BODY_MAX_CHARS = 100_000;

function refusalOfContent({ subject, preheader, body }: DraftContent): ActionRefusal | null {
  if (subject.trim() === '') return invalid('subject', 'Enter a subject');
  if (/\p{Cc}/u.test(subject))
    return invalid('subject', 'A subject is a single line, without tabs and other control characters');
  if (body.trim() === '') return invalid('body', 'Enter a body');
  for (const [field, text, charsMax] of [
    ['subject', subject, SUBJECT_MAX_CHARS],
    ['preheader', preheader, PREHEADER_MAX_CHARS],
    ['body', body, BODY_MAX_CHARS],
  ] as const) {
    if (text.includes('\0') || !text.isWellFormed()) {
      return invalid(
        field,
        'The text contains characters that an email cannot contain (NUL, or an unpaired surrogate)',
      );
    }
    if (text.length > charsMax) {
      const [has, most] = [text.length, charsMax].map((count) => count.toLocaleString('en-US'));
      return invalid(field, `The ${field} has ${has} characters; at most ${most} are allowed`);
    }
  }
  return null;
}

/** Opens an editor or renews its lease. While it is open, the draft is not sent and no other member can change it. */
export function openEditor(draft: Draft, by: By): DraftActionResult {
  const refused = refusal(draft, 'open_editor', by) ?? refusalOfExpired(draft, by.now);
  if (refused) return refused;
  const { state, resumeState, reason } = draft;
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: state === 'held' ? resumeState : state === 'approved' ? 'approved' : 'scheduled',
    reason: state === 'held' ? reason : 'editing',
    leaseBy: by.actor,
    dueAt: by.now + LEASE_MS,
  };
  return applyTransition(draft, changed, { action: 'open_editor', actor: by.actor, now: by.now });
}

/** Closes the editor, on request or after its lease ended. Any other hold stays. */
export function closeEditor(draft: Draft, by: By): DraftActionResult {
  const refused = refusal(draft, 'close_editor', by);
  if (refused) return refused;
  const { actor, now } = by;
  if (draft.leaseBy === null) return conflict('No editor is open for this draft');
  if (draft.reason === 'editing' && isExpired(draft, now))
    return cancel(draft, { reason: 'expired', now, actor });
  const changed = draft.reason === 'editing' ? afterHold(draft, { now }) : { dueAt: dueOfHeld(draft, now) };
  return applyTransition(draft, { ...changed, leaseBy: null }, { action: 'close_editor', actor, now });
}

/** Holds that end by an event or a member. For all others, the send checks run again. */
const NOT_BY_TIME: ReadonlySet<string | null> = new Set([
  ...MEMBER_DECIDES,
  ...INCOMPLETE_REASONS,
  'no_address',
]);

function dueOfHeld({ reason, notBefore }: Draft, now: number): number | null {
  if (NOT_BY_TIME.has(reason)) return null;
  return reason === 'postponed' ? Math.max(notBefore ?? now, now) : now;
}
