export type Violation = { invariant: string; what: string; evidence: string[] };
export type Verdict = { violations: Violation[]; counts: Record<string, number> };

/** The maximum number of violations shown per invariant and kind. The others are counted. */
const SHOWN_MAX = 10;

/** The findings of one part of the oracle, by invariant and kind. */
export type Findings = {
  add(invariant: string, what: string, evidence: string): void;
  violations(): Violation[];
};

export function createFindings(): Findings {
  const found = new Map<string, { invariant: string; what: string; shown: string[]; count: number }>();
  return {
    add(invariant, what, evidence) {
      const key = `${invariant} ${what}`;
      const one = found.get(key) ?? { invariant, what, shown: [], count: 0 };
      found.set(key, one);
      one.count += 1;
      if (one.shown.length < SHOWN_MAX) one.shown.push(evidence);
    },
    violations: () =>
      [...found.values()].map(({ invariant, what, shown, count }) => ({
        invariant,
        what,
        evidence: count > shown.length ? [...shown, `and ${count - shown.length} more`] : shown,
      })),
  };
}
