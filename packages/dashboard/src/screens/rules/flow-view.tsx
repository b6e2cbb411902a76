import { Alert, Group } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import type { RuleDetails, RuleDocument, RuleFlow } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { tickProps } from '../../parts/bind.ts';
import { ErrorBox, later, Lines, WhenOpened } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { Segments } from '../../parts/segments.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { piecesOf, triggersOf } from './document.ts';
import { type Flow, FlowContext } from './flow-context.ts';
import { type Overlay, partOf, useFlowData, useLabels } from './flow-data.ts';
import { plural } from './flow-node.tsx';
import { Condition, Goal, Sides, Triggers } from './flow-parts.tsx';
import { StepItems } from './flow-steps.tsx';
import classes from './flow.module.css';
import { RuleSummary } from './rule-summary.tsx';
import type { Checked } from './use-checked.ts';
import { useFlowActions } from './use-flow-actions.ts';

const FlowPanel = later(() => import('./flow-panel.tsx'), 'FlowPanel', null);
const FlowBacktest = later(() => import('./flow-backtest.tsx'), 'FlowBacktest', null);

type Props = {
  document: RuleDocument;
  onChange: (document: RuleDocument) => void;
  /** Null: a rule that is not created yet. */
  rule: RuleDetails | null;
  checking: Checked;
  readOnly: boolean;
};

/** The rule as a flow from its triggers to its goal. Each node has its figures, and opens its form at the side. */
export function FlowView({ document, onChange, rule, checking, readOnly }: Props): ReactNode {
  const [days, setDays] = useState('30');
  const [isOverlaid, setOverlaid] = useState(false);
  const [found, setFound] = useState<Overlay | null>(null);
  const query = useApi(
    'GET /projects/:project/rules/:rule/flow',
    { params: { rule: rule?.id ?? '' }, query: { days: Number(days) } },
    { keep: true, enabled: rule !== null },
  );
  const flow = query.data?.data;
  const labels = useLabels(checking, rule, flow);
  const isWaiting = rule !== null && hasNoWords(flow, checking);
  const { actions, opened, close, said, canvas } = useFlowActions({ document, onChange, labels, readOnly });
  const data = useFlowData({ document, rule, flow, checking, overlay: isOverlaid ? found : null });
  const context = useMemo(
    (): Flow => ({ ...data, labels, selected: opened, readOnly, actions }),
    [data, labels, opened, readOnly, actions],
  );
  return (
    <FlowContext value={context}>
      {rule && (
        <Bar
          {...{ rule, document, days, found, isOverlaid }}
          onDays={setDays}
          onOverlaid={setOverlaid}
          onFound={setFound}
        />
      )}
      {query.error && (
        <ErrorBox error={query.error} title="Figures not loaded" retry={() => void query.refetch()} />
      )}
      {rule && flow && flow.in_older_versions > 0 && (
        <OlderVersions rule={rule} count={flow.in_older_versions} />
      )}
      <RuleSummary {...checking} isBrief onPick={({ field = '' }) => actions.open(partOf(field, document))} />
      <div className={classes.view} ref={canvas}>
        <div className={classes.canvas}>
          {isWaiting ? <Lines count={8} /> : <Nodes document={document} flow={flow} />}
        </div>
        <Sides document={document} flow={flow} />
      </div>
      <div role="status" className="beckon-visually-hidden">
        {said}
      </div>
      <WhenOpened opened={opened !== null}>
        <FlowPanel
          {...{ document, onChange, labels }}
          part={opened}
          onClose={close}
          onDelete={actions.remove}
        />
      </WhenOpened>
    </FlowContext>
  );
}

/** Without its words, a saved rule would look empty. */
function hasNoWords(flow: RuleFlow | undefined, { checked, error }: Checked): boolean {
  return !flow && !checked && !error;
}

function Nodes({ document, flow }: { document: RuleDocument; flow: RuleFlow | undefined }): ReactNode {
  return (
    <ol className={classes.list} aria-label="Flow of the rule">
      <Triggers triggers={triggersOf(document)} flow={flow} />
      <Condition condition={document['only_if']} flow={flow} />
      <StepItems steps={piecesOf(document['steps'])} list="steps" />
      <Goal document={document} flow={flow} />
    </ol>
  );
}

type BarProps = {
  rule: RuleDetails;
  document: RuleDocument;
  days: string;
  onDays: (days: string) => void;
  isOverlaid: boolean;
  onOverlaid: (isOverlaid: boolean) => void;
  found: Overlay | null;
  onFound: (found: Overlay) => void;
};

/** The period of the figures, and the switch to the counts of a backtest. */
function Bar({ rule, document, days, onDays, isOverlaid, onOverlaid, found, onFound }: BarProps): ReactNode {
  return (
    <Group gap="md">
      <Segments label="Period" value={days} onChange={onDays} options={PERIODS} />
      <label className={classes.overlay}>
        <input type="checkbox" role="switch" {...tickProps(isOverlaid, onOverlaid)} />
        Backtest of 30 days
      </label>
      {isOverlaid ? (
        <FlowBacktest rule={rule} document={document} found={found} onFound={onFound} />
      ) : (
        <Muted size="xs">Passed and left: runs that started in this period.</Muted>
      )}
    </Group>
  );
}

const PERIODS = { '7': '7 days', '30': '30 days', '90': '90 days' };

function OlderVersions({ rule, count }: { rule: RuleDetails; count: number }): ReactNode {
  return (
    <Alert color="gray" mb="sm" p="xs" title={`${plural(count, 'run')} in older versions`}>
      They continue in the version in which they started, and are not counted at the steps below.{' '}
      <TextLink to="/p/$project/rules/$rule" params={{ rule: rule.id }} search={{ tab: 'people' }}>
        Show active runs
      </TextLink>
    </Alert>
  );
}
