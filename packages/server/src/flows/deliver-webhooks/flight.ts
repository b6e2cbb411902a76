import type { Answered } from './answer.ts';
import { post, type PostDeps } from './post.ts';
import type { Leaving } from './round.ts';

/** Requests that are under way, and answers that are not recorded yet. */
export type Flight = {
  begin(leaving: Leaving): void;
  /** Answers that came, so many at most, for whoever records them. */
  take(most: number): Answered[];
  /** They could not be recorded. */
  giveBack(answered: Answered[]): void;
  size(): number;
  /** Until everything that is under way was answered. */
  landed(): Promise<void>;
  /** Nobody waits any longer: whatever answer comes after that is not heard. */
  abandon(): void;
};

export function createFlight(deps: PostDeps, onAnswer: () => void): Flight {
  const posted = new Map<Leaving, Promise<void>>();
  let answered: Answered[] = [];
  return {
    begin(leaving) {
      const done = post(deps, leaving).then((answer) => {
        // One that was abandoned has its answer.
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
