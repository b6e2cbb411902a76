import { Group, Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useChange, useProject } from '../../api/index.ts';
import { refused, notify } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';
import { TextLink } from '../../parts/text-link.tsx';

/** Turns the sandbox of a production project on and off. A sandbox itself has no sandbox. */
export function Sandbox(): ReactNode {
  const { id, livemode, demo } = useProject();
  const projects = useApi('GET /projects', {});
  const sandbox = projects.data?.data.find((entry) => entry.sandbox_of === id);
  const change = useChange('PATCH /projects/:project/settings', {
    refreshes: ['GET /projects', 'GET /projects/:project/keys', 'GET /projects/:project/settings'],
    onDone: () => notify(sandbox ? 'Sandbox turned off. Its keys no longer work.' : 'Sandbox turned on'),
    onRefused: (error) => refused(error),
  });
  if (!livemode || demo || !projects.data) return null;
  return (
    <Section
      title="Sandbox"
      text="Separate data for tests, used with `sk_test_` keys. No email leaves this machine, and you control the clock. Rules, audiences, templates and settings are copied when you first turn it on."
    >
      <Group gap="lg">
        <Switch
          label="On"
          aria-label="Sandbox on"
          checked={sandbox !== undefined}
          disabled={change.isPending}
          onChange={({ currentTarget: { checked } }) =>
            change.mutate({ body: { settings: { sandbox: checked ? 'on' : 'off' } } })
          }
        />
        {sandbox && <TextLink to="/p/$project/home">Open sandbox</TextLink>}
      </Group>
    </Section>
  );
}
