import { Accordion, Group, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Backtest } from '@beckon/contract/dashboard';
import { Person, When } from '../../parts/index.ts';
import { ChartWithTable, type Point } from '../../parts/chart-with-table.tsx';
import classes from './rules.module.css';

/** The results of a backtest, and its assumptions. */
export function BacktestFound({ found }: { found: Backtest }): ReactNode {
  const { comparison, emails, frequency_caps: caps, enrolled } = found;
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        {found.is_saved ? 'Saved version' : 'Unsaved version'}, from <When at={found.from} /> to{' '}
        <When at={found.stopped_at ?? found.to} />
        {found.stopped_at !== null && '. The backtest stopped there, because it reached its limit'}.
      </Text>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Number
          label="Users"
          count={enrolled.users}
          delta={comparison && comparison.added.users - comparison.removed.users}
        />
        <Number label="Emails" count={emails.written} delta={comparison && comparison.emails} />
        <Number
          label="Most on one day"
          count={Math.max(0, ...emails.per_day.map((day) => day.emails))}
          delta={null}
        />
        <Number label="Held by the frequency cap" count={caps.held} delta={null} />
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

function Number({ label, count, delta }: { label: string; count: number; delta: number | null }): ReactNode {
  return (
    <Paper withBorder p="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} size="lg">
        {count.toLocaleString('en-GB')}
      </Text>
      <Text size="xs" c="dimmed">
        {delta === null ? '\u00A0' : `${signed(delta)} compared with the saved version`}
      </Text>
    </Paper>
  );
}

function signed(delta: number): string {
  if (delta === 0) return 'no change';
  return delta > 0 ? `+${delta.toLocaleString('en-GB')}` : `−${Math.abs(delta).toLocaleString('en-GB')}`;
}

function daysOf({ emails, comparison }: Backtest): Point[] {
  const days = new Map<string, Point>();
  const at = (day: string): Point => days.get(day) ?? { day, emails: 0, ...(comparison ? { saved: 0 } : {}) };
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
        {people.length > PEOPLE_SHOWN && (
          <Text size="sm" c="dimmed">
            and more
          </Text>
        )}
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
  return (
    <section>
      <Title order={2} size="h6" mb={4}>
        Collisions
      </Title>
      <List size="sm" spacing={2}>
        {lines.map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </section>
  );
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
              <Text size="xs" c="dimmed">
                To {user}, <When at={at} />
                {missing.length > 0 && `; held, missing ${missing.join(', ')}`}
              </Text>
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
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <section>
        <Title order={2} size="h6" mb={4}>
          Why other users were not enrolled
        </Title>
        <List size="sm" spacing={2}>
          {excluded.map(({ reason, sentence, count }) => (
            <List.Item key={reason}>
              {count.toLocaleString('en-GB')} × {sentence}
            </List.Item>
          ))}
          {waiting > 0 && (
            <List.Item>{waiting.toLocaleString('en-GB')} users wait for a later date</List.Item>
          )}
          {excluded.length === 0 && waiting === 0 && <List.Item>No users were excluded</List.Item>}
        </List>
      </section>
      <section>
        <Title order={2} size="h6" mb={4}>
          Assumptions
        </Title>
        <List size="sm" spacing={2}>
          {assumptions.map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      </section>
    </SimpleGrid>
  );
}
