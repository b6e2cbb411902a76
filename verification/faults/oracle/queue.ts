import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type { Facts } from './facts.ts';
import type { RequestResult } from './request-results.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I10: a bulk request is accepted below 50,000 waiting records, and refused from there on. The number of waiting records is not
 * observable while records arrive and are processed. But it never exceeds the number of accepted records, and it is known exactly while
 * processing is held.
 */
export function checkQueue(
  { faults }: Pick<Facts, 'faults'>,
  results: RequestResult[],
  findings: Findings,
): void {
  const byProject = Map.groupBy(results, ({ request }) => request.project);
  for (const [project, projectResults] of byProject) {
    const heldSpans = heldSpansOf(faults, project);
    for (const span of heldSpans) checkHeld(span, projectResults, findings);
    checkRefusals(projectResults, { heldSpans, findings });
  }
}

/** A span in which no record was processed, and the number of waiting records at its start. */
type HeldSpan = { from: number; until: number; waiting: number };

function heldSpansOf(faults: Facts['faults'], project: string): HeldSpan[] {
  const heldSpans: HeldSpan[] = [];
  for (const entry of faults) {
    if (entry.kind === 'held' && entry.project === project)
      heldSpans.push({ from: entry.at, until: Infinity, waiting: entry.waiting });
    const last = heldSpans.at(-1);
    if (entry.kind === 'released' && entry.project === project && last) last.until = entry.at;
  }
  return heldSpans;
}

const isBulk = ({ request }: RequestResult): boolean => request.path.endsWith('/bulk');
const countOf = (results: RequestResult[]): number =>
  results.reduce((sum, { records }) => sum + records.length, 0);

/** In whatever order the requests were accepted, there was space for the last one. */
function checkHeld({ from, until, waiting }: HeldSpan, results: RequestResult[], findings: Findings): void {
  const accepted = results.filter(
    (result) => result.isAccepted && result.from >= from && result.from < until,
  );
  const total = waiting + countOf(accepted);
  const isLast = (result: RequestResult): boolean => accepted.every((other) => other.from <= result.until);
  const last = accepted.filter((result) => isBulk(result) && isLast(result));
  const alreadyWaiting = Math.min(...last.map((result) => total - result.records.length));
  if (last.length > 0 && alreadyWaiting >= INGEST_QUEUE_MAX_RECORDS)
    findings.add(
      'I10',
      'a full queue accepted more records',
      `${last[0]?.request.request ?? ''}: ${alreadyWaiting} were already waiting`,
    );
}

function checkRefusals(
  results: RequestResult[],
  { heldSpans, findings }: { heldSpans: HeldSpan[]; findings: Findings },
): void {
  for (const { request } of results) {
    for (const { answer } of request.attempts) {
      if (answer?.status !== 429 || !answer.body.includes('backfill_queue_full')) continue;
      const span = heldSpans.find(({ from, until }) => from <= answer.at && answer.at <= until);
      const before = results.filter(
        (result) => result.isAccepted && result.from < answer.at && result.from >= (span?.from ?? 0),
      );
      const waitingMax = (span?.waiting ?? 0) + countOf(before);
      if (waitingMax < INGEST_QUEUE_MAX_RECORDS)
        findings.add(
          'I10',
          'a queue with space refused records as full',
          `${request.request}: ${waitingMax} waited at most`,
        );
    }
  }
}
