import { Fault } from '../base/fault.ts';
import {
  type Actor,
  countToLetGo,
  type Draft,
  type HeldCounts,
  listOpenDrafts,
  needsConfirmation,
  resumed,
} from '../features/drafts/index.ts';
import { getSettings, setSettings as writeSettings } from '../features/projects/index.ts';
import { takeSendTurn, withdrawClaims } from '../features/sending/index.ts';
import { wakeRuns } from '../features/sequences/index.ts';
import { dueEarlier, newModel, takeTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { nextMoment } from './next-due.ts';
import { writeMoves } from './write-moves.ts';

/**
 * Nothing of this project leaves from now on; accepting, digesting and drafting go on. Whoever is claiming just now is waited
 * for, so that nothing is claimed after this has answered.
 */
export function pauseProject(db: Pick<Database, 'transaction'>, projectId: number): Promise<void> {
  return db.transaction((tx) => writePaused(tx, projectId, true));
}

async function writePaused(tx: Tx, projectId: number, paused: boolean): Promise<void> {
  await takeTurn(tx, projectId);
  await takeSendTurn(tx, projectId);
  await writeSettings(tx, projectId, { paused: String(paused) });
  await newModel(tx, projectId);
  // What is claimed but not on its way yet stays too.
  if (paused) await withdrawClaims(tx, { projectId });
}

/** `isPaused`: false where there is nothing to resume. */
export type Resumption = HeldCounts & { isPaused: boolean; needsConfirmation: boolean };

/** What letting this project go on would mean. */
export async function previewResume(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  projectId: number,
): Promise<Resumption> {
  const isPaused = await readPaused(db, projectId);
  const counts = await countToLetGo(db, { projectId, reason: null, now: db.clock.now() });
  return { ...counts, isPaused, needsConfirmation: isPaused && needsConfirmation(counts) };
}

/** Drafts that expired meanwhile, and those that were given time anew. */
export type Resumed = { canceled: number; postponed: number };

export type Resuming = {
  projectId: number;
  actor: Actor;
  /** That many which were held for long are let go is wanted. */
  confirmed: boolean;
};

const PAGE = 500;

/**
 * Lets a project go on. While it is still paused every open draft is looked at, in pages: what expired is canceled, what is
 * overdue gets a quarter of an hour at least, spread over half an hour; then the sender may look again.
 */
export async function resumeProject(
  db: Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>,
  { projectId, actor, confirmed }: Resuming,
): Promise<Resumed> {
  const done: Resumed = { canceled: 0, postponed: 0 };
  const preview = await previewResume(db, projectId);
  // Whoever resumes what is not paused would only delay what is about to leave.
  if (!preview.isPaused) return done;
  checkConfirmed(preview, confirmed);
  for (let after: string | null = null; ;) {
    const page = await db.transaction((tx) =>
      resumePage(tx, { projectId, after, actor, now: db.clock.now() }),
    );
    done.canceled += page.canceled;
    done.postponed += page.postponed;
    after = page.last;
    if (after === null) break;
  }
  await db.transaction(async (tx) => {
    await writePaused(tx, projectId, false);
    const nextAt = await nextMoment(tx, projectId, 'send');
    if (nextAt) await dueEarlier(tx, 'send', [{ projectId, nextAt }]);
  });
  return done;
}

async function readPaused(tx: Tx, projectId: number): Promise<boolean> {
  return (await getSettings(tx, projectId)).settings.paused;
}

/** So many that were held for long are not let go without a person's word. */
export function checkConfirmed(preview: Resumption, confirmed: boolean): void {
  if (confirmed || !preview.needsConfirmation) return;
  const { longHeld, expired, overdue } = preview;
  const message = `${longHeld} drafts were held for more than a day. If you resume, ${overdue} drafts are sent soon and ${expired} are canceled because they expired. Confirm with: resume --yes`;
  throw new Fault('conflict', { details: [{ message, field: 'confirm' }] });
}

type Page = { projectId: number; after: string | null; actor: Actor; now: number };

async function resumePage(
  tx: Tx,
  { projectId, after, actor, now }: Page,
): Promise<Resumed & { last: string | null }> {
  const drafts: Draft[] = await listOpenDrafts(tx, { projectId, ruleId: null, after, limit: PAGE });
  const moved = drafts.flatMap((draft) => resumed(draft, { now, actor }) ?? []);
  await writeMoves(tx, moved);
  const canceled = moved.filter(({ draft }) => draft.endedAt !== null);
  // The run of one that was sent again went on long ago.
  const ids = canceled.flatMap(({ draft }) => (draft.resendOf === null ? (draft.runId ?? []) : []));
  const awake = await wakeRuns(tx, { projectId, ids, at: now });
  if (awake.length > 0) await dueEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  return {
    canceled: canceled.length,
    postponed: moved.length - canceled.length,
    last: drafts.length < PAGE ? null : (drafts.at(-1)?.id ?? null),
  };
}
