import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Stage } from './fault.ts';
import { INJECTIONS } from './inject/index.ts';
import { KILLS } from './kills/index.ts';
import { exponential, type Random, randomOf } from './random.ts';
import { SCENARIOS } from './scenarios/index.ts';

export const FAULTS: readonly Fault[] = [...KILLS, ...INJECTIONS, ...SCENARIOS];
const LOOK_EVERY_MS = 200;

/** Returns the faults with these codes, or all faults if none is named. */
export function chooseFaults(only: string[] | null, all = FAULTS): Fault[] {
  const unknown = (only ?? []).filter((code) => !all.some((fault) => fault.code === code));
  if (unknown.length > 0)
    throw new Error(
      `unknown fault ${unknown.join(', ')}: ${[...new Set(all.map(({ code }) => code))].join(', ')}`,
    );
  return all.filter(({ code }) => only === null || only.includes(code));
}

/** Yields faults by weight. The order is the same for the same seed, whatever random numbers each fault uses. */
export function* faultSequence(faults: Fault[], seed: string): Generator<{ fault: Fault; random: Random }> {
  const random = randomOf(`${seed} order of faults`);
  const all = faults.reduce((sum, { weight }) => sum + weight, 0);
  for (let n = 0; ; n += 1) {
    let left = random() * all;
    const fault = faults.find(({ weight }) => (left -= weight) < 0) ?? faults.at(-1);
    if (!fault) return;
    yield { fault, random: randomOf(`${seed} fault ${n}`) };
  }
}

/** Runs one fault after the other, this many seconds apart on average, until the run is to end. */
export async function injectFaults(
  stage: Stage,
  faults: Fault[],
  { seed, every }: { seed: number; every: number },
): Promise<void> {
  for (const { fault, random } of faultSequence(faults, String(seed))) {
    const until = Date.now() + exponential(every * 1_000, random);
    while (stage.isRunning() && Date.now() < until) await pause(Math.min(LOOK_EVERY_MS, until - Date.now()));
    if (!stage.isRunning()) return;
    await fault.run(stage, random);
  }
}
