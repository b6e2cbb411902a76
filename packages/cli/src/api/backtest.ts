import type { Backtest, BacktestLine, BodyOf } from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import type { Api } from './dashboard.ts';
import { unreachable } from './refusal.ts';

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
  const response = await api.open(BACKTEST, { body, signal });
  for await (const line of linesOf(response)) {
    if ('result' in line) return line.result;
    if ('failure' in line) {
      const { code, errors } = line.failure;
      throw new Failure(code, errors.map(({ message }) => message).join('\n'), { field: errors[0]?.field });
    }
    await onProgress?.(line.progress.share);
  }
  throw new Failure('unfinished', 'The server stopped before the backtest was finished');
}

const LINE_MAX_CHARS = 16 * 1024 * 1024;

async function* linesOf({ body }: Response): AsyncGenerator<BacktestLine, void> {
  let rest = '';
  try {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_MAX_CHARS)
        throw new Failure('too_large', 'The server sent a line larger than 16 MiB');
      for (const line of lines) if (line !== '') yield JSON.parse(line) as BacktestLine;
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreachable('The server', error);
  }
}
