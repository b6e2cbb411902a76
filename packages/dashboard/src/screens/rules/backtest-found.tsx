import { Accordion, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Backtest } from '@beckon/contract/dashboard';
import { Person, When } from '../../parts/index.ts';
import { daysBetween } from '../../parts/chart-axes.ts';
import { ChartWithTable, type Point } from '../../parts/chart-with-table.tsx';
import classes from './rules.module.css';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';
import { Figure } from '../../parts/figure.tsx';

/** The results of a backtest, and its assumptions. */
export function BacktestFound({ found }: { found: Backtest }): ReactNode {
  const { comparison, emails, frequency_caps: caps, enrolled } = found;
  return (
    <Stack gap="lg">
      <Muted>
        {found.is_saved ? 'Saved version' : 'Unsaved version'}, from <When at={found.from} /> to{' '}
        <When at={found.stopped_at ?? found.to} />
        {found.stopped_at !== null && '. The backtest stopped there, because it reached its limit'}.
      </Muted>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Figure
          label="Users"
          count={enrolled.users}
          note={comparison && compared(comparison.added.users - comparison.removed.users)}
        />
        <Figure label="Emails" count={emails.written} note={comparison && compared(comparison.emails)} />
        <Figure
          label="Most on one day"
          count={Math.max(0, ...emails.per_day.map((day) => day.emails))}
          note={null}
        />
        <Figure label="Held by the frequency cap" count={caps.held} note={null} />
      </SimpleGrid>
      {comparison && <Comparison comparison={comparison} />}
      <ChartWithTable
        title="Emails per day"
        description={`${emails.written} emails on ${emails.per_day.length} days.`}
        kind="bar"
        rows={daysOf(found)}
        x="day"
        xLabel="Day"
        series={[
          { name: 'emails', label: found.is_saved ? 'Emails' : 'Edited version' },
          ...(comparison ? [{ name: 'saved', label: `Version ${comparison.version}` }] : []),
        ]}
      />
      <Collisions found={found} />
      <Samples samples={found.samples} />
      <Reasons found={found} />
    </Stack>
  );
}

function compared(delta: number): string {
  const signed = `${delta > 0 ? '+' : '−'}${Math.abs(delta).toLocaleString('en-GB')}`;
  return `${delta === 0 ? 'no change' : signed} compared with the saved version`;
}

function daysOf({ emails, comparison }: Backtest): Point[] {
  const days = new Map<string, Point>();
  const at = (day: string): Point => days.get(day) ?? { day, emails: 0, ...(comparison ? { saved: 0 } : {}) };
  for (const day of daysBetween([...emails.per_day, ...(comparison?.per_day ?? [])].map(({ day }) => day)))
    days.set(day, at(day));
  for (const { day, emails: count } of emails.per_day) days.set(day, { ...at(day), emails: count });
  for (const { day, emails: count } of comparison?.per_day ?? []) days.set(day, { ...at(day), saved: count });
  return [...days.values()].toSorted((a, b) => String(a['day']).localeCompare(String(b['day'])));
}

function Comparison({ comparison }: { comparison: NonNullable<Backtest['comparison']> }): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <People
        title={`+${comparison.added.users} users would newly be enrolled`}
        people={comparison.added.external_user_ids}
      />
      <People
        title={`−${comparison.removed.users} users would no longer be enrolled`}
        people={comparison.removed.external_user_ids}
      />
    </SimpleGrid>
  );
}

const PEOPLE_SHOWN = 30;

function People({ title, people }: { title: string; people: string[] }): ReactNode {
  return (
    <Paper withBorder p="sm">
      <Title order={2} size="h6" mb={4}>
        {title}
      </Title>
      <Group gap="sm">
        {people.slice(0, PEOPLE_SHOWN).map((id) => (
          <Person key={id} id={id} />
        ))}
        {people.length > PEOPLE_SHOWN && <Muted>and more</Muted>}
      </Group>
    </Paper>
  );
}

function Collisions({ found: { emails, frequency_caps: caps } }: { found: Backtest }): ReactNode {
  const lines = [
    `${emails.canceled.toLocaleString('en-GB')} of the emails would have been canceled before they were sent.`,
    `${emails.without_address.toLocaleString('en-GB')} have no address.`,
    `${caps.held.toLocaleString('en-GB')} would have been held by today’s frequency cap.`,
    `${caps.displaced.toLocaleString('en-GB')} emails of other rules would have been held by the cap because of these.`,
  ];
  return <Notes title="Collisions" items={lines} />;
}

function Samples({ samples }: { samples: Backtest['samples'] }): ReactNode {
  if (samples.length === 0) return null;
  return (
    <section>
      <Title order={2} size="h6" mb="xs">
        First {samples.length} emails
      </Title>
      <Accordion variant="separated">
        {samples.map(({ external_user_id: user, at, subject, body, missing }, index) => (
          <Accordion.Item key={`${index} ${user}`} value={String(index)}>
            <Accordion.Control>
              <Text size="sm">{subject === '' ? '(no subject)' : subject}</Text>
              <Muted size="xs">
                To {user}, <When at={at} />
                {missing.length > 0 && `; held, missing ${missing.join(', ')}`}
              </Muted>
            </Accordion.Control>
            <Accordion.Panel>
              <pre className={classes.email}>{body}</pre>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </section>
  );
}

function Reasons({ found: { excluded, waiting, assumptions } }: { found: Backtest }): ReactNode {
  const reasons = [
    ...excluded.map(({ sentence, count }) => `${count.toLocaleString('en-GB')} × ${sentence}`),
    ...(waiting > 0 ? [`${waiting.toLocaleString('en-GB')} users wait for a later date`] : []),
  ];
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <Notes
        title="Why other users were not enrolled"
        items={reasons.length === 0 ? ['No users were excluded'] : reasons}
      />
      <Notes title="Assumptions" items={assumptions} />
    </SimpleGrid>
  );
}

function Notes({ title, items }: { title: string; items: string[] }): ReactNode {
  return (
    <section>
      <Title order={2} size="h6" mb={4}>
        {title}
      </Title>
      <Bullets items={items} />
    </section>
  );
}
