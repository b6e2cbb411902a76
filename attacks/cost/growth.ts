import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Finding, Target } from '../attack.ts';
import type { GrowthReport, GrowthTask } from './growth-worker.ts';
import { GROWN } from './grown.ts';

/** Work that grows faster than this with the length of an input is refused: n log n over these sizes stays below it. */
const EXPONENT_MAX = 1.3;
const SUBJECT_MINUTES = 5;

/**
 * Searches for inputs whose work grows faster than their length: one dimension of an input is grown at a time, the blocks
 * of code that run are counted, and the exponent of the growth is fitted.
 */
export async function searchGrowth(target: Target): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name } of GROWN) {
    const reports = await growthOf({ subject: name });
    target.count('dimensions grown', reports.length);
    const worst = reports.toSorted((a, b) => b.exponent - a.exponent)[0];
    if (worst === undefined) findings.push({ severity: 'high', what: `${name}: nothing was grown in time` });
    else target.note(`${name}: ${reports.length} dimensions, worst exponent ${shownGrowth(worst)}`);
    for (const report of reports)
      if (report.exponent > EXPONENT_MAX)
        findings.push({ severity: 'medium', what: `${name}: work grows with ${shownGrowth(report)}` });
  }
  return findings;
}

function shownGrowth({ dimension, exponent, points }: GrowthReport): string {
  const counted = points.map(({ size, work }) => `${size}: ${work.toLocaleString('en-US')}`).join(', ');
  return `${exponent.toFixed(2)} in ${dimension} (${counted})`;
}

/** In a thread of its own: blocks are counted only in code that is loaded after the counting began. */
async function growthOf(task: GrowthTask): Promise<GrowthReport[]> {
  const thread = new Worker(new URL('growth-worker.ts', import.meta.url), { workerData: task });
  const reports: GrowthReport[] = [];
  thread.on('message', (report: GrowthReport) => reports.push(report));
  const late = setTimeout(() => void thread.terminate(), SUBJECT_MINUTES * 60_000);
  try {
    await once(thread, 'exit');
    return reports;
  } finally {
    clearTimeout(late);
  }
}
