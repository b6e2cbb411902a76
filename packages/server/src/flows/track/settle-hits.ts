import {
  claimDueHits,
  type Happened,
  listDueHits,
  listHits,
  saveVerdicts,
  settleCounts,
  settleLetter,
} from '../../features/outcomes/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { type RecordDeps, recordOutcomesIn } from '../record-outcome/index.ts';

/** Letters that are looked for together; a project's are judged in one transaction. */
const LETTERS_MAX = 500;

/**
 * Gives the hits that came a while ago their verdict, and writes down with it what became of their letters by that. A project
 * in trouble is none to the others. How many letters it was.
 */
export async function settleHits(deps: RecordDeps): Promise<{ letters: number; isMore: boolean }> {
  const { db, log } = deps;
  const due = await listDueHits(db, { now: db.clock.now(), limit: LETTERS_MAX });
  const found = [...due.values()].reduce((sum, messageIds) => sum + messageIds.length, 0);
  let letters = 0;
  for (const [projectId, messageIds] of due) {
    try {
      letters += await db.transaction((tx) => settleIn(tx, deps, { projectId, messageIds }));
    } catch (error) {
      log.warn({ projectId, err: error }, 'hits.not_settled');
    }
  }
  // What others hold, or what fails, is found again at once: only where something was done is it worth to go on.
  return { letters, isMore: found === LETTERS_MAX && letters > 0 };
}

type Due = { projectId: number; messageIds: string[] };

/** Counts are taken before everything else, and only those that are free: nobody who holds one waits for another. */
async function settleIn(tx: Tx, { db, newId }: RecordDeps, { projectId, messageIds }: Due): Promise<number> {
  const now = db.clock.now();
  const letters = await claimDueHits(tx, { projectId, messageIds, now });
  if (letters.length === 0) return 0;
  const places = letters.map(({ messageId }) => ({ projectId, messageId }));
  const hits = Map.groupBy(await listHits(tx, places), ({ messageId }) => messageId);
  const settled = letters.map((letter) => ({
    messageId: letter.messageId,
    ...settleLetter(letter, hits.get(letter.messageId) ?? [], now),
  }));
  const judged = settled.flatMap(({ messageId, ...of }) => of.judged.map((one) => ({ messageId, ...one })));
  await saveVerdicts(tx, projectId, judged);
  await settleCounts(tx, projectId, settled);
  const happened = settled.flatMap(({ messageId, ...of }) =>
    of.happened.map((one): Happened => ({ projectId, messageId, ...one })),
  );
  if (happened.length > 0) await recordOutcomesIn(tx, projectId, { happened, now, newId });
  return letters.length;
}
