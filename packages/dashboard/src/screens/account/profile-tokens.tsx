import { Text } from '@mantine/core';
import { Ban, Hourglass } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TokenListed } from '@beckon/contract/dashboard';
import { useApi, useChange } from '../../api/index.ts';
import { ConfirmTyped, Empty, Loaded, Mark, useNow, When } from '../../parts/index.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { SCOPE_WORDS } from './scope-words.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

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
      <SmallTable
        aria-label="Personal tokens"
        heads={['Program', 'Last used', 'Expires', { title: 'Actions', ta: 'right' }]}
        rows={tokens.map((token) => ({
          key: token.id,
          cells: [
            <Program token={token} />,
            token.last_used_at === null ? 'never' : <When at={token.last_used_at} />,
            <When at={token.revoked_at ?? token.expires_at} style="day" />,
            <TokenState token={token} onRevoke={() => setGoing(token)} />,
          ],
        }))}
      />
      <ConfirmTyped
        opened={going !== null}
        onClose={() => setGoing(null)}
        title="Revoke token"
        name={going?.label ?? ''}
        action="Revoke"
        run={() => going && revoke.mutate({ params: { token: going.id } })}
        change={revoke}
      >
        The next request with this token is refused. To log in again on that machine, run{' '}
        <code>npx @beckon/cli login</code>.
      </ConfirmTyped>
    </>
  );
}

function Program({ token: { label, display, scopes } }: { token: TokenListed }): ReactNode {
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {label}
      </Text>
      <Muted size="xs">
        {display} · {scopes.map((scope) => SCOPE_WORDS[scope].title.toLowerCase()).join(', ')}
      </Muted>
    </>
  );
}

function TokenState({ token, onRevoke }: { token: TokenListed; onRevoke: () => void }): ReactNode {
  const now = useNow();
  if (token.revoked_at !== null) return <Mark icon={Ban} tone="quiet" label="Revoked" />;
  if (Date.parse(token.expires_at) <= now) return <Mark icon={Hourglass} tone="quiet" label="Expired" />;
  return (
    <ActButton size="compact-sm" onClick={onRevoke}>
      Revoke <span className="beckon-visually-hidden">{token.label}</span>
    </ActButton>
  );
}
