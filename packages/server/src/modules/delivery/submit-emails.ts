import { deliveryAddress } from '../../platform/net/address.ts';
import { type Coalesced, coalesce } from '../../platform/async/coalesce.ts';
import { createSlots, type Slots } from '../../platform/async/slots.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Log, LogFields } from '../../platform/log.ts';
import { insertLinks, type TrackedEmail } from '../outcomes/index.ts';
import { isAccepted, packMime, quietUntil, type Submission, markSubmitting } from '../sending/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { type ClaimedEmail, freeze, type FreezeDeps, type Frozen } from './compose-email.ts';
import { isRenderBusy, isRenderFailure } from '../rendering/index.ts';
import { inSession } from '../../platform/db/session-transactions.ts';
import { createPace } from './pace.ts';
import { recordResults } from './record-results.ts';
import { createRelayReplies, type RelayReplies } from './relay-notices.ts';
import type { TransportResult, Transport } from './transport.ts';
import type { EmailResult } from './apply-refusals.ts';

/**
 * Sends claimed emails: freezes and submits them, hands them to the transport and records the results, several at a time.
 *
 * An email is submitted (a commit) when a slot is free to send it. So only few emails are between that commit and the commit of their
 * result; after a crash, the delivery of these is unknown. Emails that are ready at the same time share a commit, and so do results that
 * arrive at the same time.
 */
export type EmailSubmitter = {
  /** Returns how many more emails it can take now. */
  capacity(): number;
  /** Resolves when the results of all of them are recorded. */
  take(emails: ClaimedEmail[]): Promise<void>;
  /** Returns emails that are not submitted yet. Emails that are being sent continue. */
  stop(): void;
};

export type EmailSubmitterOptions = Omit<FreezeDeps, 'now'> & {
  db: Database;
  log: Log;
  newId: NewId;
  transport: Transport;
};

const SLOTS = 5;
/** Submitted emails per slot: while one is being sent, the result of another is recorded. */
const UNSETTLED_OF_EACH = 2;
const ROUND_MAX = 100;
const COMMIT_WITHIN_MS = 30_000;
/** Longer than any transport takes. Until then, no other worker may treat the email as lost. */
const SUBMITTED_FOR_MS = 15 * 60_000;
/** The pause for a relay that rejects recipients of all projects with the same reply. */
const PAUSE_MS = 5 * 60_000;
const RECORD_AGAIN_MS = [100, 500, 2_000, 5_000, 15_000, 30_000];

type ToSubmit = Submission & { links: TrackedEmail | null };

type Shared = FreezeDeps & {
  log: Log;
  transport: Transport;
  slots: Slots;
  /** Held from the submission of an email until its result. */
  unsettled: Slots;
  isStopping: () => boolean;
  submit: Coalesced<ToSubmit, boolean>;
  record: Coalesced<EmailResult, true>;
  /** Records a single result, after recording a round of results failed. */
  recordAlone: (result: EmailResult) => Promise<unknown>;
};

type RecordingOptions = EmailSubmitterOptions & { relayReplies: RelayReplies };

export function createEmailSubmitter(input: EmailSubmitterOptions): EmailSubmitter {
  const { db, transport } = input;
  const options: RecordingOptions = { ...input, relayReplies: createRelayReplies(() => db.clock.now()) };
  const count = transport.slots ?? SLOTS;
  let stopping = false;
  const shared: Shared = {
    ...options,
    now: () => db.clock.now(),
    slots: createSlots(count),
    unsettled: createSlots(count * UNSETTLED_OF_EACH),
    isStopping: () => stopping,
    submit: createSubmitQueue(db),
    record: createRecordQueue(options),
    recordAlone: (result) => recordAndLog(options, [result]),
  };
  const pace = createPace(count);
  let waiting = 0;

  /**
   * After a failed submission it is unknown whether it was committed. When its lease expires, the email counts as lost or is tried again.
   */
  async function sendSafely(email: ClaimedEmail): Promise<void> {
    try {
      await sendEmail(shared, email);
    } catch (error) {
      options.log.error({ ...idsOf(email), err: error }, 'email.not_submitted');
    } finally {
      waiting -= 1;
      pace.note();
    }
  }

  return {
    capacity() {
      if (transport.isDoubtful?.() === true) return waiting === 0 ? 1 : 0;
      const free = count + pace.ahead() - waiting;
      // A claim costs as much for one email as for twenty.
      return free * 2 >= count + pace.ahead() ? free : 0;
    },
    async take(emails) {
      waiting += emails.length;
      await Promise.all(emails.map(sendSafely));
    },
    stop() {
      stopping = true;
    },
  };
}

function createSubmitQueue(db: Database): Shared['submit'] {
  return coalesce({
    keyOf: ({ draftId, epoch }) => `${draftId} ${epoch}`,
    roundMax: ROUND_MAX,
    timeLimitMs: COMMIT_WITHIN_MS,
    async load(rows) {
      const leaseUntil = db.clock.now() + SUBMITTED_FOR_MS;
      const submittedIds = await inSession(db, async (tx) => {
        // The database may be restored while an email is claimed. An email that was claimed before a restore is not submitted after it.
        const [submitted, isOurs] = await Promise.all([
          markSubmitting(tx, { rows, leaseUntil }),
          isAccepted(tx),
        ]);
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

/** Records results. Consequences of refusals, such as a rule that lost autopilot, are logged for the operator. */
async function recordAndLog(options: RecordingOptions, results: EmailResult[]): Promise<void> {
  const { relayReplies, transport, log } = options;
  const { failures, notes } = await recordResults(options, results);
  relayReplies.note(results);
  if (failures.some((failure) => relayReplies.isShared(failure))) transport.pause?.(PAUSE_MS);
  for (const { event, ...fields } of notes) log.warn(fields, event);
}

function createRecordQueue(options: RecordingOptions): Shared['record'] {
  return coalesce({
    keyOf: ({ email }) => `${email.draftId} ${email.epoch}`,
    roundMax: ROUND_MAX,
    timeLimitMs: COMMIT_WITHIN_MS,
    async load(results) {
      options.db.failpoint?.('email_reply_received');
      await recordAndLog(options, results);
      return results.map(() => true as const);
    },
  });
}

async function sendEmail(shared: Shared, email: ClaimedEmail): Promise<void> {
  const frozen = email.frozen ? { ...email.frozen, tracked: null } : await freezeOrFail(shared, email);
  if ('result' in frozen) return recorded(shared, { email, sendResult: frozen });
  const { slots, unsettled, submit, transport, isStopping } = shared;
  await unsettled.use(async () => {
    const sendResult = await slots.use(async () => {
      const isReturned = isStopping() || isQuiet(email, shared.now() + email.aheadMs);
      if (isReturned || !(await submit(submissionOf(email, frozen, shared.now()))))
        return { result: 'returned' as const };
      return submitToTransport(transport, email, frozen);
    });
    await recorded(shared, { email, sendResult });
  });
}

type NotFrozen = Exclude<EmailResult['sendResult'], TransportResult> | { result: 'failed'; reason: string };

/** Freezes an email. One that cannot be rendered does not delay others: it is held for a member, or returned if the renderer was busy. */
async function freezeOrFail(shared: Shared, email: ClaimedEmail): Promise<Frozen | NotFrozen> {
  try {
    return await freeze(email, shared);
  } catch (error) {
    if (isRenderBusy(error)) return { result: 'returned' };
    if (isRenderFailure(error)) {
      shared.log.warn({ ...idsOf(email), err: error }, 'email.not_rendered');
      return { result: 'withheld', reason: error instanceof Error ? error.message : 'it was not rendered' };
    }
    shared.log.error({ ...idsOf(email), err: error }, 'email.not_composed');
    return { result: 'failed', reason: 'not_composed' };
  }
}

/** Records the answer of a server. It exists nowhere else, so it is retried when the database is unavailable for a moment. */
async function recorded({ record, recordAlone, log }: Shared, result: EmailResult): Promise<void> {
  for (const [attempt, againMs] of [...RECORD_AGAIN_MS, null].entries()) {
    try {
      await (attempt === 0 ? record(result) : recordAlone(result));
      return;
    } catch (error) {
      log.warn(
        { ...idsOf(result.email), result: result.sendResult.result, err: error },
        'email.not_recorded',
      );
      if (againMs === null) return;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}

function isQuiet({ quiet }: ClaimedEmail, now: number): boolean {
  return quiet !== null && quietUntil(now, quiet.zone, quiet.window) !== null;
}

function submissionOf(claimed: ClaimedEmail, { mailFrom, mime, tracked }: Frozen, now: number): ToSubmit {
  const { projectId, draftId, emailId, epoch, userId, email, sender } = claimed;
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
    links: tracked && { projectId, emailId, userId, ...tracked },
  };
}

/** A transport that throws may have sent the email before that. */
async function submitToTransport(
  transport: Transport,
  claimed: ClaimedEmail,
  frozen: Frozen,
): Promise<TransportResult> {
  const { projectId, draftId, emailId, userId, address, content } = claimed;
  try {
    return await transport.submit({
      projectId,
      draftId,
      emailId,
      userId,
      address,
      content,
      mailFrom: frozen.mailFrom,
      rcptTo: deliveryAddress(claimed.email),
      mime: frozen.mime,
    });
  } catch (error) {
    return { result: 'unknown', reason: error instanceof Error ? error.message.slice(0, 500) : 'error' };
  }
}

function idsOf({ projectId, draftId }: Pick<ClaimedEmail, 'projectId' | 'draftId'>): LogFields {
  return { project_id: projectId, draft_id: draftId };
}
