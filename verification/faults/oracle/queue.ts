import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type { Facts } from './facts.ts';
import type { Fate } from './sent.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I10: a bulk request is accepted below 50,000 waiting records, and refused from there on. The number of waiting records is not
 * observable while records arrive and are processed. But it never exceeds the number of accepted records, and it is known exactly while
 * processing is held.
 */
export function judgeQueue({ faults }: Pick<Facts, 'faults'>, fates: Fate[], findings: Findings): void {
  const byProject = Map.groupBy(fates, ({ request }) => request.project);
  for (const [project, some] of byProject) {
    const held = heldIn(faults, project);
    for (const times of held) judgeHeld(times, some, findings);
    judgeRefusals(some, { held, findings });
  }
}

/** A span in which no record was processed, and the number of waiting records at its start. */
type Held = { from: number; until: number; waiting: number };

function heldIn(faults: Facts['faults'], project: string): Held[] {
  const held: Held[] = [];
  for (const entry of faults) {
    if (entry.kind === 'held' && entry.project === project)
      held.push({ from: entry.at, until: Infinity, waiting: entry.waiting });
    const last = held.at(-1);
    if (entry.kind === 'let_go' && entry.project === project && last) last.until = entry.at;
  }
  return held;
}

const isBulk = ({ request }: Fate): boolean => request.path.endsWith('/bulk');
const countOf = (fates: Fate[]): number => fates.reduce((sum, { sent }) => sum + sent.length, 0);

/** In whatever order the requests were accepted, there was space for the last one. */
function judgeHeld({ from, until, waiting }: Held, fates: Fate[], findings: Findings): void {
  const taken = fates.filter((fate) => fate.isAccepted && fate.from >= from && fate.from < until);
  const all = waiting + countOf(taken);
  const isLast = (fate: Fate): boolean => taken.every((other) => other.from <= fate.until);
  const last = taken.filter((fate) => isBulk(fate) && isLast(fate));
  const found = Math.min(...last.map((fate) => all - fate.sent.length));
  if (last.length > 0 && found >= INGEST_QUEUE_MAX_RECORDS)
    findings.add(
      'I10',
      'a full queue took more',
      `${last[0]?.request.request ?? ''}: ${found} waited already`,
    );
}

function judgeRefusals(fates: Fate[], { held, findings }: { held: Held[]; findings: Findings }): void {
  for (const { request } of fates) {
    for (const { answer } of request.tries) {
      if (answer?.status !== 429 || !answer.body.includes('backfill_queue_full')) continue;
      const times = held.find(({ from, until }) => from <= answer.at && answer.at <= until);
      const before = fates.filter(
        (fate) => fate.isAccepted && fate.from < answer.at && fate.from >= (times?.from ?? 0),
      );
      const most = (times?.waiting ?? 0) + countOf(before);
      if (most < INGEST_QUEUE_MAX_RECORDS)
        findings.add(
          'I10',
          'a queue said that it is full, and was not',
          `${request.request}: ${most} at most waited`,
        );
    }
  }
}
