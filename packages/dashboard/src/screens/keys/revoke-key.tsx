import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiKey } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { ConfirmTyped, notify, When } from '../../parts/index.ts';
import { requestsIn } from './traffic.ts';

type Props = { revoked: ApiKey | null; onClose: () => void };

export function RevokeKey({ revoked, onClose }: Props): ReactNode {
  const revoke = useChange('POST /projects/:project/keys/:key/revoke', {
    refreshes: ['GET /projects/:project/keys'],
    onDone: ({ data }) => {
      notify(`${data.label} revoked`);
      onClose();
    },
  });
  if (!revoked) return null;
  const { id, label, last_used_at: at, traffic } = revoked;
  const today = requestsIn(traffic, 1);
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={`Revoke ${label}`}
      name={label}
      action="Revoke"
      run={() => revoke.mutate({ params: { key: id }, body: { label } })}
      change={revoke}
    >
      <Stack gap="xs">
        <Text size="sm">
          All further requests with this key get 401, permanently. Their data is lost unless it is sent again
          with another key.
        </Text>
        <Text size="sm" fw={500}>
          {at === null ? (
            'Never used.'
          ) : (
            <>
              Last used <When at={at} style="relative" />, {today.toLocaleString('en-GB')} requests today.
            </>
          )}
        </Text>
      </Stack>
    </ConfirmTyped>
  );
}
