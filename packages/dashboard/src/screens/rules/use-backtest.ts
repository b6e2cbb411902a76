import { useEffect, useRef, useState } from 'react';
import type { Backtest, BacktestLine, RuleDocument } from '@beckon/contract/dashboard';
import { ApiError, useLines } from '../../api/index.ts';

type Progress = Extract<BacktestLine, { progress: unknown }>['progress'];

export type BacktestState = {
  isRunning: boolean;
  progress: Progress | null;
  found: Backtest | null;
  error: { message: string; requestId?: string | null } | null;
};

const NOTHING: BacktestState = { isRunning: false, progress: null, found: null, error: null };

export type BacktestOptions = { days: number; rule?: string; document?: RuleDocument };

/** Runs on the server and streams its progress. Stopping it or leaving the page cancels it there too. */
export function useBacktest(): [
  BacktestState,
  (options: BacktestOptions, onFound?: (found: Backtest) => void) => void,
  () => void,
] {
  const lines = useLines();
  const [state, setState] = useState(NOTHING);
  const running = useRef<AbortController | null>(null);
  const stop = (): void => {
    running.current?.abort();
    running.current = null;
    setState((was) => ({ ...was, isRunning: false, progress: null }));
  };
  useEffect(() => () => running.current?.abort(), []);
  const start = (options: BacktestOptions, onFound?: (found: Backtest) => void): void => {
    running.current?.abort();
    const ended = new AbortController();
    running.current = ended;
    setState({ ...NOTHING, isRunning: true });
    const listening = {
      signal: ended.signal,
      onLine: (read: unknown) => {
        const line = read as BacktestLine;
        setState((was) => applyLine(was, line));
        if ('result' in line) onFound?.(line.result);
      },
    };
    lines('POST /projects/:project/rules/backtest', { body: options }, listening).then(
      () =>
        setState((was) => (running.current === ended ? { ...was, isRunning: false, progress: null } : was)),
      (error: unknown) => {
        if (!ended.signal.aborted) setState({ ...NOTHING, error: failureOf(error) });
      },
    );
  };
  return [state, start, stop];
}

function applyLine(was: BacktestState, line: BacktestLine): BacktestState {
  if ('progress' in line) return { ...was, progress: line.progress };
  if ('result' in line) return { ...was, found: line.result };
  return { ...was, error: { message: line.failure.errors.map(({ message }) => message).join(' ') } };
}

function failureOf(error: unknown): NonNullable<BacktestState['error']> {
  if (error instanceof ApiError) {
    const { errors, requestId } = error;
    return { message: errors.map(({ message }) => message).join(' ') || error.message, requestId };
  }
  return { message: 'The connection was lost before the backtest finished' };
}
