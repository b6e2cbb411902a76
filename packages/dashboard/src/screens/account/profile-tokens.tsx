import { Button, Table, Text } from '@mantine/core';
import { Ban, Hourglass } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TokenListed } from '@beckon/contract/dashboard';
import { useApi, useChange } from '../../api/index.ts';
import { ConfirmTyped, Empty, Loaded, Mark, useNow, When } from '../../parts/index.ts';
import { SCOPE_WORDS } from './scope-words.ts';

/** The personal tokens of the member: live ones, and those that ended in the last 30 days. */
export function Tokens({ publicUrl }: { publicUrl: string }): ReactNode {
  const tokens = useApi('GET /profile/tokens', {});
  return (
    <Loaded query={tokens}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No personal tokens yet" command={`npx @beckon/cli login --url ${publicUrl}`}>
            Run this on your machine. It shows a code that you approve here.
          </Empty>
        ) : (
          <TokenTable tokens={data} />
        )
      }
    </Loaded>
  );
}

function TokenTable({ tokens }: { tokens: TokenListed[] }): ReactNode {
  const [going, setGoing] = useState<TokenListed | null>(null);
  const revoke = useChange('POST /profile/tokens/:token/revoke', {
    refreshes: ['GET /profile/tokens'],
    onDone: () => setGoing(null),
  });
  return (
    <>
      <Table aria-label="Personal tokens">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Program</Table.Th>
            <Table.Th scope="col">Last used</Table.Th>
            <Table.Th scope="col">Expires</Table.Th>
            <Table.Th scope="col" ta="right">
              Actions
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tokens.map((token) => (
            <TokenRow key={token.id} token={token} onRevoke={() => setGoing(token)} />
          ))}
        </Table.Tbody>
      </Table>
      <ConfirmTyped
        opened={going !== null}
        onClose={() => setGoing(null)}
        title="Revoke token"
        name={going?.label ?? ''}
        action="Revoke"
        run={() => going && revoke.mutate({ params: { token: going.id } })}
        isRunning={revoke.isPending}
        error={revoke.error}
      >
        The next request with this token is refused. To log in again on that machine, run{' '}
        <code>npx @beckon/cli login</code>.
      </ConfirmTyped>
    </>
  );
}

function TokenRow({ token, onRevoke }: { token: TokenListed; onRevoke: () => void }): ReactNode {
  const now = useNow();
  const scopes = token.scopes.map((scope) => SCOPE_WORDS[scope].title.toLowerCase()).join(', ');
  const isOver = Date.parse(token.expires_at) <= now;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {token.label}
        </Text>
        <Text size="xs" c="dimmed">
          {token.display} · {scopes}
        </Text>
      </Table.Td>
      <Table.Td>{token.last_used_at === null ? 'never' : <When at={token.last_used_at} />}</Table.Td>
      <Table.Td>
        <When at={token.revoked_at ?? token.expires_at} style="day" />
      </Table.Td>
      <Table.Td ta="right">
        {token.revoked_at !== null && <Mark icon={Ban} tone="quiet" label="Revoked" />}
        {token.revoked_at === null && isOver && <Mark icon={Hourglass} tone="quiet" label="Expired" />}
        {token.revoked_at === null && !isOver && (
          <Button size="compact-sm" variant="default" onClick={onRevoke}>
            Revoke <span className="beckon-heard">{token.label}</span>
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
