import { Progress, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { When } from '../../parts/index.ts';
import type { BacktestState } from './use-backtest.ts';

/** The progress of a backtest that runs. */
export function BacktestProgress({ state: { isRunning, progress } }: { state: BacktestState }): ReactNode {
  if (!isRunning) return null;
  const share = progress?.share ?? 0;
  return (
    <div>
      <Progress value={share * 100} aria-label="Progress" />
      <Text size="sm" c="dimmed" mt={4} aria-live="polite">
        {progress === null ? (
          'Starting…'
        ) : (
          <>
            {progress.version === 'saved' ? 'Saved version: ' : ''}
            {progress.evaluated.toLocaleString('en-GB')} events checked, up to <When at={progress.at} />
          </>
        )}
      </Text>
    </div>
  );
}
