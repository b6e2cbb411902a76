import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Spoiling, Stage, Wire } from '../fault.ts';
import { between, pick, type Random } from '../random.ts';
import { hold, spoilFor } from './hold.ts';

type WireName = keyof Stage['wires'];
const WIRES: WireName[] = ['database', 'smtp', 'hooks', 'api'];

type Trouble = {
  name: string;
  weight: number;
  spoiling(random: Random): Spoiling;
  /** The duration in seconds, from and to. */
  lasts: [number, number];
  /**
   * The fault comes and goes, so that it hits connections in the middle of their work. A connection that is broken from its start would
   * always fail at the same first message.
   */
  inPulses?: true;
};

const TROUBLES: Trouble[] = [
  {
    name: 'reset before the reply',
    weight: 1.5,
    spoiling: () => ({ kind: 'reset', when: 'before-reply' }),
    lasts: [2, 6],
    inPulses: true,
  },
  {
    name: 'reset after the reply',
    weight: 1,
    spoiling: () => ({ kind: 'reset', when: 'after-reply' }),
    lasts: [2, 6],
    inPulses: true,
  },
  {
    name: 'reset at once',
    weight: 0.5,
    spoiling: () => ({ kind: 'reset', when: 'now' }),
    lasts: [2, 6],
    inPulses: true,
  },
  {
    name: 'half open',
    weight: 1,
    spoiling: (random) => ({ kind: 'half-open', direction: pick(['up', 'down'] as const, random) }),
    lasts: [3, 15],
  },
  { name: 'cut', weight: 1, spoiling: () => ({ kind: 'half-open', direction: 'both' }), lasts: [3, 15] },
  { name: 'refused', weight: 0.5, spoiling: () => ({ kind: 'refuse' }), lasts: [1, 8] },
  {
    name: 'slow',
    weight: 1,
    spoiling: (random) => ({ kind: 'delay', ms: between(20, 1_500, random) }),
    lasts: [3, 10],
  },
  {
    name: 'drip by drip',
    weight: 0.5,
    spoiling: (random) => ({ kind: 'drip', bytesPerSecond: pick([1, 10, 100], random) }),
    lasts: [3, 10],
  },
];

const PULSE_MS: [number, number] = [5, 60];
const BETWEEN_PULSES_MS: [number, number] = [50, 500];

/** Network faults, on one wire at a time. */
export const WIRE_FAULTS: Fault[] = TROUBLES.map((trouble) => ({
  code: 'F6',
  name: `a wire is ${trouble.name}`,
  weight: trouble.weight,
  async run(stage, random) {
    const victim = pick(WIRES, random);
    const wire = stage.wires[victim];
    const spoiling = trouble.spoiling(random);
    const forMs = between(trouble.lasts[0] * 1_000, trouble.lasts[1] * 1_000, random);
    await spoilFor(stage, {
      code: 'F6',
      what: trouble.name,
      victim,
      spoil: () =>
        trouble.inPulses ? pulse(stage, { wire, spoiling, forMs, random }) : wire.spoil(spoiling),
      mend: () => wire.mend(),
      forMs: trouble.inPulses ? 0 : forMs,
    });
  },
}));

type Pulsing = { wire: Wire; spoiling: Spoiling; forMs: number; random: Random };

async function pulse(stage: Stage, { wire, spoiling, forMs, random }: Pulsing): Promise<void> {
  for (const until = Date.now() + forMs; Date.now() < until && stage.goesOn();) {
    wire.spoil(spoiling);
    await pause(between(...PULSE_MS, random));
    wire.mend();
    await hold(stage, between(...BETWEEN_PULSES_MS, random));
  }
}
