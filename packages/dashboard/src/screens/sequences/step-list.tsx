import { Group, Text } from '@mantine/core';
import { CircleStop, Clock, FileText, type LucideIcon, Radio, Split, Users } from 'lucide-react';
import { CirclePause } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SequenceStep, SequenceVersion } from '@beckon/contract/dashboard';
import { Mark } from '../../parts/index.ts';
import { TextLink } from '../../parts/text-link.tsx';
import classes from './sequences.module.css';
import { Muted } from '../../parts/muted.tsx';

const ICONS: Record<SequenceStep['kind'], LucideIcon> = {
  draft: FileText,
  wait: Clock,
  wait_until: Clock,
  wait_for: Radio,
  branch: Split,
  end: CircleStop,
};

/** The steps in order, with branches indented, and the users on each step. */
export function StepList({ version: { steps } }: { version: SequenceVersion }): ReactNode {
  return (
    <ol className={classes.steps}>
      {steps.map((step, index) => (
        <li key={step.at} className={classes.step} data-depth={Math.min(step.depth, 4)}>
          {isFirstOfBranch(steps, index) && (
            <Muted size="xs" mb={4}>
              {step.way === 'then' ? 'If true' : 'Else'}
            </Muted>
          )}
          <Step step={step} />
        </li>
      ))}
    </ol>
  );
}

function isFirstOfBranch(steps: SequenceStep[], index: number): boolean {
  const [step, before] = [steps[index], steps[index - 1]];
  if (!step || step.way === null) return false;
  return before?.depth !== step.depth || before.way !== step.way;
}

function Step({ step }: { step: SequenceStep }): ReactNode {
  const { kind, label, template: email, active, paused } = step;
  const Icon = ICONS[kind];
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap">
      <Group gap="sm" wrap="nowrap" miw={0}>
        <Icon size={16} aria-hidden="true" />
        <Text size="sm" className={classes.label ?? ''}>
          {email === null ? (
            label
          ) : (
            <TextLink to="/p/$project/templates/$template" params={{ template: email }}>
              {label}
            </TextLink>
          )}
        </Text>
      </Group>
      <Group gap="xs" wrap="nowrap">
        {active > 0 && <Mark icon={Users} tone="info" label={people(active)} />}
        {paused > 0 && (
          <Mark icon={CirclePause} tone="warn" label={`${paused.toLocaleString('en-GB')} paused`} />
        )}
      </Group>
    </Group>
  );
}

function people(count: number): string {
  return count === 1 ? '1 user' : `${count.toLocaleString('en-GB')} users`;
}
