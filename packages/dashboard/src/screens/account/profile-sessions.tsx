import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { Monitor } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SessionListed } from '@beckon/contract/dashboard';
import { useApi, useChange } from '../../api/index.ts';
import { Loaded, Mark, refused, notify, When } from '../../parts/index.ts';
import { browserName } from './words.ts';

export function Sessions(): ReactNode {
  const sessions = useApi('GET /sessions', {});
  const end = useChange('POST /sessions/:session/end', {
    optimistic: (cache, { params }) =>
      cache.change('GET /sessions', (page) => ({
        ...page,
        data: page.data.filter(({ id }) => id !== params.session),
      })),
    refreshes: ['GET /sessions'],
    onRefused: (error) => refused(error),
  });
  const endOthers = useChange('POST /sessions/end-others', {
    refreshes: ['GET /sessions'],
    onDone: ({ data }) => notify(data.ended === 1 ? '1 session ended' : `${data.ended} sessions ended`),
    onRefused: (error) => refused(error),
  });
  return (
    <Loaded query={sessions}>
      {({ data }) => (
        <Stack gap="sm">
          <Table aria-label="Sessions">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Device</Table.Th>
                <Table.Th scope="col">Last used</Table.Th>
                <Table.Th scope="col" ta="right">
                  Actions
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.map((session) => (
                <SessionRow
                  key={session.id}
                  session={session}
                  onEnd={() => end.mutate({ params: { session: session.id } })}
                />
              ))}
            </Table.Tbody>
          </Table>
          {data.length > 1 && (
            <Group>
              <Button variant="default" loading={endOthers.isPending} onClick={() => endOthers.mutate({})}>
                End all other sessions
              </Button>
            </Group>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

function SessionRow({ session, onEnd }: { session: SessionListed; onEnd: () => void }): ReactNode {
  const name = browserName(session.user_agent);
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">{name}</Text>
        <Text size="xs" c="dimmed">
          {session.address ?? 'unknown address'}
        </Text>
      </Table.Td>
      <Table.Td>
        <When at={session.last_seen_at} />
      </Table.Td>
      <Table.Td ta="right">
        {session.current ? (
          <Mark icon={Monitor} tone="info" label="This session" />
        ) : (
          <Button size="compact-sm" variant="default" onClick={onEnd}>
            End <span className="beckon-heard">session of {name}</span>
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
