import { Button, Group, Stack } from '@mantine/core';
import { FlaskConical, Play, Square } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { Empty, ErrorBox } from '../../parts/index.ts';
import { BacktestProgress } from './backtest-progress.tsx';
import { BacktestFound } from './backtest-found.tsx';
import { isChanged, useRuleDraft } from './rule-draft.ts';
import { useBacktest } from './use-backtest.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { Segments } from '../../parts/segments.tsx';

/** Runs the saved or unsaved version of a rule over past events, without storing anything. */
export function Backtest({ rule }: { rule: RuleDetails }): ReactNode {
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
      {!hasEdit && <Muted>To compare two versions, change the rule under “Rule” without saving it.</Muted>}
      <BacktestProgress state={state} />
      {state.error && (
        <ErrorBox error={{ requestId: null, ...state.error }} title="Backtest failed" retry={run} />
      )}
      {state.found && <BacktestFound found={state.found} />}
      {!state.found && !state.isRunning && !state.error && (
        <Empty icon={FlaskConical} title="No backtest yet">
          A backtest shows which users the rule would have enrolled, the emails they would have got, and the
          effect of the frequency cap. No email is sent.
        </Empty>
      )}
    </Stack>
  );
}

type ControlProps = {
  /** Null: only the saved version exists. */
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
        <Segments
          label="Version"
          value={which}
          onChange={onWhich}
          options={{ edited: 'Edited version compared with saved', saved: `Version ${version}` }}
        />
      )}
      <Segments
        label="Period"
        value={days}
        onChange={onDays}
        options={{ '7': '7 days', '30': '30 days', '90': '90 days' }}
      />
      {isRunning ? (
        <ActButton icon={Square} onClick={stop}>
          Stop backtest
        </ActButton>
      ) : (
        <Button leftSection={<Play size={14} aria-hidden="true" />} onClick={run}>
          Run
        </Button>
      )}
    </Group>
  );
}
