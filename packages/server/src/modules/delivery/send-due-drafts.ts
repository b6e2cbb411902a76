import type { TokenKeys } from '../../platform/crypto/email-token.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { type RestoreGuard, listLost, mayEmailsLeave } from '../sending/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { createModels } from '../rules/index.ts';
import { createHandOver } from './submit-emails.ts';
import type { Mailroom } from './mailroom.ts';
import { recordResults } from './record-results.ts';
import { claimBatch } from './send-batch.ts';
import type { Transport } from './transport.ts';
import type { EmailResult } from './apply-refusals.ts';
import type { SendDeps } from './draft-batch.ts';

/** `handed` resolves when the results of the emails are recorded; it never rejects. */
export type Sent = { drafts: number; emails: number; lateMs: number; handed: Promise<void> };

/** Sends drafts that are due and pass the send checks, each at most once. */
export type DueDraftSender = {
  /** Claims one batch of due drafts of a project, and starts to send it. */
  begin(projectId: number): Promise<Sent>;
  /** Like `begin`, but waits until the batch is sent. */
  batch(projectId: number): Promise<Sent>;
  /** Returns false if the database was restored and no operator has confirmed it. */
  mayLeave(): Promise<boolean>;
  /** Returns when emails can be sent again; null: now. */
  closedUntil(): number | null;
  /** Returns how many more emails can be claimed now. */
  room(): number;
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
  mailroom: Mailroom;
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
  const { db, log, newId, mailroom, tokenKeys, transport, togetherMs = 0, restoreGuard = 'auto' } = options;
  const models = createModels(db.clock);
  const deps: SendDeps = { db, newId, models, mailroom, togetherMs };
  const { outlet, renderer } = mailroom;
  const handOver = createHandOver({
    db,
    log,
    newId,
    transport,
    tokenKeys,
    outlet,
    renderer,
    isSending: true,
  });

  async function begin(projectId: number): Promise<Sent> {
    const { emails, drafts, lateMs } = await claimBatch(deps, projectId, handOver.room());
    const handed = handOver.take(emails);
    if (drafts > 0)
      log.info({ project_id: projectId, drafts, emails: emails.length, late_ms: lateMs }, 'drafts.processed');
    return { drafts, emails: emails.length, lateMs, handed };
  }

  return {
    begin,
    async batch(projectId) {
      const sent = await begin(projectId);
      await sent.handed;
      return sent;
    },
    mayLeave: () => mayEmailsLeave({ db, log, restoreGuard }),
    closedUntil: () => transport.closedUntil?.(db.clock.now()) ?? null,
    room: () => handOver.room(),
    async giveUp() {
      // Emails that a restored database was about to send are left to the operator who confirms it: they must not be returned.
      if (!(await mayEmailsLeave({ db, log, restoreGuard }))) return 0;
      const lost = await listLost(db, new Date(db.clock.now()));
      const results = lost.map(({ submitted, ...email }): EmailResult => ({
        email,
        handed: submitted ? { result: 'unknown', reason: 'lost' } : { result: 'returned' },
      }));
      if (results.length > 0) await recordResults({ db, newId }, results);
      return lost.length;
    },
    stop: () => handOver.stop(),
  };
}
