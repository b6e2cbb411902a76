/** The result of spin's verifier, parsed from its output. */
export type Verdict = {
  errors: number;
  states: number;
  depth: number;
  /** All states were searched: no limit of depth or memory was reached, and the search was not cut short. */
  isComplete: boolean;
  /** The first reported violation. */
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
