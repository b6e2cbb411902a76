import type { ActionEntry } from '../journal.ts';
import type { Facts, Attempt } from './facts.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I11: a request with a key whose revocation was acknowledged before gets 401 from every process. A request without a response, or
 * with a 503, proves nothing.
 */
export function checkKeys(
  facts: Pick<Facts, 'world' | 'requests' | 'actions' | 'rows'>,
  findings: Findings,
): void {
  const revocations = revocationsOf(facts.actions);
  for (const { request, attempts } of facts.requests)
    for (const attempt of attempts)
      checkAttempt(request, attempt, { revocation: revocations.get(attempt.key), findings });
  checkRows(facts, revocations, findings);
}

/** When its revocation was requested, and when it was acknowledged. */
type Revocation = { requestedAt: number; acknowledgedAt: number };

function revocationsOf(actions: ActionEntry[]): Map<string, Revocation> {
  const revocations = new Map<string, Revocation>();
  for (const { action, subject, at, endedAt, status } of actions) {
    if (action !== 'revoke_key') continue;
    const revocation = revocations.get(subject) ?? { requestedAt: at, acknowledgedAt: Infinity };
    revocations.set(subject, revocation);
    if (endedAt !== null && status !== null && status < 300)
      revocation.acknowledgedAt = Math.min(revocation.acknowledgedAt, endedAt);
  }
  return revocations;
}

type AttemptContext = { revocation: Revocation | undefined; findings: Findings };

function checkAttempt(
  request: string,
  { key, at, to, answer }: Attempt,
  { revocation, findings }: AttemptContext,
): void {
  if (!answer || answer.status >= 500) return;
  const { requestedAt, acknowledgedAt } = revocation ?? { requestedAt: Infinity, acknowledgedAt: Infinity };
  const evidence = `${request} by key ${key} at ${to}: ${answer.status}`;
  if (at > acknowledgedAt && answer.status !== 401)
    findings.add('I11', 'a revoked key was accepted', evidence);
  if (answer.status === 401 && answer.at < requestedAt)
    findings.add('I11', 'a live key was refused', evidence);
}

type KeyFacts = Pick<Facts, 'world' | 'rows'>;

function checkRows(
  { world, rows }: KeyFacts,
  revocations: Map<string, Revocation>,
  findings: Findings,
): void {
  const projectOfKey = new Map(world.projects.flatMap(({ id, keys }) => keys.map((key) => [key.id, id])));
  for (const { id, project, revokedAt } of rows.keys) {
    if (revokedAt === null && (revocations.get(id)?.acknowledgedAt ?? Infinity) !== Infinity)
      findings.add('I11', 'a key whose revocation was acknowledged is live', id);
    if ((projectOfKey.get(id) ?? project) !== project) findings.add('I12', 'a key opens another project', id);
  }
}
