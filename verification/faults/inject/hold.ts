import { setTimeout as pause } from 'node:timers/promises';
import type { Stage } from '../fault.ts';

const POLL_MS = 100;

/** Waits this long, or until the run is to end. */
export async function hold(stage: Pick<Stage, 'isRunning'>, ms: number): Promise<void> {
  const until = Date.now() + ms;
  while (stage.isRunning() && Date.now() < until) await pause(POLL_MS);
}

type TimedFault = {
  code: string;
  detail: string;
  /** The part that the fault hits. */
  victim: string;
  inject: () => Promise<void> | void;
  /** Always called, even if `inject` failed half way. */
  restore: () => Promise<void> | void;
  forMs: number;
};

/** Applies a fault for a while, always removes it, and records both. */
export async function injectFor(
  stage: Stage,
  { code, detail, victim, inject, restore, forMs }: TimedFault,
): Promise<void> {
  note(stage, { code, detail, victim, inFlight: await inFlight(stage) });
  const startedAt = Date.now();
  try {
    await inject();
    await hold(stage, forMs);
  } finally {
    await restore();
    stage.journal.write({ kind: 'recovered', at: Date.now(), code, afterMs: Date.now() - startedAt });
  }
}

type FaultNote = { code: string; detail: string; victim: string; inFlight: number };

export function note(stage: Pick<Stage, 'journal'>, faultNote: FaultNote): void {
  stage.journal.write({ kind: 'fault', at: Date.now(), ...faultNote });
}

/** Returns the work under way in all processes together. */
export async function inFlight({ victims }: Pick<Stage, 'victims'>): Promise<number> {
  const counts = await Promise.all(victims.map((victim) => victim.inFlight().catch(() => 0)));
  return counts.reduce((sum, count) => sum + count, 0);
}
