import { WORK_MAX } from '../../features/writing/index.ts';

/**
 * Rendering within one batch. A single email is bounded (`render-work.ts`); a batch has up to 1,000 of them, and one project's
 * expensive template must not take the time of all others.
 */
export type BatchRendering = {
  /** `work`: counted while an email was rendered. */
  add(projectId: number, work: number): void;
  /** The project that has used more than its part of a batch; null: none has. */
  over(): number | null;
  /** Lets everything else of the process go on, where enough was rendered since the last time. */
  pause(): Promise<void>;
};

/** Ten emails of the most expensive kind, about a second. Those that ship use a two-hundredth of their budget or less. */
const BATCH_WORK_MAX = 10 * WORK_MAX;
/** About 20 ms. */
const PAUSE_AFTER = WORK_MAX / 5;

export function createBatchRendering(): BatchRendering {
  const spent = new Map<number, number>();
  let sincePause = 0;
  return {
    add(projectId, work) {
      spent.set(projectId, (spent.get(projectId) ?? 0) + work);
      sincePause += work;
    },
    over() {
      for (const [projectId, work] of spent) if (work > BATCH_WORK_MAX) return projectId;
      return null;
    },
    async pause() {
      if (sincePause < PAUSE_AFTER) return;
      sincePause = 0;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

export type InTurn = {
  rendering: BatchRendering;
  /** The batch cannot be made smaller: whatever it renders, it has to come through. */
  isSmallest?: boolean;
  /** The share of the batch that was rendered before. */
  shareMin: number;
};

/** One after another, so that the process answers others in between, and a batch that renders too much ends early. */
export async function inTurn<T, R>(
  items: readonly T[],
  { rendering, isSmallest = false, shareMin }: InTurn,
  write: (item: T) => R[],
): Promise<R[]> {
  const written: R[] = [];
  for (const [at, item] of items.entries()) {
    const over = isSmallest ? null : rendering.over();
    if (over !== null) throw new TooMuchRendering(over, Math.max(at / items.length, shareMin));
    written.push(...write(item));
    await rendering.pause();
  }
  return written;
}

/** A batch that renders too much. Nothing of it is kept; it is tried again with `share` of its records. */
export class TooMuchRendering extends Error {
  readonly projectId: number;
  readonly share: number;

  constructor(projectId: number, share: number) {
    super(`rendering the drafts of project ${projectId} takes too long for one batch`);
    this.name = 'TooMuchRendering';
    this.projectId = projectId;
    this.share = share;
  }
}
