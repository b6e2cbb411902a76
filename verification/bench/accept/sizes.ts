/** The figures of docs/explanation/benchmarks.md come from the full size; `--quick` only shows that every part works. */
export type Sizes = ReturnType<typeof sizesOf>;

export function sizesOf({ quick }: { quick: boolean }): {
  idleSeconds: number;
  /** Rows in the idempotency table before the first request. */
  keysThere: number;
  singles: { pairs: number; seconds: number };
  openLoopSeconds: number;
  bulk: { pairs: number; seconds: number };
  projects: { projects: number; pairs: number; seconds: number };
  memory: { minutes: number; minuteMs: number };
  kills: number;
} {
  if (quick)
    return {
      idleSeconds: 5,
      keysThere: 50_000,
      singles: { pairs: 1, seconds: 2 },
      openLoopSeconds: 3,
      bulk: { pairs: 1, seconds: 2 },
      projects: { projects: 20, pairs: 1, seconds: 2 },
      memory: { minutes: 3, minuteMs: 2_000 },
      kills: 2,
    };
  return {
    idleSeconds: 60,
    keysThere: 5_000_000,
    singles: { pairs: 5, seconds: 5 },
    openLoopSeconds: 20,
    bulk: { pairs: 5, seconds: 4 },
    projects: { projects: 1_000, pairs: 3, seconds: 5 },
    memory: { minutes: 5, minuteMs: 60_000 },
    kills: 20,
  };
}
