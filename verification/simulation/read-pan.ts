/** The result of spin's verifier, parsed from its output. */
export type SearchResult = {
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

export function readPan(output: string): SearchResult {
  const head = /State-vector \d+ byte, depth reached (\d+), errors: (\d+)/.exec(output);
  const states = /^\s*(\d+(?:\.\d+)?(?:e\+?\d+)?) states, stored/m.exec(output);
  if (!head || !states) throw new Error(`not a report of a search: ${output.slice(0, 500)}`);
  return {
    errors: Number(head[2]),
    states: Number(states[1]),
    depth: Number(head[1]),
    isComplete: !CUT_SHORT.test(output),
    found: /^pan:\d+: (.*)$/m.exec(output)?.[1] ?? null,
  };
}
