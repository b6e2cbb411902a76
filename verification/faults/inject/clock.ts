import { globSync } from 'node:fs';
import type { Fault, Stage, Victim } from '../fault.ts';
import { pickRunning } from '../kills/pick-running.ts';
import { between, pick, type Random } from '../random.ts';
import { note, injectFor } from './hold.ts';

/** The library itself, because a signal to the faketime program does not reach its child process. */
const [FAKETIME] = globSync('/usr/lib*/{,*/}faketime/libfaketimeMT.so.1');
/** Some offsets that are corrected, and some beyond what a ready process accepts. */
const OFFSETS_S = [-3_600, -30, -7, -3, 3, 7, 30, 3_600];
const DURATION_MS: [number, number] = [4_000, 12_000];

/** One process has a different time than all others. */
export const CLOCK: Fault = {
  code: 'F8',
  name: 'a clock is wrong',
  weight: 0.5,
  async run(stage, random) {
    const victim = pickRunning(stage.victims, random);
    if (!victim) return;
    if (FAKETIME !== undefined) await moveClock(stage, { victim, library: FAKETIME }, random);
    else note(stage, { code: 'F8', detail: 'skipped: faketime is not installed', victim: '', inFlight: 0 });
  },
};

type ClockChange = { victim: Victim; library: string };

async function moveClock(stage: Stage, { victim, library }: ClockChange, random: Random): Promise<void> {
  const offset = pick(OFFSETS_S, random);
  await injectFor(stage, {
    code: 'F8',
    detail: `${offset} s`,
    victim: victim.name,
    forMs: between(...DURATION_MS, random),
    // The monotonic clock stays real. Timers would not fire otherwise.
    inject: () =>
      victim.restart('SIGTERM', {
        LD_PRELOAD: library,
        FAKETIME: `${offset > 0 ? '+' : ''}${offset}s`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      }),
    restore: () => victim.restart('SIGTERM', { LD_PRELOAD: '' }),
  });
}
