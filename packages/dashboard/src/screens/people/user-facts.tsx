import { Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode } from 'react';
import type { UserDetails } from '@beckon/contract/dashboard';
import { useProject } from '../../api/index.ts';
import { When } from '../../parts/index.ts';
import { localeWarning, plain, zoneWarning } from './words.ts';
import { endWords } from '../../parts/end-words.ts';

/** The current data of a user; their values are always plain text. */
export function UserFacts({ user }: { user: UserDetails }): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <Stack gap="xs">
        <Title order={2} size="h5">
          Traits
        </Title>
        <Traits user={user} />
      </Stack>
      <Stack gap="lg">
        <Details user={user} />
        <Audiences user={user} />
        <Runs user={user} />
      </Stack>
    </SimpleGrid>
  );
}

function Traits({ user: { traits, email, zone } }: { user: UserDetails }): ReactNode {
  return (
    <Table layout="fixed" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="30%">Name</Table.Th>
          <Table.Th>Value</Table.Th>
          <Table.Th w="30%">Last change</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        <Table.Tr>
          <Table.Td>Email</Table.Td>
          <Table.Td style={WRAP}>{email ?? '–'}</Table.Td>
          <Table.Td />
        </Table.Tr>
        {traits.map(({ trait, value, known, changed }) => (
          <Table.Tr key={trait}>
            <Table.Td style={WRAP}>
              {trait}
              {known && (
                <Text span size="xs" c="dimmed">
                  {' '}
                  · known
                </Text>
              )}
            </Table.Td>
            <Table.Td style={WRAP}>{plain(value)}</Table.Td>
            <Table.Td>
              {changed ? (
                <>
                  <When at={changed.at} theirZone={zone} style="relative" />
                  <Text size="xs" c="dimmed" style={WRAP}>
                    {changed.before === null ? 'first set' : `was ${plain(changed.before)}`}
                  </Text>
                </>
              ) : (
                <Text span size="xs" c="dimmed">
                  by import, or before changes were stored
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Quiet hours depend on the time zone and emails on the locale, so the page shows when a trait is not the one in use. */
function TraitWarning({ warning }: { warning: string | null }): ReactNode {
  if (warning === null) return null;
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <TriangleAlert size={16} aria-hidden="true" style={NO_SHRINK} />
      <Text size="sm" style={WRAP}>
        {warning}
      </Text>
    </Group>
  );
}

const NO_SHRINK = { flexShrink: 0, marginTop: 3 } as const;

const WRAP = { overflowWrap: 'anywhere' } as const;

function Details({ user }: { user: UserDetails }): ReactNode {
  const { first_seen_at, last_seen_at, zone, locale, triggers, unsubscribed_topics: topics } = user;
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Details
      </Title>
      <Text size="sm">
        First seen <When at={first_seen_at} theirZone={zone} />, last seen{' '}
        <When at={last_seen_at} theirZone={zone} />
        {zone && ` · time zone ${zone}`}
        {locale && ` · locale ${locale}`}
      </Text>
      <TraitWarning warning={zoneWarning(user)} />
      <TraitWarning warning={localeWarning(user)} />
      {triggers.live_since && (
        <Text size="sm">
          Can trigger rules since <When at={triggers.live_since} theirZone={zone} />
        </Text>
      )}
      {topics.length > 0 && <Text size="sm">Unsubscribed topics: {topics.join(', ')}</Text>}
    </Stack>
  );
}

function Audiences({ user: { audiences, zone } }: { user: UserDetails }): ReactNode {
  const project = String(useProject().id);
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Audiences
      </Title>
      {audiences.length === 0 && (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      )}
      {audiences.map(({ id, name, since }) => (
        <Group key={id} gap="xs" wrap="wrap">
          <Link to="/p/$project/audiences/$audience" params={{ project, audience: id }}>
            {name}
          </Link>
          <Text size="sm" c="dimmed">
            since <When at={since} theirZone={zone} />
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

function Runs({ user: { runs, zone } }: { user: UserDetails }): ReactNode {
  if (runs.length === 0) return null;
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Runs
      </Title>
      {runs.map((run) => (
        <Text key={run.id} size="sm">
          {run.rule}: {run.state}
          {run.end_reason && ` (${endWords(run.end_reason)})`}, enrolled{' '}
          <When at={run.enrolled_at} theirZone={zone} />
          {run.next_at && (
            <>
              , continues <When at={run.next_at} theirZone={zone} />
            </>
          )}
        </Text>
      ))}
    </Stack>
  );
}
