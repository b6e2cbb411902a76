import type { ActEntry } from '../journal.ts';
import type { Facts, Try } from './facts.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I11: a request with a key whose revocation was acknowledged before gets 401 from every process. A request without a response, or
 * with a 503, proves nothing.
 */
export function judgeKeys(
  facts: Pick<Facts, 'world' | 'requests' | 'acts' | 'rows'>,
  findings: Findings,
): void {
  const revocations = revocationsOf(facts.acts);
  for (const { request, tries } of facts.requests)
    for (const one of tries) judgeTry(request, one, { of: revocations.get(one.key), findings });
  judgeRows(facts, revocations, findings);
}

/** When its revocation was requested, and when it was acknowledged. */
type Revocation = { asked: number; done: number };

function revocationsOf(acts: ActEntry[]): Map<string, Revocation> {
  const revocations = new Map<string, Revocation>();
  for (const { act, subject, at, done, status } of acts) {
    if (act !== 'revoke_key') continue;
    const known = revocations.get(subject) ?? { asked: at, done: Infinity };
    revocations.set(subject, known);
    if (done !== null && status !== null && status < 300) known.done = Math.min(known.done, done);
  }
  return revocations;
}

type Judging = { of: Revocation | undefined; findings: Findings };

function judgeTry(request: string, { key, at, to, answer }: Try, { of, findings }: Judging): void {
  if (!answer || answer.status >= 500) return;
  const { asked, done } = of ?? { asked: Infinity, done: Infinity };
  const said = `${request} by key ${key} at ${to}: ${answer.status}`;
  if (at > done && answer.status !== 401) findings.add('I11', 'a revoked key opened something', said);
  if (answer.status === 401 && answer.at < asked) findings.add('I11', 'a live key was refused', said);
}

type Known = Pick<Facts, 'world' | 'rows'>;

function judgeRows({ world, rows }: Known, revocations: Map<string, Revocation>, findings: Findings): void {
  const worlds = new Map(world.projects.flatMap(({ id, keys }) => keys.map((key) => [key.id, id])));
  for (const { id, project, revokedAt } of rows.keys) {
    if (revokedAt === null && (revocations.get(id)?.done ?? Infinity) !== Infinity)
      findings.add('I11', 'a key whose revocation was acknowledged is live', id);
    if ((worlds.get(id) ?? project) !== project) findings.add('I12', 'a key opens another project', id);
  }
}
