import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/hash.ts';
import { type Actor, type Content, type Draft, ENGINE } from './draft.ts';
import { release } from './hold-draft.ts';
import { begun, type Moved, moved } from './moves.ts';
import { conflict, type Decided } from './refuse.ts';
import { boundedDeadline, dueOfScheduled, expiresAfter } from './timing.ts';

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
  /** How long after its first deadline it is worth sending. */
  expiresAfterMs: number;
  hasAddress: boolean;
  /** A variable of the letter of which nothing is known and for which it has no fallback. */
  missing: string | null;
  /** It is the part that takes more work than an email may. */
  isFailed?: boolean;
  /** The same letter may have left in time that a restore took away. */
  mayHaveLeft: boolean;
  now: number;
};

/**
 * A draft as a run's step makes it. Without an address it is held until there is one, and only then does its time begin;
 * where a letter would have a hole, or may have left before a restore, it is held for a person.
 */
export function newDraft(made: NewDraft): Moved {
  const { expiresAfterMs, hasAddress, missing, isFailed = false, mayHaveLeft, now, ...rest } = made;
  const times = hasAddress
    ? firstTimes({ ...rest, now, expiresAfterMs })
    : { deadlineAt: null, expiresAt: null };
  const why = whyHeld({ hasAddress, missing, isFailed, mayHaveLeft });
  return begun(
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

type Doubts = Pick<NewDraft, 'hasAddress' | 'missing' | 'isFailed' | 'mayHaveLeft'>;

function whyHeld({ hasAddress, missing, isFailed, mayHaveLeft }: Doubts): Draft['reason'] {
  // First, for an address may come by itself, and nobody would have been asked. A hole comes before all: no approval may send it.
  if (mayHaveLeft && missing === null) return 'restored';
  if (!hasAddress) return 'no_address';
  return missing === null ? null : gapReason(isFailed);
}

/** Why a draft is held whose content is not whole. */
export function gapReason(isFailed = false): 'missing_variable' | 'render_failed' {
  return isFailed ? 'render_failed' : 'missing_variable';
}

/** The content is what is approved, so it is what is hashed: not who gets it, nor when. Most is Markdown, which says no format. */
export function hashContent({ subject, preheader, body, format }: Content): string {
  const words = { subject, preheader, body };
  return sha256(canonicalJson(format === 'markdown' ? words : { ...words, format }));
}

/** What is missing stands among the facts as a null, by its name. */
export function factsWithout(facts: Draft['facts'], missing: string | null): Draft['facts'] {
  return missing === null ? facts : { ...facts, [missing]: null };
}

type Times = Pick<Draft, 'deadlineAt' | 'expiresAt'>;

/** The first deadline, and the expiry that is counted from it; neither where a person has to send it. */
export function firstTimes(
  given: Pick<Draft, 'autopilotMs' | 'endsAt'> & { now: number; expiresAfterMs: number },
): Times {
  const { autopilotMs, endsAt, now, expiresAfterMs } = given;
  if (autopilotMs === null) return { deadlineAt: null, expiresAt: null };
  const deadlineAt = boundedDeadline(now + autopilotMs, { now, endsAt });
  return { deadlineAt, expiresAt: expiresAfter(deadlineAt, { ms: expiresAfterMs, endsAt }) };
}

/** The person it is for has an address now: its time begins, unless it had begun before the address was lost. */
export function addressArrived(
  draft: Draft,
  given: { now: number; expiresAfterMs: number; missing: string | null; isFailed?: boolean; actor?: Actor },
): Decided {
  if (draft.state !== 'held' || draft.reason !== 'no_address') {
    return conflict('The draft does not wait for an address');
  }
  const { now, expiresAfterMs, missing, actor = ENGINE } = given;
  const timed =
    draft.deadlineAt === null ? { ...draft, ...firstTimes({ ...draft, now, expiresAfterMs }) } : draft;
  if (missing === null || draft.isEdited) return release(timed, { now, actor, reason: 'address_arrived' });
  const reason = gapReason(given.isFailed);
  const changed = { ...timed, reason, facts: factsWithout(draft.facts, missing) };
  return moved(draft, changed, {
    action: 'hold',
    actor,
    now,
    reason,
    detail: { variable: missing },
  });
}
