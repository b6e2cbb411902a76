import type { Relay } from '@beckon/contract/dashboard';
import { Group, Stack, Switch, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { notify, refused } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';
import { TextLink } from '../../parts/text-link.tsx';

type Props = { relay: Relay; mayChange: boolean; isOperator: boolean };

/** Chooses whose emails the relay sends: the project's, or those of single domains. */
export function RelayUse({ relay, mayChange, isOperator }: Props): ReactNode {
  const domains = useApi('GET /projects/:project/domains', {}).data?.data ?? [];
  const use = useChange('PUT /projects/:project/relay-use', {
    refreshes: [
      'GET /projects/:project/relays',
      'GET /projects/:project/relays/:relay',
      'GET /projects/:project/sending',
    ],
    onDone: () => notify('Saved. Emails that are not being sent yet follow this choice.'),
    onRefused: (error) => refused(error),
  });
  const set = (isOn: boolean, place: { domain?: string; installation?: boolean }): void =>
    use.mutate({ body: { ...place, relay: isOn ? relay.id : null } });
  const isDisabled = !mayChange || use.isPending;
  return (
    <Section title="Used for" text="The relay of a domain comes before that of the project.">
      <Stack gap="sm">
        <Switch
          label="This project"
          description="All domains without a relay of their own"
          checked={relay.used_by_project}
          disabled={isDisabled}
          onChange={(event) => set(event.currentTarget.checked, {})}
        />
        {domains.map(({ name }) => (
          <Switch
            key={name}
            label={name}
            checked={relay.used_by_domains.includes(name)}
            disabled={isDisabled}
            onChange={(event) => set(event.currentTarget.checked, { domain: name })}
          />
        ))}
        {isOperator && relay.owner === 'installation' && (
          <Switch
            label="All projects of the installation"
            description="Those that have no relay of their own"
            checked={relay.used_by_installation}
            disabled={isDisabled}
            onChange={(event) => set(event.currentTarget.checked, { installation: true })}
          />
        )}
        {domains.length === 0 && (
          <Group gap={4}>
            <Text size="sm" c="dimmed">
              This project has no domain yet.
            </Text>
            <TextLink size="sm" to="/p/$project/settings/domains">
              Add a domain
            </TextLink>
          </Group>
        )}
      </Stack>
    </Section>
  );
}
