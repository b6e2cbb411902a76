/** The size of a run. The figures of docs/explanation/benchmarks.md come from the full size; `--quick` only shows that every part works. */
export type Sizes = ReturnType<typeof sizesOf>;

export function sizesOf(flags: { quick: boolean; full: boolean }): {
  quick: boolean;
  people: number;
  pairs: number;
  batchRecords: number;
  backfill: number;
  /** Seconds of one step of the search for the highest rate, and of the run that confirms it. */
  stepSeconds: number;
  confirmSeconds: number;
  projects: number;
  eventsOfEach: number;
  liveSeconds: number;
  /** Seconds between the load and the measurement of an idle server, and of that measurement. */
  idleAfterSeconds: number;
  idleSeconds: number;
  growth: { few: number; many: number; events: number; records: number; runs: number };
} {
  if (flags.quick) {
    return {
      quick: true,
      people: 2_000,
      pairs: 1,
      batchRecords: 3_000,
      backfill: 3_000,
      stepSeconds: 2,
      confirmSeconds: 3,
      projects: 20,
      eventsOfEach: 5,
      liveSeconds: 3,
      idleAfterSeconds: 15,
      idleSeconds: 15,
      growth: { few: 3_000, many: 20_000, events: 20_000, records: 2_000, runs: 1 },
    };
  }
  return {
    quick: false,
    people: 10_000,
    pairs: 5,
    batchRecords: 50_000,
    backfill: 50_000,
    stepSeconds: 10,
    confirmSeconds: 60,
    projects: 1_000,
    eventsOfEach: 5,
    liveSeconds: 20,
    idleAfterSeconds: 60,
    idleSeconds: 60,
    growth: {
      few: 10_000,
      many: 1_000_000,
      events: flags.full ? 20_000_000 : 1_000_000,
      records: 10_000,
      runs: 5,
    },
  };
}
