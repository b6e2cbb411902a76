/** What spin's verifier found, read from what it prints. */
export type Verdict = {
  errors: number;
  states: number;
  depth: number;
  /** All states were looked at: no bound of depth or memory came first, and nothing cut the search short. */
  isComplete: boolean;
  /** The first thing that it says was wrong. */
  found: string | null;
};

const CUT_SHORT =
  /max search depth too small|out of memory|memory limit|Search not completed|hash table full/i;

export function readPan(said: string): Verdict {
  const head = /State-vector \d+ byte, depth reached (\d+), errors: (\d+)/.exec(said);
  const states = /^\s*(\d+(?:\.\d+)?(?:e\+?\d+)?) states, stored/m.exec(said);
  if (!head || !states) throw new Error(`this is no report of a search: ${said.slice(0, 500)}`);
  return {
    errors: Number(head[2]),
    states: Number(states[1]),
    depth: Number(head[1]),
    isComplete: !CUT_SHORT.test(said),
    found: /^pan:\d+: (.*)$/m.exec(said)?.[1] ?? null,
  };
}
