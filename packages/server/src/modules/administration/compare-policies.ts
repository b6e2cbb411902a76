import type { Steps } from '../../platform/time/steps.ts';
import { type GateReason, type Fate, type Queue, simulating, type Policy } from '../sending/index.ts';

/** The same queue under the current and a proposed policy. */
export type Comparison = {
  drafts: { id: string; current: Fate; proposed: Fate }[];
  totals: {
    current: Tally;
    proposed: Tally;
    /** Counts of the drafts that are sent under both policies. */
    earlier: number;
    later: number;
    unchanged: number;
    /** The median over the drafts that are sent earlier or later. Null if no draft moves. */
    medianShiftMs: number | null;
  };
};

export type Tally = {
  sends: number;
  held: number;
  expires: number;
  /** The number of held drafts by the send check that held them last. */
  reasons: Partial<Record<GateReason, number>>;
  lastLeavesAt: number | null;
};

type Policies = { current: Policy; proposed: Policy };

/** Compares in steps, as `simulating` does. */
export function* comparing(queue: Queue, now: number, { current, proposed }: Policies): Steps<Comparison> {
  const before = yield* simulating(queue, current, now);
  const after = yield* simulating(queue, proposed, now);
  const drafts = queue.drafts.map(({ id }) => ({
    id,
    current: fateOf(before, id),
    proposed: fateOf(after, id),
  }));
  const shifts = drafts.flatMap((draft) => shiftOf(draft.current, draft.proposed));
  return {
    drafts,
    totals: {
      current: tally(drafts.map((draft) => draft.current)),
      proposed: tally(drafts.map((draft) => draft.proposed)),
      earlier: shifts.filter((ms) => ms < 0).length,
      later: shifts.filter((ms) => ms > 0).length,
      unchanged: shifts.filter((ms) => ms === 0).length,
      medianShiftMs: median(shifts.filter((ms) => ms !== 0)),
    },
  };
}

function fateOf(fates: Map<string, Fate>, id: string): Fate {
  const fate = fates.get(id);
  if (!fate) throw new Error(`no result was found for draft ${id}`);
  return fate;
}

function shiftOf(current: Fate, proposed: Fate): number[] {
  return current.kind === 'sends' && proposed.kind === 'sends' ? [proposed.leavesAt - current.leavesAt] : [];
}

/** Returns the lower one of two middle values, so that the median is a shift that some draft has. */
function median(values: number[]): number | null {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? null;
}

function tally(fates: Fate[]): Tally {
  const result: Tally = { sends: 0, held: 0, expires: 0, reasons: {}, lastLeavesAt: null };
  for (const fate of fates) {
    result[fate.kind] += 1;
    const reason = fate.kind === 'held' ? fate.reason : fate.after;
    if (reason) result.reasons[reason] = (result.reasons[reason] ?? 0) + 1;
    if (fate.kind === 'sends') result.lastLeavesAt = Math.max(result.lastLeavesAt ?? 0, fate.leavesAt);
  }
  return result;
}
