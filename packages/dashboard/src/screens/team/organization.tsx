import { Group, Stack, Switch, TextInput } from '@mantine/core';
import type { OrganizationDetails } from '@beckon/contract/dashboard';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange, useMay } from '../../api/index.ts';
import { refused, notify } from '../../parts/index.ts';
import { SubmitButton } from '../../parts/submit-button.tsx';

/** The organization's name and whether it requires an authenticator app. Only an owner changes them. */
export function Organization({ organization }: { organization: OrganizationDetails }): ReactNode {
  const [name, setName] = useState(organization.name);
  const isOwner = useMay('owner');
  const change = useChange('POST /projects/:project/organization', {
    refreshes: ['GET /projects/:project/organization', 'GET /session'],
    onDone: () => notify('Saved'),
    onRefused: (error) => refused(error),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    change.mutate({ body: { name } });
  };
  return (
    <Stack gap="md" maw={520}>
      <form onSubmit={submit}>
        <Group gap="xs" align="end">
          <TextInput
            label="Name"
            flex={1}
            value={name}
            readOnly={!isOwner}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {isOwner && (
            <SubmitButton
              change={change}
              variant="default"
              disabled={name.trim() === '' || name === organization.name}
            >
              Save
            </SubmitButton>
          )}
        </Group>
      </form>
      <Switch
        label="Require an authenticator app"
        description="Members without one see no projects until they set it up. Only an owner can change this."
        checked={organization.requires_two_factor}
        disabled={!isOwner || change.isPending}
        onChange={(event) => change.mutate({ body: { requires_two_factor: event.currentTarget.checked } })}
      />
    </Stack>
  );
}
