import { Button, Group, Progress, SegmentedControl, Stack, Text } from '@mantine/core';
import { FlaskConical, Play, Square } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleShown } from '@beckon/contract/dashboard';
import { Empty, ErrorBox, When } from '../../parts/index.ts';
import { BacktestFound } from './backtest-found.tsx';
import { isChanged, useRuleDraft } from './edit-rule.tsx';
import { type BacktestState, useBacktest } from './use-backtest.ts';

/** The rule, as it is saved or as somebody is just writing it, over what really happened. Nothing is written. */
export function Backtest({ rule }: { rule: RuleShown }): ReactNode {
  const { value: document } = useRuleDraft(rule);
  const hasEdit = isChanged(rule, document);
  const [days, setDays] = useState('30');
  const [which, setWhich] = useState(hasEdit ? 'edited' : 'saved');
  const [state, start, stop] = useBacktest();
  const isEdited = hasEdit && which === 'edited';
  const run = (): void =>
    start({
      days: Number(days),
      ...(isEdited ? { document: { ...document, name: rule.name } } : { rule: rule.id }),
    });
  return (
    <Stack gap="lg">
      <Controls
        which={hasEdit ? which : null}
        onWhich={setWhich}
        version={rule.version}
        days={days}
        onDays={setDays}
        isRunning={state.isRunning}
        run={run}
        stop={stop}
      />
      {!hasEdit && (
        <Text size="sm" c="dimmed">
          Change something under “Rule” first, without saving, and the two versions are held against each
          other.
        </Text>
      )}
      <Running state={state} />
      {state.error && (
        <ErrorBox error={{ requestId: null, ...state.error }} title="It could not be run" retry={run} />
      )}
      {state.found && <BacktestFound found={state.found} />}
      {!state.found && !state.isRunning && !state.error && (
        <Empty icon={FlaskConical} title="Nothing was run yet">
          It finds who would have entered, what would have been written to them, and how it gets on with the
          frequency cap. Nothing is written and nobody gets anything.
        </Empty>
      )}
    </Stack>
  );
}

type ControlProps = {
  /** Null: there is nothing but the saved version. */
  which: string | null;
  onWhich: (which: string) => void;
  version: number;
  days: string;
  onDays: (days: string) => void;
  isRunning: boolean;
  run: () => void;
  stop: () => void;
};

function Controls(props: ControlProps): ReactNode {
  const { which, onWhich, version, days, onDays, isRunning, run, stop } = props;
  return (
    <Group gap="sm">
      {which !== null && (
        <SegmentedControl
          aria-label="Which version"
          size="xs"
          value={which}
          onChange={onWhich}
          data={[
            { value: 'edited', label: 'As edited, against the saved one' },
            { value: 'saved', label: `Version ${version}` },
          ]}
        />
      )}
      <SegmentedControl
        aria-label="Over the last"
        size="xs"
        value={days}
        onChange={onDays}
        data={[
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
          { value: '90', label: '90 days' },
        ]}
      />
      {isRunning ? (
        <Button variant="default" leftSection={<Square size={14} aria-hidden="true" />} onClick={stop}>
          Stop
        </Button>
      ) : (
        <Button leftSection={<Play size={14} aria-hidden="true" />} onClick={run}>
          Run
        </Button>
      )}
    </Group>
  );
}

function Running({ state: { isRunning, progress } }: { state: BacktestState }): ReactNode {
  if (!isRunning) return null;
  const share = progress?.share ?? 0;
  return (
    <div>
      <Progress value={share * 100} aria-label="How far it is" />
      <Text size="sm" c="dimmed" mt={4} aria-live="polite">
        {progress === null ? (
          'Beginning…'
        ) : (
          <>
            {progress.of === 'saved' ? 'The saved version: ' : ''}
            {progress.looked_at.toLocaleString('en-GB')} occasions, up to <When at={progress.at} />
          </>
        )}
      </Text>
    </div>
  );
}
