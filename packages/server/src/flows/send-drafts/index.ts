import type { TokenKeys } from '../../base/letter-token.ts';
import type { NewId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { RestoreGuard } from '../../features/restores/index.ts';
import { listLost } from '../../features/sending/index.ts';
import type { Database } from '../../io/db/index.ts';
import { createModels } from '../models.ts';
import { mayLettersLeave } from '../restore-guard.ts';
import { createHandOver } from './hand-over.ts';
import type { Mailroom } from './mailroom.ts';
import { type LetterResult, recordResults } from './record-results.ts';
import type { SendDeps } from './decide-batch.ts';
import { claimBatch } from './send-batch.ts';
import type { Transport } from './transport.ts';

export type { Mailroom } from './mailroom.ts';
export { createProviders, NO_PROVIDERS } from './providers.ts';
export { keepInside, testInboxTransport } from './keep-inside.ts';
export { relayTransport } from './relay-transport.ts';
export type { Handed, OutgoingLetter, Transport } from './transport.ts';

/** `handed` resolves when it is recorded what became of the letters; it never rejects. */
export type Sent = { drafts: number; letters: number; lateMs: number; handed: Promise<void> };

/** The third journey: what is due and may leave, leaves, once. */
export type Sender = {
  /** Claims one batch of what is due of a project, and begins to hand it over. */
  begin(projectId: number): Promise<Sent>;
  /** The same, to its end. */
  batch(projectId: number): Promise<Sent>;
  /** False: the database was restored, and nobody has confirmed it. */
  mayLeave(): Promise<boolean>;
  /** When letters can be handed over again; null: now. */
  closedUntil(): number | null;
  /** How many letters more can be taken in hand now. */
  room(): number;
  /**
   * Letters that somebody claimed and said nothing more of: those that were not submitted go again, and of the others nobody
   * knows what became of them. How many there were.
   */
  giveUp(): Promise<number>;
  /** Nothing more is submitted; what was claimed for it is put back. */
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
   * Where nothing more is due now, what falls due within this time is claimed together, by whichever worker: a batch of two
   * letters costs as much as twenty more in a larger one. Each leaves at its very moment where it is not given.
   */
  togetherMs?: number;
  /** Whether a restored database is confirmed by a person, which it is where nothing is said. */
  restoreGuard?: RestoreGuard;
};

export function createSender(options: SenderOptions): Sender {
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
    const { letters, drafts, lateMs } = await claimBatch(deps, projectId, handOver.room());
    const handed = handOver.take(letters);
    if (drafts > 0)
      log.info(
        { project_id: projectId, drafts, emails: letters.length, late_ms: lateMs },
        'drafts.processed',
      );
    return { drafts, letters: letters.length, lateMs, handed };
  }

  return {
    begin,
    async batch(projectId) {
      const sent = await begin(projectId);
      await sent.handed;
      return sent;
    },
    mayLeave: () => mayLettersLeave({ db, log, restoreGuard }),
    closedUntil: () => transport.closedUntil?.(db.clock.now()) ?? null,
    room: () => handOver.room(),
    async giveUp() {
      // What a restored database was about to send is for whoever confirms it: it may be anything but put back.
      if (!(await mayLettersLeave({ db, log, restoreGuard }))) return 0;
      const lost = await listLost(db, new Date(db.clock.now()));
      const results = lost.map(({ submitted, ...letter }): LetterResult => ({
        letter,
        handed: submitted ? { result: 'unknown', reason: 'lost' } : { result: 'returned' },
      }));
      if (results.length > 0) await recordResults({ db, newId }, results);
      return lost.length;
    },
    stop: () => handOver.stop(),
  };
}

export { type LookAhead, lookAhead, lookAheadOfAll } from './look-ahead.ts';
export { policyOf } from './ask-gates.ts';
export { findSender } from './sender-of.ts';
export { freeze } from './freeze.ts';
