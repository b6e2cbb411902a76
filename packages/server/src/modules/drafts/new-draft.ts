import { canonicalJson } from '../../platform/text/canonical-json.ts';
import { sha256 } from '../../platform/crypto/hash.ts';
import {
  type Actor,
  boundedDeadline,
  type DraftContent,
  type Draft,
  dueOfScheduled,
  ENGINE,
  expiresAfter,
} from './draft.ts';
import { release } from './hold-draft.ts';
import { beginDraft, type DraftChange, applyTransition } from './transitions.ts';
import { conflict, type DraftActionResult } from './refusals.ts';

export type NewDraft = Pick<
  Draft,
  | 'projectId'
  | 'id'
  | 'ruleId'
  | 'version'
  | 'runId'
  | 'step'
  | 'userId'
  | 'key'
  | 'content'
  | 'facts'
  | 'priority'
  | 'counts'
  | 'autopilotMs'
  | 'endsAt'
> & {
  /** How long after its first deadline the draft expires. */
  expiresAfterMs: number;
  hasAddress: boolean;
  /** A variable of the email that has neither a value nor a fallback. */
  missing: string | null;
  /** The missing part is one that exceeded the rendering limit. */
  isFailed?: boolean;
  /** The same email may have been sent in the time lost to a restore. */
  mayHaveLeft: boolean;
  now: number;
};

/**
 * Creates the draft of a run's step. Without an address it is held, and its period starts when the address arrives. With missing content,
 * or if the email may have been sent before a restore, it is held for review.
 */
export function newDraft(input: NewDraft): DraftChange {
  const { expiresAfterMs, hasAddress, missing, isFailed = false, mayHaveLeft, now, ...rest } = input;
  const times = hasAddress
    ? firstTimes({ ...rest, now, expiresAfterMs })
    : { deadlineAt: null, expiresAt: null };
  const why = holdReason({ hasAddress, missing, isFailed, mayHaveLeft });
  return beginDraft(
    {
      ...rest,
      facts: factsWithout(rest.facts, missing),
      contentHash: hashContent(rest.content),
      isEdited: false,
      ...times,
      state: why === null ? 'scheduled' : 'held',
      resumeState: why === null ? null : 'scheduled',
      reason: why,
      notBefore: null,
      dueAt: why === null ? dueOfScheduled({ ...times, notBefore: null, endsAt: rest.endsAt }) : null,
      leaseBy: null,
      resendOf: null,
    },
    {
      action: why === null ? 'schedule' : 'hold',
      actor: ENGINE,
      now,
      reason: why,
      detail: missing === null ? {} : { variable: missing },
    },
  );
}

type HoldCauses = Pick<NewDraft, 'hasAddress' | 'missing' | 'isFailed' | 'mayHaveLeft'>;

function holdReason({ hasAddress, missing, isFailed, mayHaveLeft }: HoldCauses): Draft['reason'] {
  // This comes before the address check, because an address may arrive by itself and no member would have decided. Missing content comes
  // first, because no approval may send it.
  if (mayHaveLeft && missing === null) return 'restored';
  if (!hasAddress) return 'no_address';
  return missing === null ? null : gapReason(isFailed);
}

/** Returns the reason for holding a draft with incomplete content. */
export function gapReason(isFailed = false): 'missing_variable' | 'render_failed' {
  return isFailed ? 'render_failed' : 'missing_variable';
}

/**
 * Hashes the content, which is what a member approves: neither the recipient nor the time. Most content is Markdown, so only another format
 * is part of the hash.
 */
export function hashContent({ subject, preheader, body, format }: DraftContent): string {
  const words = { subject, preheader, body };
  return sha256(canonicalJson(format === 'markdown' ? words : { ...words, format }));
}

/** Adds a missing variable to the facts as null. */
export function factsWithout(facts: Draft['facts'], missing: string | null): Draft['facts'] {
  return missing === null ? facts : { ...facts, [missing]: null };
}

type Times = Pick<Draft, 'deadlineAt' | 'expiresAt'>;

/** Returns the first deadline and the expiry derived from it, or nulls if a member has to send the draft. */
export function firstTimes(
  input: Pick<Draft, 'autopilotMs' | 'endsAt'> & { now: number; expiresAfterMs: number },
): Times {
  const { autopilotMs, endsAt, now, expiresAfterMs } = input;
  if (autopilotMs === null) return { deadlineAt: null, expiresAt: null };
  const deadlineAt = boundedDeadline(now + autopilotMs, { now, endsAt });
  return { deadlineAt, expiresAt: expiresAfter(deadlineAt, { ms: expiresAfterMs, endsAt }) };
}

/** Starts the period of a draft when its user has an address, unless it had started before the address was lost. */
export function resumeWithAddress(
  draft: Draft,
  input: { now: number; expiresAfterMs: number; missing: string | null; isFailed?: boolean; actor?: Actor },
): DraftActionResult {
  if (draft.state !== 'held' || draft.reason !== 'no_address') {
    return conflict('The draft does not wait for an address');
  }
  const { now, expiresAfterMs, missing, actor = ENGINE } = input;
  const timed =
    draft.deadlineAt === null ? { ...draft, ...firstTimes({ ...draft, now, expiresAfterMs }) } : draft;
  if (missing === null || draft.isEdited) return release(timed, { now, actor, reason: 'address_arrived' });
  const reason = gapReason(input.isFailed);
  const changed = { ...timed, reason, facts: factsWithout(draft.facts, missing) };
  return applyTransition(draft, changed, {
    action: 'hold',
    actor,
    now,
    reason,
    detail: { variable: missing },
  });
}
