import { iso } from '../../platform/time/clock.ts';
import type { DraftForecast, GateReason } from '../delivery/index.ts';

/** The expected result of a draft if no member acts, its time, and the last send check that delays or holds it. */
export type Forecast = { result: DraftForecast['kind']; at: string | null; reason: GateReason | null };

export function forecastOf(forecast: DraftForecast): Forecast {
  switch (forecast.kind) {
    case 'sends':
      return { result: 'sends', at: iso(forecast.leavesAt), reason: forecast.after };
    case 'held':
      return { result: 'held', at: timeOrNull(forecast.until ?? undefined), reason: forecast.reason };
    case 'expires':
      return { result: 'expires', at: iso(forecast.expiresAt), reason: forecast.after };
    default:
      return forecast satisfies never;
  }
}

export function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : iso(ms);
}
