import {
  claimDueHits,
  type DueHits,
  type Happened,
  listDueHits,
  listHits,
  putOffHits,
  saveVerdicts,
  settleCounts,
  settleLetter,
} from '../../features/outcomes/index.ts';
import { readTurn } from '../../features/turns/index.ts';
import { isCollision, isPoisonous, type Tx } from '../../io/db/index.ts';
import { timed } from '../project-time.ts';
import { type RecordDeps, recordOutcomesIn } from '../record-outcome/index.ts';

/** Letters that are looked for together. */
const LETTERS_MAX = 500;
/** Of a project, judged in one transaction: each may become two outcomes, and each of these is told to every endpoint. */
const HITS_AT_ONCE = 1_000;
/** Those that cannot be judged stand in front of all others, and would be all that is ever looked for. */
const AGAIN_MS = 60_000;

/**
 * Gives the hits that came a while ago their verdict, and writes down with it what became of their letters by that. A project
 * in trouble is none to the others. How many letters it was.
 */
export async function settleHits(deps: RecordDeps): Promise<{ letters: number; isMore: boolean }> {
  const { db } = deps;
  const due = await listDueHits(db, { now: db.clock.now(), limit: LETTERS_MAX });
  const found = [...due.values()].reduce((sum, some) => sum + some.length, 0);
  let letters = 0;
  for (const [projectId, some] of due)
    for (const messageIds of inParts(some)) letters += await settleSome(deps, { projectId, messageIds });
  // What others hold, or what fails, is found again at once: only where something was done is it worth to go on.
  return { letters, isMore: found === LETTERS_MAX && letters > 0 };
}

/** A scanner follows every link of every letter it lets through, and all of them at once. */
function inParts(due: DueHits[]): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const { messageId, hits } of due) {
    if (hits <= room) parts.at(-1)?.push(messageId);
    else {
      parts.push([messageId]);
      room = HITS_AT_ONCE;
    }
    room -= hits;
  }
  return parts;
}

type Due = { projectId: number; messageIds: string[] };

/** The letter that the database refuses is found by halves. */
async function settleSome(deps: RecordDeps, { projectId, messageIds }: Due): Promise<number> {
  const { db, log } = deps;
  try {
    return await db.transaction((tx) => settleIn(tx, deps, { projectId, messageIds }));
  } catch (error) {
    if (isPoisonous(error) && messageIds.length > 1) {
      const half = Math.ceil(messageIds.length / 2);
      const settled = await settleSome(deps, { projectId, messageIds: messageIds.slice(0, half) });
      return settled + (await settleSome(deps, { projectId, messageIds: messageIds.slice(half) }));
    }
    log.warn({ project_id: projectId, emails: messageIds.length, err: error }, 'hits.not_classified');
    if (!isCollision(error))
      await putOffHits(db, { projectId, messageIds, until: new Date(db.clock.now() + AGAIN_MS) });
    return 0;
  }
}

/** Counts are taken before everything else, and only those that are free: nobody who holds one waits for another. */
async function settleIn(tx: Tx, { db, newId }: RecordDeps, { projectId, messageIds }: Due): Promise<number> {
  const now = db.clock.now();
  const letters = await claimDueHits(tx, { projectId, messageIds, now });
  if (letters.length === 0) return 0;
  const places = letters.map(({ messageId }) => ({ projectId, messageId }));
  const { aheadMs } = await readTurn(tx, projectId);
  const hits = Map.groupBy(await listHits(tx, places), ({ messageId }) => messageId);
  const settled = letters.map(({ messageId, sentAt, ...letter }) => {
    // Hits are noted in real time, and the letter left by the clock of its project.
    const leftAt = sentAt === null ? null : sentAt - aheadMs;
    return { messageId, ...settleLetter({ ...letter, sentAt: leftAt }, hits.get(messageId) ?? [], now) };
  });
  const judged = settled.flatMap(({ messageId, ...of }) => of.judged.map((one) => ({ messageId, ...one })));
  await saveVerdicts(tx, projectId, judged);
  await settleCounts(tx, projectId, settled);
  db.reach?.('hits_settling');
  const happened = settled.flatMap(({ messageId, ...of }) =>
    of.happened.map((one): Happened => ({
      projectId,
      messageId,
      ...one,
      occurredAt: one.occurredAt + aheadMs,
    })),
  );
  const own = timed({ db, newId }, aheadMs);
  if (happened.length > 0)
    await recordOutcomesIn(tx, projectId, { happened, now: now + aheadMs, newId: own.newId, aheadMs });
  return letters.length;
}
