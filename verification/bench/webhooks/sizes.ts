/** The size of a run. The figures of docs/explanation/benchmarks.md come from the full size; `--quick` only shows that every part works. */
export type Sizes = {
  throughput: { deliveries: number; warmUp: number; runs: number };
  latency: { perSecond: number; forMs: number };
  instant: { deliveries: number; warmUp: number; pairs: number };
  neighbors: { deliveries: number; warmUp: number; pairs: number; forMs: number };
};

export function sizesOf({ quick }: { quick: boolean }): Sizes {
  if (quick)
    return {
      throughput: { deliveries: 4_000, warmUp: 1_000, runs: 1 },
      latency: { perSecond: 500, forMs: 4_000 },
      instant: { deliveries: 4_000, warmUp: 1_000, pairs: 1 },
      neighbors: { deliveries: 4_000, warmUp: 1_000, pairs: 1, forMs: 5_000 },
    };
  return {
    throughput: { deliveries: 40_000, warmUp: 10_000, runs: 3 },
    latency: { perSecond: 500, forMs: 30_000 },
    instant: { deliveries: 40_000, warmUp: 10_000, pairs: 3 },
    neighbors: { deliveries: 20_000, warmUp: 10_000, pairs: 5, forMs: 15_000 },
  };
}
