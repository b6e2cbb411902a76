import { setTimeout as pause } from 'node:timers/promises';
import type { Stage } from '../fault.ts';

const LOOK_EVERY_MS = 100;

/** Waits this long, or until the run is to end. */
export async function hold(stage: Pick<Stage, 'goesOn'>, ms: number): Promise<void> {
  const until = Date.now() + ms;
  while (stage.goesOn() && Date.now() < until) await pause(LOOK_EVERY_MS);
}

type Doing = {
  code: string;
  what: string;
  /** The part that the fault hits. */
  victim: string;
  spoil: () => Promise<void> | void;
  /** Always called, even if `spoil` failed half way. */
  mend: () => Promise<void> | void;
  forMs: number;
};

/** Applies a fault for a while, always removes it, and records both. */
export async function spoilFor(
  stage: Stage,
  { code, what, victim, spoil, mend, forMs }: Doing,
): Promise<void> {
  note(stage, { code, what, victim, inFlight: await inFlight(stage) });
  const startedAt = Date.now();
  try {
    await spoil();
    await hold(stage, forMs);
  } finally {
    await mend();
    stage.journal.write({ kind: 'recovered', at: Date.now(), code, afterMs: Date.now() - startedAt });
  }
}

type Noted = { code: string; what: string; victim: string; inFlight: number };

export function note(stage: Pick<Stage, 'journal'>, noted: Noted): void {
  stage.journal.write({ kind: 'fault', at: Date.now(), ...noted });
}

/** Returns the work under way in all processes together. */
export async function inFlight({ victims }: Pick<Stage, 'victims'>): Promise<number> {
  const counts = await Promise.all(victims.map((victim) => victim.inFlight().catch(() => 0)));
  return counts.reduce((sum, count) => sum + count, 0);
}
