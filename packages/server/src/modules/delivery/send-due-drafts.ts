import type { TokenKeys } from '../../platform/crypto/email-token.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { type RestoreGuard, listLost, maySendEmails } from '../sending/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { createModels } from '../rules/index.ts';
import { createEmailSubmitter } from './submit-emails.ts';
import type { SendServices } from './mailroom.ts';
import { recordResults } from './record-results.ts';
import { claimBatch } from './send-batch.ts';
import type { Transport } from './transport.ts';
import type { EmailResult } from './apply-refusals.ts';
import type { SendDeps } from './draft-batch.ts';

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
  /** Returns when emails can be sent again; null: now. */
  closedUntil(): number | null;
  /** Returns how many more emails can be claimed now. */
  capacity(): number;
  /**
   * Gives up on claimed emails that have no result when their lease expires. Unsubmitted ones are sent again; the delivery of the others is
   * unknown. Returns their number.
   */
  giveUp(): Promise<number>;
  /** Stops submitting. Emails that were claimed and not submitted are returned. */
  stop(): void;
};

export type SenderOptions = {
  db: Database;
  log: Log;
  newId: NewId;
  sendServices: SendServices;
  tokenKeys: TokenKeys;
  transport: Transport;
  /**
   * If nothing more is due now, drafts that fall due within this time are claimed together, by whichever worker. A batch of two emails
   * costs as much as twenty more in a larger one. Without this option, each email is sent at its exact time.
   */
  togetherMs?: number;
  /** `auto`, the default: an operator has to confirm a restored database. `manual`: a takeover by a standby needs no confirmation. */
  restoreGuard?: RestoreGuard;
};

export function createSender(options: SenderOptions): DueDraftSender {
  const {
    db,
    log,
    newId,
    sendServices,
    tokenKeys,
    transport,
    togetherMs = 0,
    restoreGuard = 'auto',
  } = options;
  const models = createModels(db.clock);
  const deps: SendDeps = { db, newId, models, sendServices, togetherMs };
  const { outlet, renderer } = sendServices;
  const submitter = createEmailSubmitter({
    db,
    log,
    newId,
    transport,
    tokenKeys,
    outlet,
    renderer,
    isSending: true,
  });

  async function begin(projectId: number): Promise<SentBatch> {
    const { emails, drafts, lateMs } = await claimBatch(deps, projectId, submitter.capacity());
    const completion = submitter.take(emails);
    if (drafts > 0)
      log.info({ project_id: projectId, drafts, emails: emails.length, late_ms: lateMs }, 'drafts.processed');
    return { drafts, emails: emails.length, lateMs, completion };
  }

  return {
    begin,
    async batch(projectId) {
      const sent = await begin(projectId);
      await sent.completion;
      return sent;
    },
    maySend: () => maySendEmails({ db, log, restoreGuard }),
    closedUntil: () => transport.closedUntil?.(db.clock.now()) ?? null,
    capacity: () => submitter.capacity(),
    async giveUp() {
      // Emails that a restored database was about to send are left to the operator who confirms it: they must not be returned.
      if (!(await maySendEmails({ db, log, restoreGuard }))) return 0;
      const lost = await listLost(db, new Date(db.clock.now()));
      const results = lost.map(({ submitted, ...email }): EmailResult => ({
        email,
        sendResult: submitted ? { result: 'unknown', reason: 'lost' } : { result: 'returned' },
      }));
      if (results.length > 0) await recordResults({ db, newId }, results);
      return lost.length;
    },
    stop: () => submitter.stop(),
  };
}
