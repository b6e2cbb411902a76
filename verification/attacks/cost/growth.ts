import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Finding, Target } from '../attack.ts';
import type { GrowthReport, GrowthTask } from './growth-worker.ts';
import { GROWTH_SUBJECTS } from './grown.ts';
import { NATIVE } from './grown-shapes.ts';

/** A finding is work that grows faster than this with the length of an input. n log n over these sizes stays below it. */
const EXPONENT_MAX = 1.3;
const SUBJECT_MINUTES = 5;

/** `COST_ONLY='growth: Liquid'` searches only the inputs of this name. */
const WHOLE = 'growth';

/**
 * Searches for inputs whose work grows faster than their length. It grows one or two dimensions of an input at a time, counts the work and
 * fits its exponent. Work is the number of blocks of code that ran plus the characters that native functions handled.
 */
export async function searchGrowth(target: Target, only = ''): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name } of GROWTH_SUBJECTS.filter((growthSubject) => growthSubject !== NATIVE).filter(
    (growthSubject) => `${WHOLE}: ${growthSubject.name}`.includes(only),
  )) {
    const reports = await growthOf({ subject: name });
    target.count('dimensions measured', reports.length);
    const worst = reports.toSorted((a, b) => b.exponent - a.exponent)[0];
    if (worst === undefined) findings.push({ severity: 'high', title: `${name}: nothing was grown in time` });
    else target.note(`${name}: ${reports.length} dimensions, worst exponent ${shownGrowth(worst)}`);
    for (const report of reports)
      if (report.exponent > EXPONENT_MAX)
        findings.push({ severity: 'medium', title: `${name}: work grows with ${shownGrowth(report)}` });
  }
  return findings;
}

function shownGrowth({ dimension, exponent, points }: GrowthReport): string {
  const counted = points.map(({ size, work }) => `${size}: ${work.toLocaleString('en-US')}`).join(', ');
  return `${exponent.toFixed(2)} in ${dimension} (${counted})`;
}

/** Measures in a thread of its own, because blocks are counted only in code that is loaded after the counting began. */
export async function growthOf(task: GrowthTask): Promise<GrowthReport[]> {
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
