import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, WireFault, Stage, Wire } from '../fault.ts';
import { between, pick, type Random } from '../random.ts';
import { hold, injectFor } from './hold.ts';

type WireName = keyof Stage['wires'];
const WIRES: WireName[] = ['database', 'smtp', 'hooks', 'relays', 'api'];

type WireFaultKind = {
  name: string;
  weight: number;
  create(random: Random): WireFault;
  /** The duration in seconds, from and to. */
  seconds: [number, number];
  /**
   * The fault comes and goes, so that it hits connections in the middle of their work. A connection that is broken from its start would
   * always fail at the same first message.
   */
  inPulses?: true;
};

const WIRE_FAULT_KINDS: WireFaultKind[] = [
  {
    name: 'reset before the reply',
    weight: 1.5,
    create: () => ({ kind: 'reset', when: 'before-reply' }),
    seconds: [2, 6],
    inPulses: true,
  },
  {
    name: 'reset after the reply',
    weight: 1,
    create: () => ({ kind: 'reset', when: 'after-reply' }),
    seconds: [2, 6],
    inPulses: true,
  },
  {
    name: 'reset immediately',
    weight: 0.5,
    create: () => ({ kind: 'reset', when: 'now' }),
    seconds: [2, 6],
    inPulses: true,
  },
  {
    name: 'half open',
    weight: 1,
    create: (random) => ({ kind: 'half-open', direction: pick(['up', 'down'] as const, random) }),
    seconds: [3, 15],
  },
  { name: 'cut', weight: 1, create: () => ({ kind: 'half-open', direction: 'both' }), seconds: [3, 15] },
  { name: 'refused', weight: 0.5, create: () => ({ kind: 'refuse' }), seconds: [1, 8] },
  {
    name: 'slow',
    weight: 1,
    create: (random) => ({ kind: 'delay', ms: between(20, 1_500, random) }),
    seconds: [3, 10],
  },
  {
    name: 'throttled to a few bytes per second',
    weight: 0.5,
    create: (random) => ({ kind: 'drip', bytesPerSecond: pick([1, 10, 100], random) }),
    seconds: [3, 10],
  },
];

const PULSE_MS: [number, number] = [5, 60];
const BETWEEN_PULSES_MS: [number, number] = [50, 500];

/** Network faults, on one wire at a time. */
export const WIRE_FAULTS: Fault[] = WIRE_FAULT_KINDS.map((kind) => ({
  code: 'F6',
  name: `a wire is ${kind.name}`,
  weight: kind.weight,
  async run(stage, random) {
    const victim = pick(WIRES, random);
    const wire = stage.wires[victim];
    const fault = kind.create(random);
    const forMs = between(kind.seconds[0] * 1_000, kind.seconds[1] * 1_000, random);
    await injectFor(stage, {
      code: 'F6',
      detail: kind.name,
      victim,
      inject: () => (kind.inPulses ? pulse(stage, { wire, fault, forMs, random }) : wire.inject(fault)),
      restore: () => wire.restore(),
      forMs: kind.inPulses ? 0 : forMs,
    });
  },
}));

type Pulses = { wire: Wire; fault: WireFault; forMs: number; random: Random };

async function pulse(stage: Stage, { wire, fault, forMs, random }: Pulses): Promise<void> {
  for (const until = Date.now() + forMs; Date.now() < until && stage.isRunning();) {
    wire.inject(fault);
    await pause(between(...PULSE_MS, random));
    wire.restore();
    await hold(stage, between(...BETWEEN_PULSES_MS, random));
  }
}
