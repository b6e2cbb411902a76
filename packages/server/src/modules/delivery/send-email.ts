import type { TokenKeys } from '../../platform/crypto/email-token.ts';
import type { Database } from '../../platform/db/database.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import type { SendResult } from '../../platform/mail/send-result.ts';
import { deliveryAddress } from '../../platform/net/address.ts';
import { isRenderFailure } from '../rendering/index.ts';
import { createModels } from '../rules/index.ts';
import { maySendEmails, type RelayRef, type RestoreGuard } from '../sending/index.ts';
import { type AskDeps, askRelays } from './ask-relays.ts';
import { type ClaimedBatch, claimBatch } from './claim-batch.ts';
import { type ClaimedEmail, freeze, type FreezeDeps, type Frozen } from './compose-email.ts';
import type { SendServices } from './send-services.ts';
import { createChannels, type Channel, type Channels, type ChannelsOptions } from './relay-channels.ts';
import type { Room } from './draft-batch.ts';
import { createRecordQueue } from './record-queue.ts';
import { recordResults } from './record-results.ts';
import { createSubmitQueue, submissionOf } from './submit-queue.ts';
import type { EmailResult, Transport, TransportEmail } from './transport.ts';
import { listLost } from './email-rows.ts';
import { quietUntil } from './gate/quiet-hours.ts';
import { Fault } from '../../platform/fault.ts';
import { TaskStopped } from '../../platform/threads/worker-pool.ts';

/** `completion` resolves when the results of the emails are recorded; it never rejects. */
export type SentBatch = { drafts: number; emails: number; lateMs: number; completion: Promise<void> };

/** Sends drafts that are due and pass the send checks, each at most once. */
export type DueDraftSender = {
  /** Claims one batch of due drafts of a project, and starts to send it. */
  begin(projectId: number): Promise<SentBatch>;
  /** Like `begin`, but waits until the batch is sent. */
  batch(projectId: number): Promise<SentBatch>;
  /** Returns false if the database was restored and no operator has confirmed it. */
  maySend(): Promise<boolean>;
  /** Returns when emails can be sent again; null: now, through one of the relays at least. */
  closedUntil(): Promise<number | null>;
  /** Returns false if the relay of a project accepted nothing a moment ago, and still does not. */
  mayClaim(projectId: number): boolean;
  /** Returns how many more emails can be claimed now, for the relay that has most room. */
  capacity(): number;
  /**
   * Gives up on claimed emails that have no result when their lease expires. Unsubmitted ones are sent again; the delivery of the others is
   * unknown. Returns their number.
   */
  giveUp(): Promise<number>;
  /** Asks relays that recognize a repeated request what became of emails whose delivery is unknown. Returns the number of questions. */
  askAgain(): Promise<number>;
  /** Returns emails that are not submitted yet. Emails that are being sent continue. */
  stop(): void;
};

export type SenderOptions = {
  db: Database;
  log: Log;
  newId: NewId;
  sendServices: SendServices;
  tokenKeys: TokenKeys;
  /** The relay of `SMTP_URL`, or the test inbox. */
  transport: Transport;
  /** Opens the relays of projects and domains. Without it there are none. */
  openRelayTransport?: ChannelsOptions['openRelayTransport'];
  /**
   * If nothing more is due now, drafts that fall due within this time are claimed together, by whichever worker. A batch of two emails
   * costs as much as twenty more in a larger one. Without this option, each email is sent at its exact time.
   */
  togetherMs?: number;
  /** `auto`, the default: an operator has to confirm a restored database. `manual`: a takeover by a standby needs no confirmation. */
  restoreGuard?: RestoreGuard;
};

type Steps = {
  /** Each draft passes its send checks, and each email belongs to this process from the commit on. */
  claim(projectId: number, room: Room): Promise<ClaimedBatch>;
  /** Composes the email, or returns why it cannot be composed. */
  render(email: ClaimedEmail): Promise<Frozen | SendResult>;
  /** Commits that the email may be sent from now on. Resolves to false if it must not be sent any more. */
  submit(email: ClaimedEmail, frozen: Frozen): Promise<boolean>;
  send(email: ClaimedEmail, frozen: Frozen): Promise<SendResult>;
  /** Commits the result, with its consequences. */
  record(result: EmailResult): Promise<void>;
  channels: Channels;
  now(): number;
};

/**
 * Sends a batch of due drafts: claim → render → submit → send → record. The claim is of the whole batch, and all other steps are of each
 * email, in the channel of its relay. An email is submitted only when a slot is free, so few emails are between that commit and the commit of their result. After a
 * crash, the delivery of these is unknown.
 */
async function sendBatch(steps: Steps, projectId: number): Promise<SentBatch> {
  const { channels } = steps;
  const { emails, drafts, lateMs, blocked } = await steps.claim(projectId, channels);
  channels.noteBlocked(projectId, drafts === 0 ? blocked : []);
  const byChannel = Map.groupBy(emails, ({ sender }) => channels.channelOf(sender.relay));
  const completions = [...byChannel].map(([channel, ofChannel]) =>
    channel.inFlight.run(ofChannel, (email) => sendOne(steps, channel, email)),
  );
  const completion = Promise.all(completions).then(() => undefined);
  return { drafts, emails: emails.length, lateMs, completion };
}

async function sendOne(
  steps: Steps,
  { slots, unsettled }: Pick<Channel, 'slots' | 'unsettled'>,
  email: ClaimedEmail,
): Promise<void> {
  const frozen = await steps.render(email);
  const { relay } = email.sender;
  if ('result' in frozen) return steps.record({ email, sendResult: frozen, relay });
  await unsettled.use(async () => {
    const sendResult = await slots.use(async () => {
      const since = steps.now();
      if (!(await steps.submit(email, frozen))) return RETURNED;
      return steps.now() - since < SEND_WITHIN_MS ? steps.send(email, frozen) : NOT_SENT;
    });
    await steps.record({ email, sendResult, relay });
  });
}

const RETURNED: SendResult = { result: 'returned' };
/**
 * A process that was stopped for longer than this after a submission does not send the email. Another worker may have given it up and asked
 * its relay, and the relay recognizes a repeated request for a limited time only.
 */
const SEND_WITHIN_MS = 60_000;
const NOT_SENT: SendResult = { result: 'deferred', reason: 'relay_unreachable', isRelayFault: true };

export function createSender(options: SenderOptions): DueDraftSender {
  const { db, log, newId, sendServices, tokenKeys, togetherMs = 0 } = options;
  const now = (): number => db.clock.now();
  const claiming = { db, newId, models: createModels(db.clock), sendServices, togetherMs };
  const { outlet, renderer } = sendServices;
  const rendering = { outlet, tokenKeys, renderer, isSending: true, now, log };
  const submit = createSubmitQueue(db);
  const channels = createChannels({ ...options, now });
  const transportOf = (relay: RelayRef | null): Transport => channels.channelOf(relay).transport;
  let stopping = false;
  const steps: Steps = {
    claim: (projectId, room) => claimBatch(claiming, projectId, room),
    render: (email) => render(email, rendering),
    submit(email, frozen) {
      const mayLeave = !stopping && !isQuiet(email, now() + email.aheadMs);
      return mayLeave ? submit(submissionOf(email, frozen, now())) : Promise.resolve(false);
    },
    send: (email, frozen) => send(transportOf(email.sender.relay), email, frozen),
    record: createRecordQueue({ ...options, transportOf }),
    channels,
    now,
  };
  const asking: AskDeps = {
    claiming,
    answering: options,
    channels,
    submit: ({ relay, ...email }) => submitSafely(transportOf(relay), email),
    isStopping: () => stopping,
  };

  async function begin(projectId: number): Promise<SentBatch> {
    const sent = await sendBatch(steps, projectId);
    const { drafts, emails, lateMs } = sent;
    if (drafts > 0) log.info({ project_id: projectId, drafts, emails, late_ms: lateMs }, 'drafts.processed');
    return sent;
  }

  return {
    begin,
    async batch(projectId) {
      const sent = await begin(projectId);
      await sent.completion;
      return sent;
    },
    maySend: () => maySend(options),
    async closedUntil() {
      await channels.refresh();
      return channels.closedUntil();
    },
    mayClaim: (projectId) => !channels.isBlocked(projectId),
    capacity: () => channels.capacity(),
    giveUp: () => giveUp(options),
    // Without relays of projects there is no key. A restored database must not ask, because a question may send an email.
    askAgain: async () => (options.openRelayTransport && (await maySend(options)) ? askRelays(asking) : 0),
    stop() {
      stopping = true;
    },
  };
}

/** One email that cannot be rendered does not delay others: it is held for a member, or returned if the renderer was busy. */
async function render(
  email: ClaimedEmail,
  { log, ...deps }: FreezeDeps & { log: Log },
): Promise<Frozen | SendResult> {
  if (email.frozen) return { ...email.frozen, tracked: null };
  try {
    return await freeze(email, deps);
  } catch (error) {
    if (isRenderBusy(error)) return RETURNED;
    const fields = { project_id: email.projectId, draft_id: email.draftId, err: error };
    if (isRenderFailure(error)) {
      log.warn(fields, 'email.not_rendered');
      return { result: 'withheld', reason: error instanceof Error ? error.message : 'it was not rendered' };
    }
    log.error(fields, 'email.not_composed');
    return { result: 'failed', reason: 'not_composed' };
  }
}

function isQuiet({ quiet }: ClaimedEmail, now: number): boolean {
  return quiet !== null && quietUntil(now, quiet.zone, quiet.window) !== null;
}

function send(transport: Transport, claimed: ClaimedEmail, frozen: Frozen): Promise<SendResult> {
  const { projectId, draftId, emailId, userId, address, content } = claimed;
  const { mailFrom, mime } = frozen;
  const rcptTo = deliveryAddress(claimed.email);
  return submitSafely(transport, {
    projectId,
    draftId,
    emailId,
    userId,
    address,
    content,
    mailFrom,
    rcptTo,
    mime,
  });
}

/** A transport that throws may have sent the email before that. */
async function submitSafely(transport: Transport, email: TransportEmail): Promise<SendResult> {
  try {
    return await transport.submit(email);
  } catch (error) {
    return { result: 'unknown', reason: error instanceof Error ? error.message.slice(0, 500) : 'error' };
  }
}

function maySend({ db, log, restoreGuard = 'auto' }: SenderOptions): Promise<boolean> {
  return maySendEmails({ db, log, restoreGuard });
}

async function giveUp(options: SenderOptions): Promise<number> {
  const { db, newId } = options;
  // Emails that a restored database was about to send are left to the operator who confirms it: they must not be returned.
  if (!(await maySend(options))) return 0;
  const lost = await listLost(db, new Date(db.clock.now()));
  const results = lost.map(({ submitted, ...email }): EmailResult => ({
    email,
    sendResult: submitted ? { result: 'unknown', reason: 'lost' } : RETURNED,
  }));
  if (results.length > 0) await recordResults({ db, newId }, results);
  return lost.length;
}

/** Returns true if too many tasks wait, or the process stops. */
function isRenderBusy(error: unknown): boolean {
  return error instanceof Fault && error.cause instanceof TaskStopped && !error.cause.isForGood;
}
