import type { Facts } from './facts.ts';
import { checkEvents } from './events.ts';
import { checkGates } from './gates.ts';
import { checkKeys } from './keys.ts';
import { checkEmails } from './emails.ts';
import { checkMoves } from './moves.ts';
import { checkPeople } from './people.ts';
import { checkQueue } from './queue.ts';
import { readHistory } from './read-journals.ts';
import { readRows } from './read-rows.ts';
import { checkRequests } from './requests.ts';
import { resultsOf } from './request-results.ts';
import { createFindings, type OracleReport } from './findings.ts';
import { checkWebhooks } from './webhooks.ts';

export type { OracleReport, Violation } from './findings.ts';

/** Checks the journals of a run against its database, by all invariants of docs/explanation/proof.md. */
export async function checkRun(dir: string): Promise<OracleReport> {
  const history = await readHistory(dir);
  const rows = await readRows(history.world.databaseUrl, history.quietAt);
  return checkFacts({ ...history, rows });
}

export function checkFacts(facts: Facts): OracleReport {
  const findings = createFindings();
  const results = resultsOf(facts.requests, facts.rows.idempotencyKeys);
  checkRequests(facts, results, findings);
  checkEvents(facts, results, findings);
  checkPeople(facts, results, findings);
  checkQueue(facts, results, findings);
  checkKeys(facts, findings);
  const traces = checkEmails(facts, findings);
  checkGates(facts, traces, findings);
  checkWebhooks(facts, findings);
  checkMoves(facts, findings);
  for (const { invariant, problem, row } of facts.rows.violations) findings.add(invariant, problem, row);
  return { violations: findings.violations(), counts: countsOf(facts, results) };
}

function countsOf(
  { rows, requests, receivedEmails, hooks }: Facts,
  results: ReturnType<typeof resultsOf>,
): Record<string, number> {
  const unanswered = results.filter(({ request }) => request.attempts.some(({ answer }) => answer === null));
  return {
    requests: requests.length,
    accepted: results.filter(({ isAccepted }) => isAccepted).length,
    unanswered: unanswered.length,
    'unanswered but accepted': results.filter(
      ({ isAccepted, acceptances }) => isAccepted && acceptances.length === 0,
    ).length,
    events: rows.events.length,
    people: rows.people.length,
    drafts: rows.drafts.length,
    emails: receivedEmails.length,
    unknown: rows.emails.filter(({ state }) => state === 'unknown').length,
    failed: rows.emails.filter(({ state }) => state === 'failed').length,
    outcomes: rows.outcomes.length,
    deliveries: rows.deliveries.length,
    exhausted: rows.deliveries.filter(({ state }) => state === 'exhausted').length,
    POSTs: hooks.length,
  };
}
