/**
 * How many users the next step of a build evaluates. A step holds the project lock, so live records wait for it. The size follows from the
 * duration of the last step, because the cost of a user differs by definition and machine.
 */
export type PieceSizes = {
  next(name: string): number;
  record(name: string, measured: { ms: number; limit: number }): void;
};

const PIECE_FIRST = 500;
const PIECE_MAX = 20_000;
/** Beside a live stream, half of the latency that live records may have. */
const PIECE_MS = 100;
const BUILDS_MAX = 1_000;

export function createPieceSizes(): PieceSizes {
  const sizes = new Map<string, number>();
  return {
    next: (name) => sizes.get(name) ?? PIECE_FIRST,
    record(name, { ms, limit }) {
      if (sizes.size >= BUILDS_MAX) sizes.clear();
      // A step at most doubles, because a short one may have been short by chance.
      const factor = Math.min(2, PIECE_MS / Math.max(1, ms));
      sizes.set(name, Math.round(Math.min(PIECE_MAX, Math.max(1, limit * factor))));
    },
  };
}
