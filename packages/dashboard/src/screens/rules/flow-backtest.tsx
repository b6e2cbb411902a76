import { Text } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import type { RuleDetails, RuleDocument } from '@beckon/contract/dashboard';
import { ErrorBox } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { TextButton } from '../../parts/text-button.tsx';
import type { Overlay } from './flow-data.ts';
import { plural } from './flow-node.tsx';
import { useBacktest } from './use-backtest.ts';

type Props = {
  rule: RuleDetails;
  document: RuleDocument;
  found: Overlay | null;
  onFound: (found: Overlay) => void;
};

const DAYS = 30;

/** Runs a backtest of the rule as it is edited, and hands its counts to the flow. */
export function FlowBacktest({ rule, document, found, onFound }: Props): ReactNode {
  const [state, start] = useBacktest();
  const run = (): void =>
    start({ days: DAYS, document: { ...document, name: rule.name } }, (result) =>
      onFound({ document, steps: result.steps }),
    );
  useEffect(() => {
    if (found === null) run();
    // The counts of an earlier backtest stay until it is run again.
  }, []);
  const isOutdated = found !== null && JSON.stringify(found.document) !== JSON.stringify(document);
  if (state.error)
    return <ErrorBox error={{ requestId: null, ...state.error }} title="Backtest failed" retry={run} />;
  if (state.isRunning)
    return <Muted size="xs">Running the backtest: {Math.round((state.progress?.share ?? 0) * 100)} %</Muted>;
  return (
    <Text size="xs" c="dimmed" component="div" aria-live="polite">
      {state.found
        ? `${plural(state.found.enrolled.users, 'user')} and ${plural(state.found.emails.written, 'email')} in the last ${DAYS} days. No email is sent. `
        : `Counts of the last ${DAYS} days. `}
      {isOutdated && (
        <>
          The rule has changed since. <TextButton onClick={run}>Run again</TextButton>
        </>
      )}
    </Text>
  );
}
