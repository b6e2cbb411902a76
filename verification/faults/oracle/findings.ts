export type Violation = { invariant: string; problem: string; evidence: string[] };
export type OracleReport = { violations: Violation[]; counts: Record<string, number> };

/** The maximum number of violations shown per invariant and kind. The others are counted. */
const EXAMPLES_MAX = 10;

/** The findings of one part of the oracle, by invariant and kind. */
export type Findings = {
  add(invariant: string, problem: string, evidence: string): void;
  violations(): Violation[];
};

export function createFindings(): Findings {
  const byProblem = new Map<
    string,
    { invariant: string; problem: string; examples: string[]; count: number }
  >();
  return {
    add(invariant, problem, evidence) {
      const key = `${invariant} ${problem}`;
      const finding = byProblem.get(key) ?? { invariant, problem, examples: [], count: 0 };
      byProblem.set(key, finding);
      finding.count += 1;
      if (finding.examples.length < EXAMPLES_MAX) finding.examples.push(evidence);
    },
    violations: () =>
      [...byProblem.values()].map(({ invariant, problem, examples, count }) => ({
        invariant,
        problem,
        evidence: count > examples.length ? [...examples, `and ${count - examples.length} more`] : examples,
      })),
  };
}
