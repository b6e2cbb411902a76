/** Fuzzes one parser for a time. The next input is written to shared memory, so that the parent can read it if the parser hangs. */

import { parentPort, workerData } from 'node:worker_threads';
import { mutate, randomFrom } from './mutate.ts';
import { PARSERS } from './parsers.ts';

export type FuzzTask = { parser: string; seed: number; forMs: number; shared: SharedArrayBuffer };
export type FuzzStory =
  | { kind: 'slow'; input: string; ms: number }
  | { kind: 'threw'; input: string; error: string }
  | { kind: 'done'; inputs: number };

const SLOW_MS = 50;
const TOLD_MAX = 20;

const { parser: name, seed, forMs, shared } = workerData as FuzzTask;
const parser = PARSERS.find((candidate) => candidate.name === name);
if (!parser) throw new Error(`no parser ${name}`);
const random = randomFrom(seed);
const seeds = parser.seeds();
const counts = new Map<string, number>();
const length = new Int32Array(shared, 0, 2);
const currentInput = new Uint8Array(shared, 8);

function reportStory(story: FuzzStory, sort: string): void {
  const times = (counts.get(sort) ?? 0) + 1;
  counts.set(sort, times);
  if (times <= TOLD_MAX) parentPort?.postMessage(story);
}

let inputs = 0;
const endsAt = performance.now() + forMs;
// The first round parses the unchanged seeds, so that all code is compiled.
for (const seedInput of seeds) await Promise.resolve(parser.parse(seedInput)).catch(() => {});
while (performance.now() < endsAt) {
  const input = mutate({ seeds, bytesMax: parser.bytesMax, random });
  currentInput.set(input.subarray(0, currentInput.length));
  Atomics.store(length, 0, input.length);
  Atomics.store(length, 1, inputs);
  const startedAt = performance.now();
  try {
    await parser.parse(input);
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    reportStory({ kind: 'threw', input: input.toString('base64'), error: message }, message.slice(0, 60));
  }
  const ms = performance.now() - startedAt;
  if (ms > SLOW_MS && parser.isApart?.(input) !== true)
    reportStory({ kind: 'slow', input: input.toString('base64'), ms }, 'slow');
  inputs += 1;
  // Without an await in the parser, messages would wait for the end.
  if (inputs % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
}
parentPort?.postMessage({ kind: 'done', inputs } satisfies FuzzStory);
