/** The size of a run. The figures of docs/explanation/benchmarks.md come from the full size; `--quick` only shows that every part works. */
export type Sizes = {
  throughput: { emails: number; warmUp: number; pairs: number };
  http: { emails: number; warmUp: number };
  memory: { perSecond: number; warmUpMs: number; forMs: number; everyMs: number };
};

/** The provider of the part `http`: its adapter sends 20 requests at a time. */
export const KIND = 'postmark';
export const LATENCY_MS = 50;

export function sizesOf({ quick }: { quick: boolean }): Sizes {
  if (quick)
    return {
      throughput: { emails: 1_000, warmUp: 300, pairs: 1 },
      http: { emails: 2_000, warmUp: 500 },
      memory: { perSecond: 50, warmUpMs: 5_000, forMs: 15_000, everyMs: 1_000 },
    };
  return {
    throughput: { emails: 20_000, warmUp: 3_000, pairs: 3 },
    http: { emails: 20_000, warmUp: 2_000 },
    memory: { perSecond: 200, warmUpMs: 60_000, forMs: 300_000, everyMs: 5_000 },
  };
}
