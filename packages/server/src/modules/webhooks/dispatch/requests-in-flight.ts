import type { Answered } from './answer.ts';
import { post, type PostDeps } from './post.ts';
import type { Leaving } from './round.ts';

/** Requests in flight, and answers that are not recorded yet. */
export type Flight = {
  begin(leaving: Leaving): void;
  /** Removes and returns at most `most` answers, for recording. */
  take(most: number): Answered[];
  /** Returns answers to the queue because they could not be recorded. */
  giveBack(answered: Answered[]): void;
  size(): number;
  /** Resolves when all requests in flight are answered. */
  landed(): Promise<void>;
  /** Stops waiting for answers. A later answer is ignored. */
  abandon(): void;
};

export function createFlight(deps: PostDeps, onAnswer: () => void): Flight {
  const posted = new Map<Leaving, Promise<void>>();
  let answered: Answered[] = [];
  return {
    begin(leaving) {
      const done = post(deps, leaving).then((answer) => {
        // An abandoned request already has its result.
        if (!posted.delete(leaving)) return;
        answered.push({ delivery: leaving, answer });
        onAnswer();
      });
      posted.set(leaving, done);
    },
    take: (most) => answered.splice(0, most),
    giveBack(untold) {
      answered = [...untold, ...answered];
    },
    size: () => posted.size + answered.length,
    async landed() {
      await Promise.all(posted.values());
    },
    abandon() {
      const endedAt = deps.clock.now();
      for (const delivery of posted.keys()) answered.push({ delivery, answer: { kind: 'stopped', endedAt } });
      posted.clear();
    },
  };
}
