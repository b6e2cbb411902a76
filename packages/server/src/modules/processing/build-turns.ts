/** What this process remembers of the builds that it works on. */
export type BuildTurns = {
  /**
   * Returns how many users the next piece of a build has, or null if another process advanced it since the last piece here. That process then
   * continues alone, because two builders that take turns would leave no gap for processing.
   */
  take(build: string, progress: string): number | null;
  /** `progress` is that after the piece. */
  record(build: string, piece: { ms: number; limit: number; progress: string }): void;
};

const PIECE_FIRST = 500;
const PIECE_MAX = 20_000;
/** A piece holds the project lock, and live records that wait for it should be visible within 300 ms. */
const PIECE_MS = 150;
const BUILDS_MAX = 1_000;

/** The size of a piece follows from the duration of the last one, because the cost of a user differs by definition and machine. */
export function createBuildTurns(): BuildTurns {
  const builds = new Map<string, { limit: number; progress: string }>();
  return {
    take(build, progress) {
      const known = builds.get(build);
      if (!known) return PIECE_FIRST;
      const isAlone = known.progress === progress;
      known.progress = progress;
      return isAlone ? known.limit : null;
    },
    record(build, { ms, limit, progress }) {
      if (builds.size >= BUILDS_MAX) builds.clear();
      // A piece at most doubles, because a short one may have been short by chance.
      const factor = Math.min(2, PIECE_MS / Math.max(1, ms));
      const next = Math.round(Math.min(PIECE_MAX, Math.max(1, limit * factor)));
      builds.set(build, { limit: next, progress });
    },
  };
}
