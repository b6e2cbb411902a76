import type { CpuCost } from '../measure.ts';

export function addCosts(...costs: CpuCost[]): CpuCost {
  return {
    beckon: costs.reduce((sum, { beckon }) => sum + beckon, 0),
    postgres: costs.reduce((sum, { postgres }) => sum + postgres, 0),
  };
}

export function scaleCost({ beckon, postgres }: CpuCost, factor: number): CpuCost {
  return { beckon: beckon * factor, postgres: postgres * factor };
}

/** What is measured with a thousand projects, to predict any other number. */
export type Calibration = {
  /** Accepting a single event whose API key the process remembers, and one whose key it looks up. */
  acceptKnownKey: CpuCost;
  acceptUnknownKey: CpuCost;
  /** Processing an event that is the only one of its project in a batch, and one of `sharedBy`. */
  eventAlone: CpuCost;
  eventShared: CpuCost;
  sharedBy: number;
  /** Disk space of a project with one key, four rules and no data. */
  projectBytes: number;
};

/** API keys that a process remembers. */
const REMEMBERED_KEYS = 10_000;

/**
 * A batch does some work for each of its projects and some for each event. With `each` events of each project, an event costs
 * `event + project / each`.
 */
export function processingCost(
  { eventAlone, eventShared, sharedBy }: Pick<Calibration, 'eventAlone' | 'eventShared' | 'sharedBy'>,
  each: number,
): CpuCost {
  const part = (alone: number, shared: number): number => {
    const project = Math.max(0, (alone - shared) / (1 - 1 / sharedBy));
    return alone - project + project / Math.max(1, each);
  };
  return {
    beckon: part(eventAlone.beckon, eventShared.beckon),
    postgres: part(eventAlone.postgres, eventShared.postgres),
  };
}

/** Projects that send in turn find their key remembered only if all keys fit. Otherwise the share is that of random requests. */
export function acceptCost(
  { acceptKnownKey, acceptUnknownKey }: Pick<Calibration, 'acceptKnownKey' | 'acceptUnknownKey'>,
  { keys, order }: { keys: number; order: 'in turn' | 'random' },
): CpuCost {
  const fits = keys <= REMEMBERED_KEYS;
  const known = fits ? 1 : order === 'random' ? REMEMBERED_KEYS / keys : 0;
  return addCosts(scaleCost(acceptKnownKey, known), scaleCost(acceptUnknownKey, 1 - known));
}
