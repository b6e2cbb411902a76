import { Alert, Group, SimpleGrid, Slider, Stack, Table, Text, Title } from '@mantine/core';
import { History } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Certainty, UserShown, UserThen } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Empty, formatTime, Loaded, useNow, useZone, When } from '../../parts/index.ts';
import { MomentField } from '../../parts/moment-field.tsx';
import { CERTAINTY, plain } from './words.ts';

type Props = { user: UserShown; at: string | undefined; onAt: (at: string | undefined) => void };

const MINUTE = 60_000;
/** As long as changes are kept, unless the project says otherwise; the server says where it ends. */
const BACK_MS = 90 * 24 * 60 * MINUTE;

/** The same person, as of a moment that lies back. */
export function Then({ user, at, onAt }: Props): ReactNode {
  const now = Math.floor(useNow() / MINUTE) * MINUTE;
  const moment =
    at ?? new Date(Math.max(Date.parse(user.first_seen_at), now - 24 * 60 * MINUTE)).toISOString();
  const query = useApi(
    'GET /projects/:project/users/:user/at',
    { params: { user: user.external_user_id }, query: { at: moment } },
    { keep: true },
  );
  return (
    <Stack gap="md">
      <Moment key={moment} user={user} at={moment} now={now} onAt={onAt} />
      <Loaded query={query}>{({ data }) => <Shown then={data} user={user} />}</Loaded>
    </Stack>
  );
}

type MomentProps = { user: UserShown; at: string; now: number; onAt: Props['onAt'] };

/** The server is asked once the slider is let go. */
function Moment({ user, at, now, onAt }: MomentProps): ReactNode {
  const zone = useZone();
  const from = Math.max(Date.parse(user.first_seen_at), now - BACK_MS);
  const [chosen, setChosen] = useState(Math.min(Date.parse(at), now));
  return (
    <Stack gap="xs">
      <Slider
        min={Math.min(from, chosen)}
        max={now}
        step={MINUTE}
        value={chosen}
        onChange={setChosen}
        onChangeEnd={(ms) => onAt(new Date(ms).toISOString())}
        label={(ms) => formatTime(new Date(ms).toISOString(), zone)}
        thumbLabel="As of which moment"
      />
      <Group gap="xs" wrap="wrap" align="flex-end">
        <MomentField label="Moment" value={at} onMoment={onAt} />
      </Group>
    </Stack>
  );
}

function Shown({ then, user }: { then: UserThen; user: UserShown }): ReactNode {
  if (then.state === 'not_yet')
    return (
      <Empty icon={History} title="They were not known yet">
        Nothing of them had come by then.
      </Empty>
    );
  if (then.state === 'unknown')
    return (
      <Empty icon={History} title="Changes of that time are not kept any more">
        They are kept since <When at={then.kept_since} />; the setting keep_stream says for how long.
      </Empty>
    );
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <Stack gap="xs">
        <Title order={2} size="h5">
          Traits, as of <When at={then.at} theirZone={user.zone} />
        </Title>
        {then.others !== 'exact' && (
          <Alert color="yellow" variant="light" p="xs">
            An import came after that. A trait that it took away is not shown: who was changed by an import,
            and how, is not kept.
          </Alert>
        )}
        <TraitsThen then={then} user={user} />
      </Stack>
      <Stack gap="lg">
        <AudiencesThen then={then} zone={user.zone} />
        <NextThen then={then} zone={user.zone} />
      </Stack>
    </SimpleGrid>
  );
}

function TraitsThen({ then, user }: { then: UserThen; user: UserShown }): ReactNode {
  const now = new Map(user.traits.map(({ trait, value }) => [trait, plain(value)]));
  return (
    <Table layout="fixed" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="30%">Name</Table.Th>
          <Table.Th>Then</Table.Th>
          <Table.Th>Now</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        <Table.Tr>
          <Table.Td>e-mail</Table.Td>
          <Table.Td style={WRAP}>
            <Value value={then.email.value} certainty={then.email.certainty} />
          </Table.Td>
          <Table.Td style={WRAP}>{user.email ?? '–'}</Table.Td>
        </Table.Tr>
        {then.traits.map(({ trait, value, certainty }) => (
          <Table.Tr key={trait}>
            <Table.Td style={WRAP}>{trait}</Table.Td>
            <Table.Td style={WRAP}>
              <Value value={value} certainty={certainty} />
            </Table.Td>
            <Table.Td style={WRAP}>{now.get(trait) ?? 'not set'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const WRAP = { overflowWrap: 'anywhere' } as const;

function Value({ value, certainty }: { value: unknown; certainty: Certainty }): ReactNode {
  const doubt = CERTAINTY[certainty];
  const isKnown = certainty === 'exact' || certainty === 'same_around_import';
  return (
    <>
      {isKnown && (value === null ? '–' : plain(value))}
      {doubt !== null && (
        <Text size="xs" c="dimmed">
          {doubt}
        </Text>
      )}
    </>
  );
}

function AudiencesThen({ then, zone }: { then: UserThen; zone: string | null }): ReactNode {
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        Audiences then
      </Title>
      {then.audiences.length === 0 && (
        <Text size="sm" c="dimmed">
          They were in none.
        </Text>
      )}
      {then.audiences.map(({ id, name, certainty, definition_changed: isChanged, until }) => (
        <div key={id}>
          <Text size="sm">
            {name}
            {until !== null && (
              <>
                {' '}
                until <When at={until} theirZone={zone} /> at least
              </>
            )}
          </Text>
          {(isChanged || certainty !== 'exact') && (
            <Text size="xs" c="dimmed">
              {[
                isChanged ? 'asked by a definition that is newer' : null,
                certainty === 'exact' ? null : 'something it asks about is not certain',
              ]
                .filter((part) => part !== null)
                .join('; ')}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  );
}

function NextThen({ then, zone }: { then: UserThen; zone: string | null }): ReactNode {
  return (
    <Stack gap={4}>
      <Title order={2} size="h5">
        What was next
      </Title>
      {then.next.length === 0 && (
        <Text size="sm" c="dimmed">
          Nothing that time alone would have brought.
        </Text>
      )}
      {then.next.map(({ at, what, name, id }) => (
        <Text key={`${what} ${id}`} size="sm">
          <When at={at} theirZone={zone} />:{' '}
          {what === 'audience' ? `“${name}” is asked again` : `the deadline of a letter of ${name}`}
        </Text>
      ))}
      {then.drafts.map(({ id, rule, state, since }) => (
        <Text key={id} size="sm">
          A letter of {rule} was {state} since <When at={since} theirZone={zone} />
        </Text>
      ))}
    </Stack>
  );
}
