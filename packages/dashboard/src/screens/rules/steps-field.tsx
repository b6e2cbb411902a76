import { ActionIcon, Group, Menu, Paper, Stack, Text, UnstyledButton } from '@mantine/core';
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  BRANCH_LABELS,
  moved,
  newStep,
  type Piece,
  piecesOf,
  STEP_LABELS,
  stepKind,
  type StepKind,
} from './document.ts';
import { useFacts } from './facts.ts';
import { LEVELS_MAX } from './flow-edits.ts';
import { StepParts } from './step-parts.tsx';
import classes from './rules.module.css';

const KINDS = Object.entries(STEP_LABELS) as [StepKind, string][];

type Props = { steps: Piece[]; onChange: (steps: Piece[]) => void; path: string; level?: number };

/** The steps of a rule in order. */
export function StepsField({ steps, onChange, path, level = 1 }: Props): ReactNode {
  return (
    <Stack gap="sm" component="ol" className={classes.steps ?? ''}>
      {steps.map((step, at) => (
        <li key={at}>
          <Step
            step={step}
            path={`${path}.${at}`}
            number={at + 1}
            level={level}
            onChange={(next) => onChange(steps.with(at, next))}
            onRemove={() => onChange(steps.toSpliced(at, 1))}
            {...(at > 0 ? { onUp: () => onChange(moved(steps, at, at - 1)) } : {})}
            {...(at < steps.length - 1 ? { onDown: () => onChange(moved(steps, at, at + 1)) } : {})}
          />
        </li>
      ))}
      <li>
        <AddStep
          level={level}
          onAdd={(kind) => onChange([...steps, newStep(kind)])}
          isFirst={steps.length === 0}
        />
      </li>
    </Stack>
  );
}

type StepProps = {
  step: Piece;
  path: string;
  number: number;
  level: number;
  onChange: (step: Piece) => void;
  onRemove: () => void;
  onUp?: () => void;
  onDown?: () => void;
};

function Step(props: StepProps): ReactNode {
  const { step, path, number, level, onChange } = props;
  const kind = stepKind(step);
  return (
    <Paper withBorder p="sm">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text fw={550} size="sm">
            {number}. {kind === null ? 'Written in JSON' : STEP_LABELS[kind]}
          </Text>
          <StepActions {...props} />
        </Group>
        {kind !== null && <StepParts kind={kind} step={step} path={path} onChange={onChange} />}
        {(kind === 'wait_for' || kind === 'branch') && (
          <Branches step={step} path={path} level={level} kind={kind} onChange={onChange} />
        )}
      </Stack>
    </Paper>
  );
}

function StepActions({ number, onUp, onDown, onRemove }: StepProps): ReactNode {
  const { readOnly } = useFacts();
  const action = (label: string, icon: ReactNode, run: (() => void) | undefined): ReactNode => (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`${label} step ${number}`}
      disabled={readOnly || run === undefined}
      onClick={() => run?.()}
    >
      {icon}
    </ActionIcon>
  );
  return (
    <Group gap={2} wrap="nowrap">
      {action('Move up', <ArrowUp size={16} aria-hidden="true" />, onUp)}
      {action('Move down', <ArrowDown size={16} aria-hidden="true" />, onDown)}
      {action('Remove', <Trash2 size={16} aria-hidden="true" />, onRemove)}
    </Group>
  );
}

type BranchesProps = Pick<StepProps, 'step' | 'path' | 'level' | 'onChange'> & {
  kind: 'wait_for' | 'branch';
};

function Branches({ step, path, level, kind, onChange }: BranchesProps): ReactNode {
  return (
    <>
      {(['then', 'else'] as const).map((branch) => (
        <section key={branch} className={classes.way} aria-label={BRANCH_LABELS[kind][branch]}>
          <Text size="sm" c="dimmed" mb={6}>
            {BRANCH_LABELS[kind][branch]}
          </Text>
          <StepsField
            steps={piecesOf(step[branch])}
            onChange={(steps) => onChange({ ...step, [branch]: steps })}
            path={`${path}.${branch}`}
            level={level + 1}
          />
        </section>
      ))}
    </>
  );
}

function AddStep({
  level,
  onAdd,
  isFirst,
}: {
  level: number;
  onAdd: (kind: StepKind) => void;
  isFirst: boolean;
}): ReactNode {
  const { readOnly } = useFacts();
  const kinds =
    level < LEVELS_MAX ? KINDS : KINDS.filter(([kind]) => kind !== 'wait_for' && kind !== 'branch');
  return (
    <Menu position="bottom-start" disabled={readOnly}>
      <Menu.Target>
        <UnstyledButton className={classes.add ?? ''} disabled={readOnly}>
          <Plus size={14} aria-hidden="true" /> {isFirst ? 'Add step' : 'Add next step'}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {kinds.map(([kind, label]) => (
          <Menu.Item key={kind} onClick={() => onAdd(kind)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
