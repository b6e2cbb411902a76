import type { Backtest, BacktestLine } from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import type { Dashboard } from './dashboard.ts';
import { linesOf } from './lines.ts';

export type BacktestAsked = {
  projectId: string;
  rule: string;
  days: number;
  signal: AbortSignal;
  onProgress: (share: number) => Promise<void>;
};

/** Runs a saved rule over what is stored, and tells on the way how far it is. */
export async function testRule(
  dashboard: Dashboard,
  { projectId, rule, days, signal, onProgress }: BacktestAsked,
): Promise<Backtest> {
  const answer = await dashboard.open('POST /projects/:project/rules/backtest', {
    params: { project: projectId },
    body: { rule, days },
    signal,
  });
  for await (const line of linesOf<BacktestLine>(answer)) {
    if ('found' in line) return line.found;
    if ('failed' in line) {
      const { code, errors } = line.failed;
      throw new Failure(code, errors.map(({ message }) => message).join('\n'), { field: errors[0]?.field });
    }
    await onProgress(line.progress.share);
  }
  throw new Failure('unfinished', 'The server stopped before it had found anything');
}
