import { Group, Paper, Text, Title } from '@mantine/core';
import { Circle, CircleCheck } from 'lucide-react';
import type { SetupStep } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { Command } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import classes from './home.module.css';
import { firstCall, nextStep, STEPS } from './setup-words.ts';
import { Muted } from '../../parts/muted.tsx';

/** The remaining set-up steps. Their state is derived from the project. */
export function Setup({ steps }: { steps: SetupStep[] }): ReactNode {
  const doneCount = steps.filter((step) => step.done).length;
  const next = nextStep(steps);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="setup-title">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5" id="setup-title">
          Send your first email
        </Title>
        <Muted>
          {doneCount} of {steps.length} done
        </Muted>
      </Group>
      <ol className={classes.steps}>
        {steps.map((step) => (
          <Step key={step.id} step={step} isNext={step.id === next} />
        ))}
      </ol>
    </Paper>
  );
}

function Step({ step, isNext }: { step: SetupStep; isNext: boolean }): ReactNode {
  const { title, text } = STEPS[step.id];
  const Icon = step.done ? CircleCheck : Circle;
  return (
    <li className={classes.step} aria-current={isNext ? 'step' : undefined}>
      <Icon
        size={17}
        role="img"
        aria-label={step.done ? 'Done' : 'To do'}
        className={step.done ? classes.info : ''}
      />
      <div>
        <Text size="sm" fw={isNext ? 600 : 400} c={step.done ? 'dimmed' : ''}>
          {title}
          {!step.required && ' (optional)'}
        </Text>
        {isNext && (
          <>
            <Muted mb={6}>{text}</Muted>
            <Next id={step.id} />
          </>
        )}
      </div>
    </li>
  );
}

function Next({ id }: { id: SetupStep['id'] }): ReactNode {
  const { page, action } = STEPS[id];
  if (page === null) return <Command text={firstCall(location.origin)} what="first call" />;
  return (
    <LinkButton variant="filled" size="compact-sm" to={`/p/$project/${page}`}>
      {action}
    </LinkButton>
  );
}
