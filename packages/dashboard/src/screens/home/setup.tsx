import { Group, Paper, Text, Title } from '@mantine/core';
import { Circle, CircleCheck } from 'lucide-react';
import type { FirstEmail, SetupStep } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { later } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { firstCalls } from '../../parts/sample-calls.ts';
import { useSample } from '../../parts/use-sample.ts';
import classes from './home.module.css';
import { firstEmailStep, nextStep, STEPS, type StepText } from './setup-words.ts';

const FirstEvent = later(() => import('../../parts/first-event.tsx'), 'FirstEvent');

/** The remaining set-up steps. Their state is derived from the project. */
export function Setup({ steps, first }: { steps: SetupStep[]; first: FirstEmail | null }): ReactNode {
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
          <Step
            key={step.id}
            step={step}
            text={step.id === 'first_email' ? firstEmailStep(first) : STEPS[step.id]}
            isNext={step.id === next}
          />
        ))}
      </ol>
    </Paper>
  );
}

function Step({ step, text, isNext }: { step: SetupStep; text: StepText; isNext: boolean }): ReactNode {
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
          {text.title}
          {!step.required && ' (optional)'}
        </Text>
        {isNext && (
          <>
            <Muted mb={6}>{text.text}</Muted>
            <Next text={text} />
          </>
        )}
      </div>
    </li>
  );
}

function Next({ text: { page, action } }: { text: StepText }): ReactNode {
  const { email, newUser } = useSample();
  if (page === null)
    return <FirstEvent align="start" calls={firstCalls({ user: newUser, email })} what="first call" />;
  return (
    <LinkButton variant="filled" size="compact-sm" to={`/p/$project/${page}`}>
      {action}
    </LinkButton>
  );
}
