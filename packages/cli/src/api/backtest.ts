import type { Backtest, BacktestLine, BodyOf } from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import type { Api } from './dashboard.ts';
import { linesOf } from './lines.ts';

export const BACKTEST = 'POST /projects/:project/rules/backtest';

export type BacktestOptions = {
  body: BodyOf<typeof BACKTEST>;
  signal: AbortSignal;
  /** `share`: from 0 to 1. */
  onProgress?: (share: number) => Promise<void>;
};

/** Runs a saved or unsaved rule over the stored events. */
export async function backtest(
  api: Api<typeof BACKTEST>,
  { body, signal, onProgress }: BacktestOptions,
): Promise<Backtest> {
  const answer = await api.open(BACKTEST, { body, signal });
  for await (const line of linesOf<BacktestLine>(answer)) {
    if ('found' in line) return line.found;
    if ('failed' in line) {
      const { code, errors } = line.failed;
      throw new Failure(code, errors.map(({ message }) => message).join('\n'), { field: errors[0]?.field });
    }
    await onProgress?.(line.progress.share);
  }
  throw new Failure('unfinished', 'The server stopped before the backtest was finished');
}
