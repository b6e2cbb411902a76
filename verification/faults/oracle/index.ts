import type { Facts } from './facts.ts';
import { judgeEvents } from './events.ts';
import { judgeGates } from './gates.ts';
import { judgeKeys } from './keys.ts';
import { judgeEmails } from './emails.ts';
import { judgeMoves } from './moves.ts';
import { judgePeople } from './people.ts';
import { judgeQueue } from './queue.ts';
import { readHistory } from './read-journals.ts';
import { readRows } from './read-rows.ts';
import { judgeRequests } from './requests.ts';
import { fatesOf } from './sent.ts';
import { createFindings, type Verdict } from './verdict.ts';
import { judgeWebhooks } from './webhooks.ts';

export type { Verdict, Violation } from './verdict.ts';

/** Checks the journals of a run against its database, by all invariants of docs/explanation/proof.md. */
export async function judge(dir: string): Promise<Verdict> {
  const history = await readHistory(dir);
  const rows = await readRows(history.world.databaseUrl, history.quietAt);
  return judgeFacts({ ...history, rows });
}

export function judgeFacts(facts: Facts): Verdict {
  const findings = createFindings();
  const fates = fatesOf(facts.requests, facts.rows.once);
  judgeRequests(facts, fates, findings);
  judgeEvents(facts, fates, findings);
  judgePeople(facts, fates, findings);
  judgeQueue(facts, fates, findings);
  judgeKeys(facts, findings);
  const sendings = judgeEmails(facts, findings);
  judgeGates(facts, sendings, findings);
  judgeWebhooks(facts, findings);
  judgeMoves(facts, findings);
  for (const { invariant, what, row } of facts.rows.broken) findings.add(invariant, what, row);
  return { violations: findings.violations(), counts: countsOf(facts, fates) };
}

function countsOf(
  { rows, requests, emails, hooks }: Facts,
  fates: ReturnType<typeof fatesOf>,
): Record<string, number> {
  const unanswered = fates.filter(({ request }) => request.tries.some(({ answer }) => answer === null));
  return {
    requests: requests.length,
    accepted: fates.filter(({ isAccepted }) => isAccepted).length,
    unanswered: unanswered.length,
    'unanswered but accepted': fates.filter(({ isAccepted, taken }) => isAccepted && taken.length === 0)
      .length,
    events: rows.events.length,
    people: rows.people.length,
    drafts: rows.drafts.length,
    emails: emails.length,
    unknown: rows.messages.filter(({ state }) => state === 'unknown').length,
    failed: rows.messages.filter(({ state }) => state === 'failed').length,
    outcomes: rows.outcomes.length,
    deliveries: rows.deliveries.length,
    exhausted: rows.deliveries.filter(({ state }) => state === 'exhausted').length,
    POSTs: hooks.length,
  };
}
