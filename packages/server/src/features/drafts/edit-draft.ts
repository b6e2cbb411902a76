import { type Content, type Draft, isNotWhole, NOT_WHOLE, PERSON_DECIDES } from './draft.ts';
import { afterHold, cancel } from './hold-draft.ts';
import { moved } from './moves.ts';
import { hashContent } from './new-draft.ts';
import {
  type By,
  conflict,
  type Decided,
  invalid,
  isLeased,
  type Refusal,
  refusal,
  refusalOfExpired,
  STILL_DRAFTED,
} from './refuse.ts';
import { dueOfScheduled, isExpired, LEASE_MS, withGrace } from './timing.ts';

/**
 * A person writes it anew. From now on it follows neither its letter nor its facts; an approval was of another text, and is
 * void; autopilot stays on, but leaves time to look at it again.
 */
export function edit(draft: Draft, content: Content, by: By): Decided {
  const refused = refusal(draft, 'edit', by) ?? refusalOfExpired(draft, by.now) ?? refusalOfContent(content);
  if (refused) return refused;
  if (draft.resumeState === 'composing') return conflict(STILL_DRAFTED);
  const { actor, now } = by;
  const deadlineAt = withGrace(draft, now);
  const changed = { content, contentHash: hashContent(content), isEdited: true, deadlineAt };
  return moved(
    draft,
    { ...changed, ...placeOf({ ...draft, deadlineAt }, now) },
    { action: 'edit', actor, now, detail: { from_hash: draft.contentHash } },
  );
}

/** Where an edited draft stands: the hole in a letter is filled, whatever else holds it goes on to hold it. */
function placeOf(draft: Draft, now: number): Partial<Draft> {
  if (draft.state === 'held' && !isNotWhole(draft)) {
    return { resumeState: 'scheduled', notBefore: draft.reason === 'postponed' ? draft.notBefore : null };
  }
  if (isLeased(draft, now)) return { reason: 'editing', resumeState: 'scheduled' };
  return { state: 'scheduled', reason: null, notBefore: null, dueAt: dueOfScheduled(draft) };
}

/** More than that no letter can carry. */
const SUBJECT_MAX_CHARS = 998;
const PREHEADER_MAX_CHARS = 1_000;
/** What is longer is cut off by mail programs. */
const BODY_MAX_CHARS = 100_000;

function refusalOfContent({ subject, preheader, body }: Content): Refusal | null {
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

/** Opens an editor, or says that it is still open: while it is, nothing leaves, and nobody else touches the draft. */
export function openEditor(draft: Draft, by: By): Decided {
  const refused = refusal(draft, 'open_editor', by) ?? refusalOfExpired(draft, by.now);
  if (refused) return refused;
  const { state, resumeState, reason } = draft;
  if (resumeState === 'composing') return conflict(STILL_DRAFTED);
  const changed: Partial<Draft> = {
    state: 'held',
    resumeState: state === 'held' ? resumeState : state === 'approved' ? 'approved' : 'scheduled',
    reason: state === 'held' ? reason : 'editing',
    leaseBy: by.actor,
    dueAt: by.now + LEASE_MS,
  };
  return moved(draft, changed, { action: 'open_editor', actor: by.actor, now: by.now });
}

/** The editor is closed, or has said nothing for too long. What it was held for besides goes on to hold it. */
export function closeEditor(draft: Draft, by: By): Decided {
  const refused = refusal(draft, 'close_editor', by);
  if (refused) return refused;
  const { actor, now } = by;
  if (draft.leaseBy === null) return conflict('No editor is open for this draft');
  if (draft.reason === 'editing' && isExpired(draft, now))
    return cancel(draft, { reason: 'expired', now, actor });
  const changed = draft.reason === 'editing' ? afterHold(draft, { now }) : { dueAt: dueOfHeld(draft, now) };
  return moved(draft, { ...changed, leaseBy: null }, { action: 'close_editor', actor, now });
}

/** These end by an event or by a person; all others are for the gates to say again. */
const NOT_BY_TIME: ReadonlySet<string | null> = new Set([...PERSON_DECIDES, ...NOT_WHOLE, 'no_address']);

function dueOfHeld({ reason, notBefore }: Draft, now: number): number | null {
  if (NOT_BY_TIME.has(reason)) return null;
  return reason === 'postponed' ? Math.max(notBefore ?? now, now) : now;
}
