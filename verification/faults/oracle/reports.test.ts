import { describe, expect, test } from 'vitest';
import type { Entry } from '../journal.ts';
import { checkFacts } from './index.ts';
import { EMAIL, SECOND, sampleFacts, T0 } from './sample-facts.ts';

const REPORTED: Entry = { kind: 'reported', at: T0 + 50 * SECOND, id: 'r1' };

function report(outcome: 'delivered' | 'bounced'): Entry {
  return { kind: 'report', at: T0 + 47 * SECOND, id: 'r1', email: EMAIL, outcome };
}

const problemsOf = (entries: Entry[], state = 'sent'): string[] => {
  const facts = sampleFacts(entries);
  for (const email of facts.rows.emails) email.state = state;
  return checkFacts(facts).violations.map(({ problem }) => problem);
};

describe('reports of providers', () => {
  test('finds an acknowledged bounce that is not recorded', () => {
    const problem = 'a bounce that a provider reported is not recorded once';
    expect(problemsOf([report('bounced'), REPORTED])).toContain(problem);
    expect(problemsOf([report('bounced')])).not.toContain(problem);
  });

  test('finds an email that is unknown although its delivery was acknowledged', () => {
    const problem = 'an email is unknown although its provider reported it';
    expect(problemsOf([report('delivered'), REPORTED], 'unknown')).toContain(problem);
    expect(problemsOf([report('delivered'), REPORTED])).not.toContain(problem);
  });
});
