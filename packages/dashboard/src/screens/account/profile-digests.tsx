import { Stack, Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import type { OrganisationOfMine } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { refused } from '../../parts/index.ts';

export function Digests({ organisations }: { organisations: OrganisationOfMine[] }): ReactNode {
  const change = useChange('POST /organisations/:organisation/digest', {
    optimistic: (cache, { params, body }) =>
      cache.change('GET /session', (answer) => ({
        data: {
          ...answer.data,
          organisations: answer.data.organisations.map((one) =>
            one.id === params.organisation ? { ...one, wants_digest: body.wanted } : one,
          ),
        },
      })),
    refreshes: ['GET /session'],
    onRefused: (error) => refused(error),
  });
  return (
    <Stack gap="xs">
      {organisations.map(({ id, name, wants_digest }) => (
        <Switch
          key={id}
          label={`Of ${name}`}
          checked={wants_digest}
          onChange={(event) =>
            change.mutate({ params: { organisation: id }, body: { wanted: event.currentTarget.checked } })
          }
        />
      ))}
    </Stack>
  );
}
