import { Stack, Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import type { OrganizationOfMine } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { refused } from '../../parts/index.ts';

export function Digests({ organizations }: { organizations: OrganizationOfMine[] }): ReactNode {
  const change = useChange('POST /organizations/:organization/digest', {
    optimistic: (cache, { params, body }) =>
      cache.change('GET /session', (response) => ({
        data: {
          ...response.data,
          organizations: response.data.organizations.map((organization) =>
            organization.id === params.organization
              ? { ...organization, wants_digest: body.enabled }
              : organization,
          ),
        },
      })),
    refreshes: ['GET /session'],
    onRefused: (error) => refused(error),
  });
  return (
    <Stack gap="xs">
      {organizations.map(({ id, name, wants_digest }) => (
        <Switch
          key={id}
          label={`Digest of ${name}`}
          checked={wants_digest}
          onChange={(event) =>
            change.mutate({ params: { organization: id }, body: { enabled: event.currentTarget.checked } })
          }
        />
      ))}
    </Stack>
  );
}
