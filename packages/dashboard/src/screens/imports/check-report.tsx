import { Button, Checkbox, Group, List, Stack, Table, Text, TextInput } from '@mantine/core';
import { MailX } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import, ImportCheck } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { ErrorBox } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Section } from '../../parts/section.tsx';
import { CheckButton } from './stripe-step.tsx';
import { Findings } from './findings.tsx';
import { count, counted, factLabel, emailsLine, pluralize } from './words.ts';

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
      <List size="sm">
        {rules.map(({ rule, event, name, users: people }) => (
          <List.Item key={`${rule} ${event}`} style={{ overflowWrap: 'anywhere' }}>
            {name}: {counted(people)} with {event}
          </List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed">
        Counts all users with such an event. Conditions, caps and suppressions are not evaluated.
      </Text>
    </Stack>
  );
}

function Names({ check: { names } }: Pick<Props, 'check'>): ReactNode {
  if (names.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={360} tabIndex={0} aria-label="Events by name">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Event</Table.Th>
            <Table.Th>Count</Table.Th>
            <Table.Th>From</Table.Th>
            <Table.Th>To</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {names.map(({ name, events, is_canonical: isCanonical, first_at: first, last_at: last }) => (
            <Table.Tr key={name}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {name}{' '}
                {isCanonical && (
                  <Text component="span" size="xs" c="dimmed">
                    canonical
                  </Text>
                )}
              </Table.Td>
              <Table.Td>{count(events)}</Table.Td>
              <Table.Td>{first?.slice(0, 10) ?? '–'}</Table.Td>
              <Table.Td>{last?.slice(0, 10) ?? '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
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
      <List size="sm">
        {check.rejected_by.slice(0, 10).map(({ field, message, rows }) => (
          <List.Item key={`${field} ${message}`} style={{ overflowWrap: 'anywhere' }}>
            {pluralize(rows, 'row')}: {message}
          </List.Item>
        ))}
      </List>
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
          checked={isLive}
          onChange={({ currentTarget }) => setIsLive(currentTarget.checked)}
        />
      )}
      {isLive && (
        <TextInput
          label={`Type the number of live events to confirm: ${count(check.events)}`}
          description={`${pluralize(recent(check), 'user', 'users')} have an event that is recent enough for an enabled rule`}
          maw={420}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          error={fault}
          inputMode="numeric"
        />
      )}
      {start.error && fault === undefined && <ErrorBox error={start.error} />}
      <Group>
        <Button
          loading={start.isPending}
          disabled={!isTyped || check.rows === check.rejected}
          onClick={() => start.mutate({ params: { import: dataImport.id }, body })}
        >
          Start import
        </Button>
        <CheckButton dataImport={dataImport} again />
      </Group>
    </Stack>
  );
}

function recent({ rules }: ImportCheck): number {
  return Math.max(0, ...rules.map((rule) => rule.recent.count));
}
