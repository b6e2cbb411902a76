import { Session } from 'node:inspector/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { GrowthSubject } from './grown-shapes.ts';
import { countCharacters, takeCharacters } from './native-work.ts';

export type GrowthTask = { subject: string; sizes?: number[] };
export type GrowthReport = {
  dimension: string;
  /** The exponent in work ~ size ^ exponent. */
  exponent: number;
  points: { size: number; work: number }[];
};

const SIZES = [500, 1_000, 2_000, 4_000];
/** Below this the fixed part of the work hides how the rest grows. */
const WORK_MIN = 2_000;
/** A dimension whose work is this large already needs no larger size to show how it grows. */
const WORK_ENOUGH = 40_000_000;
/** An exponent above this is measured again at twice the size. */
const STEEP = 1.3;

const { subject, sizes = SIZES } = workerData as GrowthTask;
const session = new Session();
session.connect();
countCharacters();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
const { GROWTH_SUBJECTS } = await import('./grown.ts');
const growthSubject = GROWTH_SUBJECTS.find(({ name }) => name === subject);
if (!growthSubject) throw new Error(`unknown growth subject ${subject}`);
const run = await growthSubject.load();

/** A native function handles some characters in the time of one block. */
const CHARACTERS_PER_BLOCK = 16;

/** Returns how many blocks of code ran since the last count, plus the work of native functions on strings in that time. */
async function countedWork(): Promise<number> {
  const characters = takeCharacters();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  let work = characters / CHARACTERS_PER_BLOCK;
  for (const { url, functions } of result)
    if (!url.startsWith('node:') && !url.endsWith('/native-work.ts'))
      for (const { ranges } of functions) for (const { count } of ranges) work += count;
  takeCharacters();
  return Math.round(work);
}

async function workOf(input: string): Promise<number> {
  await countedWork();
  try {
    await run(input);
  } catch {
    // A refused input counts too: its cost is measured like any other.
  }
  return countedWork();
}

for (const [dimension, grow] of dimensionsOf(growthSubject)) {
  const points: GrowthReport['points'] = [];
  // Runs the code that only the first call runs. The size differs from all measured sizes, because parsed sources are cached.
  await workOf(grow((sizes[0] ?? 2) / 2));
  for (const size of [...sizes, 2 * (sizes.at(-1) ?? 0)]) {
    // One more size distinguishes a step, such as a limit that refuses larger inputs, from growth.
    if (size > (sizes.at(-1) ?? 0) && exponentOf(points) <= STEEP) break;
    const input = grow(size);
    if (input.length > growthSubject.charsMax) break;
    const work = await workOf(input);
    points.push({ size, work });
    if (work > WORK_ENOUGH && points.length > 1) break;
  }
  parentPort?.postMessage({ dimension, points, exponent: exponentOf(points) } satisfies GrowthReport);
}
session.disconnect();

/**
 * Returns the slope of the logarithms over the two largest sizes. Smaller sizes show only how work begins, and where a limit refuses the
 * rest.
 */
function exponentOf(points: GrowthReport['points']): number {
  const [first, last] = points.slice(-2);
  if (!first || !last || first.work < WORK_MIN) return 0;
  return Math.log(last.work / first.work) / Math.log(last.size / first.size);
}

/** Yields each piece repeated, each pair of pieces repeated, each piece nested in itself, and the shapes. */
function* dimensionsOf(growthSubject: GrowthSubject): Iterable<[string, (size: number) => string]> {
  const { pieces, nests, shapes = {} } = growthSubject;
  const frame = (text: string): string => growthSubject.frame(text);
  const named = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
  for (const [name, shape] of Object.entries(shapes)) yield [name, (size) => frame(shape(size))];
  for (const piece of pieces) yield [`${named(piece)} repeated`, (size) => frame(piece.repeat(size))];
  for (const [open, close] of nests)
    yield [`${named(open)} nested`, (size) => frame(open.repeat(size) + close.repeat(size))];
  for (const [open] of nests) yield [`${named(open)} never closed`, (size) => frame(open.repeat(size))];
  for (const piece of [...pieces, ...nests.map(([open]) => open)])
    for (const other of pieces)
      if (piece !== other)
        yield [
          `${named(piece)}, then ${named(other)}`,
          (size) => frame(piece.repeat(size / 2) + other.repeat(size / 2)),
        ];
}
