import type { Answer, Facts } from './facts.ts';
import { type Fate, isTaken, readReply } from './sent.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I2: a response is the same whenever it is repeated, and at most one of them had an effect. Checks I3: the key of another request
 * is refused. Checks I4: the accepted and rejected records match those sent, and the queue counted as many.
 */
export function judgeRequests(facts: Pick<Facts, 'rows'>, fates: Fate[], findings: Findings): void {
  for (const fate of fates) {
    if (fate.request.intent === 'clash') judgeClash(fate, findings);
    else if (fate.request.intent !== 'revoked') judgeAnswers(fate, findings);
    for (const answer of fate.taken) judgeCounts(fate, answer, findings);
  }
  judgeQueues(facts, fates, findings);
}

/** The stored response of a plain acceptance. */
const ACCEPTED = '{"data":{"accepted":true}}';

function judgeAnswers(fate: Fate, findings: Findings): void {
  const { request, taken } = fate;
  const name = nameOf(fate);
  const bodies = new Set(taken.map(({ status, body }) => `${status} ${body}`));
  if (bodies.size > 1)
    findings.add('I2', 'one request has two different answers', `${name}: ${[...bodies].join(' | ')}`);
  const first = taken.filter(({ replayed }) => !replayed);
  if (first.length > 1) findings.add('I2', 'one request was taken twice', `${name}: ${first.length} times`);
  judgeKept(fate, findings);
  for (const { key, answer } of request.tries)
    if (answer && isRefusal(answer)) {
      const said = `${name} by ${key}: ${answer.status} ${answer.body}`;
      findings.add('I2', 'a sound request was refused for good', said);
    }
}

function judgeKept(fate: Fate, findings: Findings): void {
  const { taken, once } = fate;
  if (taken.length > 0 && !once)
    findings.add('I2', 'the key of an acknowledged request was not kept', nameOf(fate));
  for (const { status, body } of once ? taken : [])
    if (status !== once?.status || body !== (once.body ?? ACCEPTED))
      findings.add('I2', 'another answer is kept than was given', `${nameOf(fate)}: ${status} ${body}`);
}

const nameOf = ({ request }: Fate): string => `${request.request} of project ${request.project}`;

/**
 * These statuses are not refusals. `keys.ts` checks 401, because it has the times of revocations. Statuses 408 and 429 allow a retry, and
 * are right for a request that hardly came through.
 */
const NO_REFUSAL: readonly number[] = [401, 408, 429];

function isRefusal({ status }: Answer): boolean {
  return status >= 300 && status < 500 && !NO_REFUSAL.includes(status);
}

function judgeClash(fate: Fate, findings: Findings): void {
  const { request, taken } = fate;
  const name = nameOf(fate);
  if (taken.length > 0) findings.add('I3', 'the key of another request was taken again', name);
  for (const { answer } of request.tries) {
    if (!answer || isTaken(answer) || !isRefusal(answer)) continue;
    if (answer.status !== 422 || !answer.body.includes('idempotency_key_reuse'))
      findings.add(
        'I3',
        'another refusal than idempotency_key_reuse',
        `${name}: ${answer.status} ${answer.body}`,
      );
  }
}

function judgeCounts({ request }: Fate, { body }: Answer, findings: Findings): void {
  const evidence = `${request.request}: ${body.slice(0, 200)}`;
  const reply = readReply(body);
  const data = reply?.data;
  if (!request.path.endsWith('/bulk')) {
    if (data?.accepted !== true) findings.add('I4', 'an answer does not say that it was accepted', evidence);
    return;
  }
  const { accepted, rejected, errors } = data ?? {};
  const received = reply?.meta?.received;
  const adds = Number(accepted) + Number(rejected) === request.records && received === request.records;
  if (!adds || errors?.length !== rejected)
    findings.add(
      'I4',
      'accepted and rejected are not what was sent',
      `${evidence} to ${request.records} records`,
    );
}

/** Checks that each accepted record has one sequence, and so has each event of our own. */
function judgeQueues({ rows }: Pick<Facts, 'rows'>, fates: Fate[], findings: Findings): void {
  const counted = new Map<string, number>();
  const add = (project: string, count: number): void =>
    void counted.set(project, (counted.get(project) ?? 0) + count);
  for (const { request, sent, isAccepted } of fates) if (isAccepted) add(request.project, sent.length);
  for (const { project, identity } of rows.events) if (identity === null) add(project, 1);
  for (const { project, nextSeq } of rows.queues) {
    const should = 1 + (counted.get(project) ?? 0);
    if (nextSeq !== should)
      findings.add(
        'I4',
        'as many records as were accepted were not counted',
        `project ${project}: ${nextSeq} instead of ${should}`,
      );
  }
}
