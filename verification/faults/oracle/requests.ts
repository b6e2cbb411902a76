import type { Answer, Facts } from './facts.ts';
import { type RequestResult, isAcceptance, readReply } from './request-results.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I2: a response is the same whenever it is repeated, and at most one of them had an effect. Checks I3: the key of another request
 * is refused. Checks I4: the accepted and rejected records match those sent, and the queue counted as many.
 */
export function checkRequests(
  facts: Pick<Facts, 'rows'>,
  results: RequestResult[],
  findings: Findings,
): void {
  for (const result of results) {
    if (result.request.intent === 'clash') checkClash(result, findings);
    else if (result.request.intent !== 'revoked') checkAnswers(result, findings);
    for (const answer of result.acceptances) checkCounts(result, answer, findings);
  }
  checkQueues(facts, results, findings);
}

/** The stored response of a plain acceptance. */
const ACCEPTED = '{"data":{"accepted":true}}';

function checkAnswers(result: RequestResult, findings: Findings): void {
  const { request, acceptances } = result;
  const name = nameOf(result);
  const bodies = new Set(acceptances.map(({ status, body }) => `${status} ${body}`));
  if (bodies.size > 1)
    findings.add('I2', 'one request has two different responses', `${name}: ${[...bodies].join(' | ')}`);
  const original = acceptances.filter(({ replayed }) => !replayed);
  if (original.length > 1)
    findings.add('I2', 'one request was accepted twice', `${name}: ${original.length} times`);
  checkStoredAnswer(result, findings);
  for (const { key, answer } of request.attempts)
    if (answer && isRefusal(answer)) {
      const evidence = `${name} by ${key}: ${answer.status} ${answer.body}`;
      findings.add('I2', 'a valid request was refused permanently', evidence);
    }
}

function checkStoredAnswer(result: RequestResult, findings: Findings): void {
  const { acceptances, idempotencyRow } = result;
  if (acceptances.length > 0 && !idempotencyRow)
    findings.add('I2', 'the key of an acknowledged request was not stored', nameOf(result));
  for (const { status, body } of idempotencyRow ? acceptances : [])
    if (status !== idempotencyRow?.status || body !== (idempotencyRow.body ?? ACCEPTED))
      findings.add(
        'I2',
        'the stored response differs from the one sent',
        `${nameOf(result)}: ${status} ${body}`,
      );
}

const nameOf = ({ request }: RequestResult): string => `${request.request} of project ${request.project}`;

/**
 * These statuses are not refusals. `keys.ts` checks 401, because it has the times of revocations. Statuses 408 and 429 allow a retry, and
 * are right for a request that hardly came through.
 */
const RETRYABLE_STATUSES: readonly number[] = [401, 408, 429];

function isRefusal({ status }: Answer): boolean {
  return status >= 300 && status < 500 && !RETRYABLE_STATUSES.includes(status);
}

function checkClash(result: RequestResult, findings: Findings): void {
  const { request, acceptances } = result;
  const name = nameOf(result);
  if (acceptances.length > 0) findings.add('I3', 'the key of another request was accepted again', name);
  for (const { answer } of request.attempts) {
    if (!answer || isAcceptance(answer) || !isRefusal(answer)) continue;
    if (answer.status !== 422 || !answer.body.includes('idempotency_key_reuse'))
      findings.add(
        'I3',
        'a refusal other than idempotency_key_reuse',
        `${name}: ${answer.status} ${answer.body}`,
      );
  }
}

function checkCounts({ request }: RequestResult, { body }: Answer, findings: Findings): void {
  const evidence = `${request.request}: ${body.slice(0, 200)}`;
  const reply = readReply(body);
  const data = reply?.data;
  if (!request.path.endsWith('/bulk')) {
    if (data?.accepted !== true) findings.add('I4', 'a response does not confirm its acceptance', evidence);
    return;
  }
  const { accepted, rejected, errors } = data ?? {};
  const received = reply?.meta?.received;
  const isComplete = Number(accepted) + Number(rejected) === request.records && received === request.records;
  if (!isComplete || errors?.length !== rejected)
    findings.add(
      'I4',
      'accepted and rejected do not match the sent records',
      `${evidence} to ${request.records} records`,
    );
}

/** Checks that each accepted record has one sequence, and so has each event of our own. */
function checkQueues({ rows }: Pick<Facts, 'rows'>, results: RequestResult[], findings: Findings): void {
  const counted = new Map<string, number>();
  const add = (project: string, count: number): void =>
    void counted.set(project, (counted.get(project) ?? 0) + count);
  for (const { request, records, isAccepted } of results)
    if (isAccepted) add(request.project, records.length);
  for (const { project, identity } of rows.events) if (identity === null) add(project, 1);
  for (const { project, nextSeq } of rows.queues) {
    const expected = 1 + (counted.get(project) ?? 0);
    if (nextSeq !== expected)
      findings.add(
        'I4',
        'the queue did not count all accepted records',
        `project ${project}: ${nextSeq} instead of ${expected}`,
      );
  }
}
