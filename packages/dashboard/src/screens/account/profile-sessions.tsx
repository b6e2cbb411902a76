import { Group, Stack, Text } from '@mantine/core';
import { Monitor } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SessionListed } from '@beckon/contract/dashboard';
import { useApi, useChange } from '../../api/index.ts';
import { Loaded, Mark, refused, notify, When } from '../../parts/index.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { browserName } from './words.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

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
          <SmallTable
            aria-label="Sessions"
            heads={['Device', 'Last used', { title: 'Actions', ta: 'right' }]}
            rows={data.map((session) => ({
              key: session.id,
              cells: [
                <Device session={session} />,
                <When at={session.last_seen_at} />,
                <EndSession
                  session={session}
                  onEnd={() => end.mutate({ params: { session: session.id } })}
                />,
              ],
            }))}
          />
          {data.length > 1 && (
            <Group>
              <ActButton change={endOthers} onClick={() => endOthers.mutate({})}>
                End all other sessions
              </ActButton>
            </Group>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

function Device({ session: { user_agent: agent, address } }: { session: SessionListed }): ReactNode {
  return (
    <>
      <Text size="sm">{browserName(agent)}</Text>
      <Muted size="xs">{address ?? 'unknown address'}</Muted>
    </>
  );
}

function EndSession({ session, onEnd }: { session: SessionListed; onEnd: () => void }): ReactNode {
  if (session.current) return <Mark icon={Monitor} tone="info" label="This session" />;
  return (
    <ActButton size="compact-sm" onClick={onEnd}>
      End <span className="beckon-visually-hidden">session of {browserName(session.user_agent)}</span>
    </ActButton>
  );
}
