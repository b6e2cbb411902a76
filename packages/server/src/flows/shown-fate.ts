import { iso } from '../base/clock.ts';
import type { Fate, GateReason } from '../features/sending/index.ts';

/** What becomes of a letter, when, and which gate held it last. */
export type ShownFate = { becomes: Fate['kind']; at: string | null; reason: GateReason | null };

export function shownFate(fate: Fate): ShownFate {
  switch (fate.kind) {
    case 'sends':
      return { becomes: 'sends', at: iso(fate.leavesAt), reason: fate.after };
    case 'held':
      return { becomes: 'held', at: shownTime(fate.until ?? undefined), reason: fate.reason };
    case 'expires':
      return { becomes: 'expires', at: iso(fate.expiresAt), reason: fate.after };
    default:
      return fate satisfies never;
  }
}

export function shownTime(ms: number | undefined): string | null {
  return ms === undefined ? null : iso(ms);
}
