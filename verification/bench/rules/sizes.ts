/** The size of a run. The figures of docs/explanation/benchmarks.md come from the full size; `--quick` only shows that every part works. */
export type Sizes = {
  due: { drafts: number; overMs: number; warmUp: number };
  workers: { drafts: number; overMs: number; warmUp: number; pairs: number };
  first: { waiting: number; fresh: number; overMs: number };
  many: { rules: number; people: number; events: number; pairs: number };
};

export function sizesOf({ quick }: { quick: boolean }): Sizes {
  if (quick)
    return {
      due: { drafts: 4_000, overMs: 2_400, warmUp: 500 },
      workers: { drafts: 1_500, overMs: 900, warmUp: 500, pairs: 1 },
      first: { waiting: 20_000, fresh: 60, overMs: 3_000 },
      many: { rules: 100, people: 300, events: 1_000, pairs: 1 },
    };
  return {
    due: { drafts: 100_000, overMs: 60_000, warmUp: 10_000 },
    workers: { drafts: 20_000, overMs: 12_000, warmUp: 5_000, pairs: 5 },
    first: { waiting: 1_000_000, fresh: 1_200, overMs: 60_000 },
    many: { rules: 100, people: 2_000, events: 10_000, pairs: 5 },
  };
}
