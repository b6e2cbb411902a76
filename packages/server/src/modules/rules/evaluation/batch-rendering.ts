import type { PersonId } from '../../users/index.ts';
import { type RenderedLetter, WORK_MAX } from '../../rendering/index.ts';
import type { SlowRenders } from './slow-renders.ts';

/**
 * Rendering within one batch. A single email is bounded (`WORK_MAX`), but a batch has up to 1,000 of them. The expensive template of
 * one project must not take the time of all others.
 */
export type BatchRendering = {
  /** Renders an email and counts its work. An email that takes too long is returned as failed. */
  render(email: EmailOfPerson, render: () => RenderedLetter): RenderedLetter;
  /** The project that has used more than its part of a batch, or null. */
  over(): number | null;
  /** Lets other work of the process continue, if enough was rendered since the last pause. */
  pause(): Promise<void>;
};

/** `letter` is an object that stays the same until the definitions of the project change. */
export type EmailOfPerson = { letter: object; person: PersonId };

/** Ten emails of the most expensive kind, about a second. Shipped templates use a two-hundredth of their budget or less. */
const BATCH_WORK_MAX = 10 * WORK_MAX;
/** About 20 ms. */
const PAUSE_AFTER = WORK_MAX / 5;
/** Other work of a busy process runs in the pauses. The transaction may be idle for twice this time. */
const BATCH_MAX_MS = 5_000;

export function createBatchRendering(
  slow: SlowRenders,
  now = (): number => performance.now(),
): BatchRendering {
  const spent = new Map<number, number>();
  const most = { projectId: null as number | null, work: 0 };
  const began = now();
  let sincePause = 0;
  return {
    render({ letter, person }, render) {
      const failed = slow.find(letter, person);
      if (failed) return failed;
      const rendered = slow.measure(letter, person, render);
      const { projectId } = person;
      const work = (spent.get(projectId) ?? 0) + rendered.work;
      spent.set(projectId, work);
      if (work > most.work) Object.assign(most, { projectId, work });
      sincePause += slow.find(letter, person) ? PAUSE_AFTER : rendered.work;
      return rendered;
    },
    over: () => (most.work > BATCH_WORK_MAX || now() - began > BATCH_MAX_MS ? most.projectId : null),
    async pause() {
      if (sincePause < PAUSE_AFTER) return;
      sincePause = 0;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

export type InTurn = {
  rendering: BatchRendering;
  /** True if the batch cannot be made smaller, so that it has to succeed whatever it renders. */
  isSmallest?: boolean;
  /** The share of the batch that was rendered before. */
  shareMin: number;
};

/** Processes one item after another. The process does other work in between, and a batch that renders too much ends early. */
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

/** Thrown by a batch that renders too much. The batch is rolled back and retried with `share` of its records. */
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
