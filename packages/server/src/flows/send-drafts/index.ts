import type { NewId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { listStale } from '../../features/sending/index.ts';
import type { Database } from '../../io/db/index.ts';
import { createModels } from '../models.ts';
import { recordResults } from './record-results.ts';
import { claimBatch, type SendDeps } from './send-batch.ts';
import type { Handed, OutgoingLetter, Transport } from './transport.ts';

export type { Handed, OutgoingLetter, Transport } from './transport.ts';

export type Sent = { drafts: number; letters: number; lateMs: number };

/** The third journey: what is due and may leave, leaves, once. */
export type Sender = {
  /** One batch of what is due of a project. */
  batch(projectId: number): Promise<Sent>;
  /** Letters that somebody claimed and never reported: nobody knows what became of them. How many there were. */
  giveUp(): Promise<number>;
};

export type SenderOptions = {
  db: Database;
  log: Log;
  newId: NewId;
  transport: Transport | null;
  /**
   * Where nothing more is due now, what falls due within this time is claimed together, by whichever worker: a batch of two
   * letters costs as much as twenty more in a larger one. Each leaves at its very moment where it is not given.
   */
  togetherMs?: number;
};

/** Longer than any transport takes. */
const LOST_AFTER_MS = 10 * 60_000;

export function createSender({ db, log, newId, transport, togetherMs = 0 }: SenderOptions): Sender {
  const models = createModels(db.clock);
  const deps: SendDeps = { db, newId, models, hasTransport: transport !== null, togetherMs };
  return {
    async batch(projectId) {
      const { letters, drafts, lateMs } = await claimBatch(deps, projectId);
      if (transport && letters.length > 0) await handOver({ db, transport }, projectId, letters);
      if (drafts > 0) log.info({ projectId, drafts, letters: letters.length, lateMs }, 'drafts.sent');
      return { drafts, letters: letters.length, lateMs };
    },
    async giveUp() {
      const stale = await listStale(db, new Date(db.clock.now() - LOST_AFTER_MS));
      for (const [projectId, some] of Map.groupBy(stale, (one) => one.projectId)) {
        const handed: Handed = { result: 'unknown', reason: 'lost' };
        await recordResults(
          db,
          projectId,
          some.map(({ draftId }) => ({ draftId, handed })),
        );
      }
      return stale.length;
    },
  };
}

async function handOver(
  { db, transport }: { db: Database; transport: Transport },
  projectId: number,
  letters: OutgoingLetter[],
): Promise<void> {
  const results = await Promise.all(
    letters.map(async (letter) => ({ draftId: letter.draftId, handed: await handOne(transport, letter) })),
  );
  await recordResults(db, projectId, results);
}

/** A transport that stumbles may have handed the letter over before. */
async function handOne(transport: Transport, letter: OutgoingLetter): Promise<Handed> {
  try {
    return await transport.hand(letter);
  } catch (error) {
    return { result: 'unknown', reason: error instanceof Error ? error.message.slice(0, 500) : 'error' };
  }
}
export { type LookAhead, lookAhead } from './look-ahead.ts';
export { policyOf } from './ask-gates.ts';
