import { iso } from '../../platform/time/clock.ts';
import type { DraftForecast, GateReason } from '../sending/index.ts';

/** The expected result of a draft if no member acts, its time, and the last send check that delays or holds it. */
export type Forecast = { result: DraftForecast['kind']; at: string | null; reason: GateReason | null };

export function forecastOf(fate: DraftForecast): Forecast {
  switch (fate.kind) {
    case 'sends':
      return { result: 'sends', at: iso(fate.leavesAt), reason: fate.after };
    case 'held':
      return { result: 'held', at: shownTime(fate.until ?? undefined), reason: fate.reason };
    case 'expires':
      return { result: 'expires', at: iso(fate.expiresAt), reason: fate.after };
    default:
      return fate satisfies never;
  }
}

export function shownTime(ms: number | undefined): string | null {
  return ms === undefined ? null : iso(ms);
}
