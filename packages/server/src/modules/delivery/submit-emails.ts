import { deliveryAddress } from '../../platform/net/address.ts';
import { type Coalesced, coalesce } from '../../platform/async/coalesce.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Log, LogFields } from '../../platform/log.ts';
import { insertLinks, type TrackedEmail } from '../outcomes/index.ts';
import { isAccepted, packMime, quietUntil, type Submission, submitMessages } from '../sending/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { type ClaimedEmail, freeze, type FreezeDeps, type Frozen } from './compose-email.ts';
import { isRenderBusy, isRenderFailure } from '../rendering/index.ts';
import { inSession } from '../../platform/db/session-transactions.ts';
import { createPace, createSlots, type Slots } from './slots.ts';
import { recordResults } from './record-results.ts';
import { createRelayWords, type RelayWords } from './relay-notices.ts';
import type { Handed, Transport } from './transport.ts';
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
  room(): number;
  /** Resolves when the results of all of them are recorded. */
  take(emails: ClaimedEmail[]): Promise<void>;
  /** Returns emails that are not submitted yet. Emails that are being sent continue. */
  stop(): void;
};

export type HandOverOptions = Omit<FreezeDeps, 'now'> & {
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

type Recording = HandOverOptions & { words: RelayWords };

export function createHandOver(given: HandOverOptions): EmailSubmitter {
  const { db, transport } = given;
  const options: Recording = { ...given, words: createRelayWords(() => db.clock.now()) };
  const count = transport.slots ?? SLOTS;
  let stopping = false;
  const shared: Shared = {
    ...options,
    now: () => db.clock.now(),
    slots: createSlots(count),
    unsettled: createSlots(count * UNSETTLED_OF_EACH),
    isStopping: () => stopping,
    submit: submitting(db),
    record: recording(options),
    recordAlone: (result) => recordNoted(options, [result]),
  };
  const pace = createPace(count);
  let waiting = 0;

  /**
   * After a failed submission it is unknown whether it was committed. When its lease expires, the email counts as lost or is tried again.
   */
  async function oneSafely(email: ClaimedEmail): Promise<void> {
    try {
      await one(shared, email);
    } catch (error) {
      options.log.error({ ...idsOf(email), err: error }, 'email.not_submitted');
    } finally {
      waiting -= 1;
      pace.note();
    }
  }

  return {
    room() {
      if (transport.isDoubtful?.() === true) return waiting === 0 ? 1 : 0;
      const free = count + pace.ahead() - waiting;
      // A claim costs as much for one email as for twenty.
      return free * 2 >= count + pace.ahead() ? free : 0;
    },
    async take(emails) {
      waiting += emails.length;
      await Promise.all(emails.map(oneSafely));
    },
    stop() {
      stopping = true;
    },
  };
}

function submitting(db: Database): Shared['submit'] {
  return coalesce({
    keyOf: ({ draftId, epoch }) => `${draftId} ${epoch}`,
    roundMax: ROUND_MAX,
    timeLimitMs: COMMIT_WITHIN_MS,
    async answer(rows) {
      const leaseUntil = db.clock.now() + SUBMITTED_FOR_MS;
      const gone = await inSession(db, async (tx) => {
        // The database may be restored while an email is claimed. An email that was claimed before a restore is not submitted after it.
        const [submitted, isOurs] = await Promise.all([
          submitMessages(tx, { rows, leaseUntil }),
          isAccepted(tx),
        ]);
        if (!isOurs) return new Set<string>();
        const links = rows.flatMap((row) => (row.links && submitted.has(row.draftId) ? [row.links] : []));
        db.reach?.('submit_committing');
        // Both are sent in one round trip, so that tracking costs none of its own.
        await tx.together(() => Promise.all([insertLinks(tx, links), tx.commit()]));
        db.reach?.('submit_committed');
        return submitted;
      });
      return rows.map(({ draftId }) => gone.has(draftId));
    },
  });
}

/** Records results. Consequences of refusals, such as a rule that lost autopilot, are logged for the operator. */
async function recordNoted(options: Recording, results: EmailResult[]): Promise<void> {
  const { words, transport, log } = options;
  const { troubles, notes } = await recordResults(options, results);
  words.note(results);
  if (troubles.some((trouble) => words.isEverybodys(trouble))) transport.pause?.(PAUSE_MS);
  for (const { event, ...fields } of notes) log.warn(fields, event);
}

function recording(options: Recording): Shared['record'] {
  return coalesce({
    keyOf: ({ email }) => `${email.draftId} ${email.epoch}`,
    roundMax: ROUND_MAX,
    timeLimitMs: COMMIT_WITHIN_MS,
    async answer(results) {
      options.db.reach?.('email_answered');
      await recordNoted(options, results);
      return results.map(() => true as const);
    },
  });
}

async function one(shared: Shared, email: ClaimedEmail): Promise<void> {
  const frozen = email.frozen ? { ...email.frozen, tracked: null } : await frozenOrNot(shared, email);
  if ('result' in frozen) return recorded(shared, { email, handed: frozen });
  const { slots, unsettled, submit, transport, isStopping } = shared;
  await unsettled.use(async () => {
    const handed = await slots.use(async () => {
      const isKept = isStopping() || isQuiet(email, shared.now() + email.aheadMs);
      if (isKept || !(await submit(submissionOf(email, frozen, shared.now()))))
        return { result: 'returned' as const };
      return handOne(transport, email, frozen);
    });
    await recorded(shared, { email, handed });
  });
}

type NotFrozen = Exclude<EmailResult['handed'], Handed> | { result: 'failed'; reason: string };

/** Freezes an email. One that cannot be rendered does not delay others: it is held for a member, or returned if the renderer was busy. */
async function frozenOrNot(shared: Shared, email: ClaimedEmail): Promise<Frozen | NotFrozen> {
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
      log.warn({ ...idsOf(result.email), result: result.handed.result, err: error }, 'email.not_recorded');
      if (againMs === null) return;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
}

function isQuiet({ quiet }: ClaimedEmail, now: number): boolean {
  return quiet !== null && quietUntil(now, quiet.zone, quiet.window) !== null;
}

function submissionOf(claimed: ClaimedEmail, { mailFrom, mime, tracked }: Frozen, now: number): ToSubmit {
  const { projectId, draftId, messageId, epoch, userId, email, sender } = claimed;
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
    links: tracked && { projectId, messageId, userId, ...tracked },
  };
}

/** A transport that throws may have sent the email before that. */
async function handOne(transport: Transport, claimed: ClaimedEmail, frozen: Frozen): Promise<Handed> {
  const { projectId, draftId, messageId, userId, address, content } = claimed;
  try {
    return await transport.hand({
      projectId,
      draftId,
      messageId,
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
