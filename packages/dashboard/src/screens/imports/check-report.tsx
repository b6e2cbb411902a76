import { Checkbox, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { MailX } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import, ImportCheck } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { ErrorBox } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Section } from '../../parts/section.tsx';
import { SmallTable } from '../../parts/small-table.tsx';
import { CheckButton } from './stripe-step.tsx';
import { Findings } from './findings.tsx';
import { count, counted, factLabel, emailsLine, pluralize } from './words.ts';
import { Muted } from '../../parts/muted.tsx';
import { textProps, tickProps } from '../../parts/bind.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Bullets } from '../../parts/bullets.tsx';

type Props = { dataImport: Import; check: ImportCheck };

/** The result of the check, before anything is imported. */
export function CheckReport({ dataImport, check }: Props): ReactNode {
  return (
    <Section title="Check results">
      <Stack gap="md">
        {dataImport.state === 'checked' && <Notice icon={MailX} title={emailsLine(check)} />}
        <Facts facts={factsOf(check)} />
        <Rules check={check} />
        <Names check={check} />
        <Rejected dataImport={dataImport} check={check} />
        {dataImport.state === 'checked' && <Start dataImport={dataImport} check={check} />}
      </Stack>
    </Section>
  );
}

function factsOf({ rows, users, events, affected_users: people, rejected, facts }: ImportCheck) {
  return [
    { label: 'Rows', value: count(rows) },
    ...(users > 0 ? [{ label: 'Users', value: count(users) }] : []),
    ...(events > 0 ? [{ label: 'Events', value: count(events) }] : []),
    { label: 'New users', value: counted(people.new) },
    { label: 'Existing users', value: counted(people.known) },
    { label: 'Rejected rows', value: count(rejected) },
    ...Object.entries(facts).map(([name, value]) => ({ label: factLabel(name), value: count(value) })),
  ];
}

function Rules({ check: { rules } }: Pick<Props, 'check'>): ReactNode {
  if (rules.length === 0) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        Rules triggered by these events
      </Text>
      <Bullets
        items={rules.map(({ event, name, users: people }) => `${name}: ${counted(people)} with ${event}`)}
      />
      <Muted size="xs">
        Counts all users with such an event. Conditions, caps and suppressions are not evaluated.
      </Muted>
    </Stack>
  );
}

function Names({ check: { names } }: Pick<Props, 'check'>): ReactNode {
  if (names.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={360} tabIndex={0} aria-label="Events by name">
      <SmallTable
        heads={[{ title: 'Event', wraps: true }, 'Count', 'From', 'To']}
        rows={names.map(({ name, events, is_canonical: isCanonical, first_at: first, last_at: last }) => ({
          key: name,
          cells: [
            <>
              {name}{' '}
              {isCanonical && (
                <Text component="span" size="xs" c="dimmed">
                  canonical
                </Text>
              )}
            </>,
            count(events),
            first?.slice(0, 10) ?? '–',
            last?.slice(0, 10) ?? '–',
          ],
        }))}
      />
    </Table.ScrollContainer>
  );
}

function Rejected({ dataImport, check }: Props): ReactNode {
  if (check.rejected === 0) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        Rejected
      </Text>
      <Bullets
        items={check.rejected_by
          .slice(0, 10)
          .map(({ message, rows }) => `${pluralize(rows, 'row')}: ${message}`)}
      />
      {dataImport.state === 'checked' && <Findings dataImport={dataImport} />}
    </Stack>
  );
}

function Start({ dataImport, check }: Props): ReactNode {
  const [isLive, setIsLive] = useState(false);
  const [typed, setTyped] = useState('');
  const start = useChange('POST /projects/:project/imports/:import/start', {
    refreshes: ['GET /projects/:project/imports/:import', 'GET /projects/:project/imports'],
  });
  const fault = start.error?.fields['live_events'];
  const live = Number(typed.replaceAll(/[,\s]/g, ''));
  const isTyped = !isLive || (typed.trim() !== '' && live === check.events);
  const body = isLive ? { live_events: live } : {};
  return (
    <Stack gap="sm">
      {dataImport.kind === 'events' && (
        <Checkbox
          label="Import these events as live: rules fire, and emails may be sent"
          {...tickProps(isLive, setIsLive)}
        />
      )}
      {isLive && (
        <TextInput
          label={`Type the number of live events to confirm: ${count(check.events)}`}
          description={`${pluralize(recent(check), 'user', 'users')} have an event that is recent enough for an enabled rule`}
          maw={420}
          {...textProps(typed, setTyped)}
          error={fault}
          inputMode="numeric"
        />
      )}
      {start.error && fault === undefined && <ErrorBox error={start.error} />}
      <Group>
        <ActButton
          change={start}
          variant="filled"
          disabled={!isTyped || check.rows === check.rejected}
          onClick={() => start.mutate({ params: { import: dataImport.id }, body })}
        >
          Start import
        </ActButton>
        <CheckButton dataImport={dataImport} again />
      </Group>
    </Stack>
  );
}

function recent({ rules }: ImportCheck): number {
  return Math.max(0, ...rules.map((rule) => rule.recent.count));
}
