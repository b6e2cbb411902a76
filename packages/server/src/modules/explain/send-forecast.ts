import type { SendForecast } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import type { DraftForecast } from '../delivery/index.ts';

export function forecastOf(forecast: DraftForecast): SendForecast {
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
