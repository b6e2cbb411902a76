import { Worker } from 'node:worker_threads';
import type { Finding } from '../attack.ts';
import type { FuzzStory, FuzzTask } from './fuzz-worker.ts';
import { leastCpuOf } from './cost.ts';
import { type Parser, PARSERS } from './parsers.ts';

const HANGS_AFTER_MS = 20_000;
const POLL_MS = 1_000;
export const SLOW_CPU_MS = 50;
const SHOWN_CHARS = 300;

export type Fuzzed = { inputs: number; slow: number; findings: Finding[] };

/** Fuzzes one parser in a thread of its own, which may crash or hang without affecting others. */
export async function fuzz(
  parser: Parser,
  { seed, forMs }: { seed: number; forMs: number },
): Promise<Fuzzed> {
  const shared = new SharedArrayBuffer(8 + parser.bytesMax);
  const task: FuzzTask = { parser: parser.name, seed, forMs, shared };
  const worker = new Worker(new URL('./fuzz-worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const stories: FuzzStory[] = [];
  worker.on('message', (story: FuzzStory) => stories.push(story));
  const crash = await ended(worker, new Int32Array(shared, 0, 2), forMs);
  const findings: Finding[] = [];
  const input = (): string =>
    Buffer.from(new Uint8Array(shared, 8, new Int32Array(shared, 0, 1)[0])).toString('base64');
  if (crash !== null)
    findings.push({ severity: 'high', title: `${parser.name}: ${crash}`, evidence: describeInput(input()) });
  const slow = stories.filter((story) => story.kind === 'slow');
  for (const story of slow) {
    const input = Buffer.from(story.input, 'base64');
    const parse = async (): Promise<unknown> => parser.parse(input);
    // The exception has been reported already.
    const ms = await leastCpuOf(() => parse().catch(() => {}));
    if (ms > SLOW_CPU_MS)
      findings.push({
        severity: 'medium',
        title: `${parser.name}: ${ms.toFixed(0)} ms of work for one input`,
        evidence: describeInput(story.input),
      });
  }
  for (const story of stories)
    if (story.kind === 'threw')
      findings.push({
        severity: 'high',
        title: `${parser.name} throws an error that is not a Fault: ${story.error}`,
        evidence: describeInput(story.input),
      });
  const done = stories.find((story) => story.kind === 'done');
  return { inputs: done?.inputs ?? new Int32Array(shared, 4, 1)[0] ?? 0, slow: slow.length, findings };
}

/** Returns null if the worker finished, otherwise how it failed. */
async function ended(
  worker: Worker,
  inputNumber: Int32Array<SharedArrayBuffer>,
  forMs: number,
): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  worker.on('error', (error: Error) => resolve(`crashed: ${error.message}`));
  worker.on('exit', (code) => resolve(code === 0 ? null : `ended with ${code}`));
  let [last, since] = [-1, Date.now()];
  const endsAt = Date.now() + forMs + HANGS_AFTER_MS * 3;
  const watch = setInterval(() => {
    const now = Atomics.load(inputNumber, 1);
    if (now !== last) [last, since] = [now, Date.now()];
    // Much code is loaded before the first input, so that time does not count as a hang.
    const hangs = now > 0 && Date.now() - since > HANGS_AFTER_MS;
    if (hangs) resolve(`hangs for ${HANGS_AFTER_MS / 1_000} s`);
    else if (Date.now() > endsAt) resolve('does not come to its end');
  }, POLL_MS);
  const crash = await promise;
  clearInterval(watch);
  await worker.terminate();
  return crash;
}

function describeInput(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  return `${bytes.length} bytes, base64 ${base64.slice(0, SHOWN_CHARS)}`;
}

export { PARSERS };
