import { Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import type { Backtest } from '@beckon/contract/dashboard';
import { Figure } from '../../parts/figure.tsx';
import { ErrorBox, Person, When } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { BacktestProgress } from './backtest-progress.tsx';
import classes from './rules.module.css';
import type { SwitchProps } from './switch-rule.tsx';
import { useBacktest } from './use-backtest.ts';

const DAYS = 30;
const SAMPLES_SHOWN = 3;
const HELD_OUT_SHOWN = 10;

type ProofProps = Omit<SwitchProps, 'opened'>;

export function Part({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section aria-label={title}>
      <Title order={3} size="h6" mb="xs">
        {title}
      </Title>
      {children}
    </section>
  );
}

/** A backtest of the saved rule, which starts at once. */
export function Proof({ rule, onClose }: ProofProps): ReactNode {
  const [state, start] = useBacktest();
  const run = (): void => start({ days: DAYS, rule: rule.id });
  useEffect(run, []);
  return (
    <>
      <Part title={`The last ${DAYS} days, if it had been enabled`}>
        <BacktestProgress state={state} />
        {state.error && (
          <ErrorBox error={{ requestId: null, ...state.error }} title="Backtest failed" retry={run} />
        )}
        {state.found && <Found found={state.found} />}
        <TextLink
          to="/p/$project/rules/$rule"
          params={{ rule: rule.id }}
          search={{ tab: 'backtest' }}
          onClick={onClose}
        >
          Open Backtest for other periods and versions
        </TextLink>
      </Part>
      {state.found && (
        <>
          <Part title="First emails">
            <Samples samples={state.found.samples.slice(0, SAMPLES_SHOWN)} />
          </Part>
          <Part title="Holdout group">
            <HeldOut found={state.found} />
          </Part>
        </>
      )}
    </>
  );
}

function Found({
  found: { enrolled, emails, frequency_caps: caps, stopped_at: stoppedAt },
}: {
  found: Backtest;
}): ReactNode {
  return (
    <Stack gap="xs" mb="xs">
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
        <Figure label="Users" count={enrolled.users} note={null} />
        <Figure label="Emails" count={emails.written} note={null} />
        <Figure
          label="Most on one day"
          count={Math.max(0, ...emails.per_day.map((day) => day.emails))}
          note={null}
        />
        <Figure label="Held by the frequency cap" count={caps.held} note={null} />
      </SimpleGrid>
      {stoppedAt !== null && (
        <Muted>
          The backtest stopped at <When at={stoppedAt} />, because it reached its limit.
        </Muted>
      )}
    </Stack>
  );
}

function Samples({ samples }: { samples: Backtest['samples'] }): ReactNode {
  if (samples.length === 0) return <Muted>No email would have been drafted in the last {DAYS} days.</Muted>;
  return (
    <TabPages
      pages={samples.map((sample, index) => ({
        value: String(index),
        label: `${index + 1}. ${sample.external_user_id}`,
        content: <Sample sample={sample} />,
      }))}
    />
  );
}

function Sample({ sample }: { sample: Backtest['samples'][number] }): ReactNode {
  const { external_user_id: user, at, subject, body, html, missing } = sample;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text size="sm" fw={550}>
          {subject === '' ? '(no subject)' : subject}
        </Text>
        <Muted size="xs">
          To <Person id={user} />, <When at={at} />
          {missing.length > 0 && `; held, missing ${missing.join(', ')}`}
        </Muted>
      </Group>
      {html === null ? (
        <pre className={classes.email}>{body}</pre>
      ) : (
        <iframe className={classes.sample} sandbox="" srcDoc={framed(html)} title={`Email to ${user}`} />
      )}
    </Stack>
  );
}

/** The frame runs no scripts; this policy also keeps the email from loading anything. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

function framed(html: string): string {
  const head = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>:root{color-scheme:only light}</style>`;
  return /<head[^>]*>/i.test(html) ? html.replace(/<head[^>]*>/i, (tag) => tag + head) : head + html;
}

function HeldOut({ found: { enrolled, enrollments } }: { found: Backtest }): ReactNode {
  if (enrolled.holdout === 0)
    return <Text size="sm">None of these users would have been held out: each gets the emails.</Text>;
  const shown = enrollments.filter(({ holdout }) => holdout).slice(0, HELD_OUT_SHOWN);
  const more = enrolled.holdout - shown.length;
  return (
    <Stack gap={4}>
      <Text size="sm">
        {enrolled.holdout.toLocaleString('en-GB')} of {enrolled.runs.toLocaleString('en-GB')} runs would have
        been held out. These users get no email, for comparison.
      </Text>
      <Group gap="xs">
        {shown.map(({ external_user_id: id, key }) => (
          <Person key={`${id} ${key}`} id={id} />
        ))}
        {more > 0 && <Muted>and {more.toLocaleString('en-GB')} more</Muted>}
      </Group>
    </Stack>
  );
}
