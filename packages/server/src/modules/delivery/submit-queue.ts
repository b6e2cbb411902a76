import { type Coalesced, coalesce } from '../../platform/async/coalesce.ts';
import type { Database } from '../../platform/db/database.ts';
import { inSession } from '../../platform/db/session-transactions.ts';
import { deliveryAddress } from '../../platform/net/address.ts';
import { idempotencyOf } from '../../platform/relays/idempotency.ts';
import { insertLinks, type TrackedEmail } from '../outcomes/index.ts';
import { isAccepted, markSubmitting, type Submission } from '../sending/index.ts';
import type { ClaimedEmail, Frozen } from './compose-email.ts';
import { packMime } from './pack-mime.ts';

type ToSubmit = Submission & { links: TrackedEmail | null };

const ROUND_MAX = 100;
const COMMIT_WITHIN_MS = 30_000;
/** Longer than any transport takes. Until then, no other worker may treat the email as lost. */
const SUBMITTED_FOR_MS = 15 * 60_000;
/** Longer than a request takes. The relay is asked again soon, because its window may be as short as 15 minutes. */
const REQUESTED_FOR_MS = 2 * 60_000;
/** A question begins within half a minute of its check, and its request takes at most as long. */
const WINDOW_MARGIN_MS = 2 * 60_000;

/**
 * Commits that emails are submitted, with their bytes. Resolves to false for an email that must not be sent any more. Emails that are ready
 * at the same time share a commit.
 */
export function createSubmitQueue(db: Database): Coalesced<ToSubmit, boolean> {
  return coalesce({
    keyOf: ({ draftId, epoch }) => `${draftId} ${epoch}`,
    roundMax: ROUND_MAX,
    timeLimitMs: COMMIT_WITHIN_MS,
    async load(rows) {
      const submittedIds = await inSession(db, async (tx) => {
        // The database may be restored while an email is claimed. An email that was claimed before a restore is not submitted after it.
        const [submitted, isOurs] = await Promise.all([markSubmitting(tx, rows), isAccepted(tx)]);
        if (!isOurs) return new Set<string>();
        const links = rows.flatMap((row) => (row.links && submitted.has(row.draftId) ? [row.links] : []));
        db.failpoint?.('submit_committing');
        // Both are sent in one round trip, so that tracking costs none of its own.
        await tx.together(() => Promise.all([insertLinks(tx, links), tx.commit()]));
        db.failpoint?.('submit_committed');
        return submitted;
      });
      return rows.map(({ draftId }) => submittedIds.has(draftId));
    },
  });
}

export function submissionOf(
  claimed: ClaimedEmail,
  { mailFrom, mime, tracked }: Frozen,
  now: number,
): ToSubmit {
  const { projectId, draftId, emailId, epoch, userId, email, sender } = claimed;
  const idempotency = sender.relay && idempotencyOf(sender.relay.kind);
  return {
    projectId,
    draftId,
    epoch,
    userId,
    email,
    domain: sender.outlet.kind === 'test_inbox' ? null : sender.domain,
    mailFrom,
    rcptTo: deliveryAddress(email),
    mime: claimed.frozen ? null : packMime(mime),
    at: now + claimed.aheadMs,
    leaseUntil: now + (idempotency ? REQUESTED_FOR_MS : SUBMITTED_FOR_MS),
    askForMs: idempotency && idempotency.windowMs - WINDOW_MARGIN_MS,
    links: tracked && { projectId, emailId, userId, ...tracked },
  };
}
