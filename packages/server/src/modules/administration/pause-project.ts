import { Fault } from '../../platform/fault.ts';
import {
  type Actor,
  type Draft,
  countToRelease,
  type HeldCounts,
  listOpenDrafts,
  needsConfirmation,
  resumeDraft,
} from '../drafts/index.ts';
import { getSettings } from '../workspace/index.ts';
import { takeSendLock, withdrawClaims, writeMoves } from '../sending/index.ts';
import { wakeRuns, nextMoment } from '../rules/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { writeSettings } from './write-settings.ts';

/**
 * Pauses sending for a project; accepting, processing and drafting continue. It waits for a running claim, so that nothing is claimed after
 * it returns.
 */
export function pauseProject(db: Pick<Database, 'transaction'>, projectId: number): Promise<void> {
  return db.transaction((tx) => writePaused(tx, projectId, true));
}

async function writePaused(tx: Tx, projectId: number, paused: boolean): Promise<void> {
  await takeProjectLock(tx, projectId);
  await takeSendLock(tx, projectId);
  await writeSettings(tx, projectId, { paused: String(paused) });
  await incrementModel(tx, projectId);
  // Drafts that are claimed but not yet being sent stay too.
  if (paused) await withdrawClaims(tx, { projectId });
}

/** `isPaused`: false if there is nothing to resume. */
export type Resumption = HeldCounts & { isPaused: boolean; needsConfirmation: boolean };

/** Returns what resuming the project would do. */
export async function previewResume(
  db: Pick<Database, 'query' | 'prepared' | 'clock'>,
  projectId: number,
): Promise<Resumption> {
  const isPaused = await readPaused(db, projectId);
  const counts = await countToRelease(db, { projectId, reason: null, now: db.clock.now() });
  return { ...counts, isPaused, needsConfirmation: isPaused && needsConfirmation(counts) };
}

/** Drafts that expired during the pause, and drafts with a new deadline. */
export type ResumeCounts = { canceled: number; postponed: number };

export type ResumeInput = {
  projectId: number;
  actor: Actor;
  /** Confirms the release of many drafts that were held for long. */
  confirmed: boolean;
};

const PAGE = 500;

/**
 * Resumes a project. While it is still paused, every open draft is checked, in pages. Expired drafts are canceled, and overdue ones get at
 * least 15 minutes, spread over half an hour. Then the sender may claim again.
 */
export async function resumeProject(
  db: Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>,
  { projectId, actor, confirmed }: ResumeInput,
): Promise<ResumeCounts> {
  const totals: ResumeCounts = { canceled: 0, postponed: 0 };
  const preview = await previewResume(db, projectId);
  // On a project that is not paused, resuming would only delay drafts that are about to be sent.
  if (!preview.isPaused) return totals;
  checkConfirmed(preview, confirmed);
  for (let after: string | null = null; ;) {
    const page = await db.transaction((tx) =>
      resumePage(tx, { projectId, after, actor, now: db.clock.now() }),
    );
    totals.canceled += page.canceled;
    totals.postponed += page.postponed;
    after = page.last;
    if (after === null) break;
  }
  await db.transaction(async (tx) => {
    await writePaused(tx, projectId, false);
    const nextAt = await nextMoment(tx, projectId, 'send');
    if (nextAt) await setTimersEarlier(tx, 'send', [{ projectId, nextAt }]);
  });
  return totals;
}

async function readPaused(tx: Tx, projectId: number): Promise<boolean> {
  return (await getSettings(tx, projectId)).settings.paused;
}

/** Requires a confirmation to release many drafts that were held for long. */
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
): Promise<ResumeCounts & { last: string | null }> {
  const drafts: Draft[] = await listOpenDrafts(tx, { projectId, ruleId: null, after, limit: PAGE });
  const moved = drafts.flatMap((draft) => resumeDraft(draft, { now, actor }) ?? []);
  await writeMoves(tx, moved);
  const canceled = moved.filter(({ draft }) => draft.endedAt !== null);
  // The run of a resent email already continued.
  const ids = canceled.flatMap(({ draft }) => (draft.resendOf === null ? (draft.runId ?? []) : []));
  const awake = await wakeRuns(tx, { projectId, ids, at: now });
  if (awake.length > 0) await setTimersEarlier(tx, 'process', [{ projectId, nextAt: new Date(now) }]);
  return {
    canceled: canceled.length,
    postponed: moved.length - canceled.length,
    last: drafts.length < PAGE ? null : (drafts.at(-1)?.id ?? null),
  };
}
