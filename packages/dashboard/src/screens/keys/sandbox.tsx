import { Anchor, Group, Switch } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useChange, useProject } from '../../api/index.ts';
import { refused, told } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';

/** Switches the sandbox of a live project on and off; in a sandbox there is nothing to switch. */
export function Sandbox(): ReactNode {
  const { id, livemode, demo } = useProject();
  const projects = useApi('GET /projects', {});
  const sandbox = projects.data?.data.find((one) => one.sandbox_of === id);
  const change = useChange('PATCH /projects/:project/settings', {
    refreshes: ['GET /projects', 'GET /projects/:project/keys', 'GET /projects/:project/settings'],
    onDone: () => told(sandbox ? 'The sandbox is off: its keys open nothing' : 'The sandbox is on'),
    onRefused: (error) => refused(error),
  });
  if (!livemode || demo || !projects.data) return null;
  return (
    <Section
      title="Sandbox"
      text="A data set of its own for tests: keys of the form sk_test_ open it, nothing of it leaves this machine, and its clock can be moved. Rules, audiences, templates and settings are copied when it is first switched on."
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
        {sandbox && (
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/p/$project/home" params={{ project: String(sandbox.id) }} {...props} />
            )}
          >
            Open the sandbox
          </Anchor>
        )}
      </Group>
    </Section>
  );
}
