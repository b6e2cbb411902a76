import { Fault } from '../../../platform/fault.ts';

/** A backtest holds a connection for heavy requests as long as it runs. Three such connections exist beside those of `request-gate.ts`. */
const PER_PROJECT = 2;
const AT_ONCE = 3;

/** Takes a place for a backtest of this project, and returns the function that releases it. */
export type BacktestPlaces = (projectId: number) => () => void;

export function createBacktestPlaces(): BacktestPlaces {
  const running: number[] = [];
  return (projectId) => {
    const own = running.filter((id) => id === projectId).length;
    if (own >= PER_PROJECT || running.length >= AT_ONCE) {
      const those = own >= PER_PROJECT ? `${own} backtests of this project` : `${running.length} backtests`;
      const message = `${those} are already running. Wait for one to end, or stop it`;
      throw new Fault('conflict', { details: [{ message }] });
    }
    running.push(projectId);
    return () => void running.splice(running.indexOf(projectId), 1);
  };
}
