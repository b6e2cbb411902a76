/** The size of a run. `--quick` only shows that every part works. */
export type Sizes = {
  people: number;
  duePerSecond: number;
  dueSeconds: number;
  burst: number;
  /** The rate of the concurrent live stream. */
  perSecond: number;
  /** The same beside a build, whose project has `buildPeople` users. */
  buildPerSecond: number;
  buildPeople: number;
  liveSeconds: number;
};

export function sizesOf({ quick }: { quick: boolean }): Sizes {
  if (quick)
    return {
      people: 10_000,
      duePerSecond: 200,
      dueSeconds: 5,
      burst: 2_000,
      perSecond: 200,
      buildPerSecond: 200,
      buildPeople: 100_000,
      liveSeconds: 4,
    };
  return {
    people: 1_000_000,
    duePerSecond: 1_000,
    dueSeconds: 30,
    burst: 50_000,
    perSecond: 500,
    buildPerSecond: 200,
    buildPeople: 1_000_000,
    liveSeconds: 20,
  };
}
