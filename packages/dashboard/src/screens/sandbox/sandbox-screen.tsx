import { Group, Stack, Switch, Text } from '@mantine/core';
import type { ProjectListed } from '@beckon/contract/dashboard';
import { FlaskConical } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange, useMay, useProject } from '../../api/index.ts';
import { Empty, ErrorBox, notify, Page, refused } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';
import { SANDBOX_TEXT } from './sandbox-text.ts';
import { AdvanceClock, TestTime, useTestClock } from './test-clock.tsx';
import { useCreateSandbox, usePair } from './use-pair.ts';

/** Turns the sandbox of a project on and off. In the sandbox itself: its test clock. */
export function SandboxScreen(): ReactNode {
  const { livemode, demo } = useProject();
  return (
    <Page title="Sandbox">
      <Stack gap="md" maw={860}>
        {!livemode ? (
          <WithinSandbox />
        ) : demo ? (
          <Empty icon={FlaskConical} title="A demo project has no sandbox">
            All of its data is made up, and no email is sent.
          </Empty>
        ) : (
          <OfProduction />
        )}
      </Stack>
    </Page>
  );
}

function OfProduction(): ReactNode {
  const { sandbox } = usePair();
  const may = useMay('admin');
  const create = useCreateSandbox(() => {});
  const turnOff = useChange('PATCH /projects/:project/settings', {
    refreshes: ['GET /projects', 'GET /projects/:project/keys', 'GET /projects/:project/settings'],
    onDone: () => notify('Sandbox turned off. Its keys no longer work.'),
    onRefused: (error) => refused(error),
  });
  return (
    <Section title="Sandbox" text={SANDBOX_TEXT}>
      <Group gap="lg">
        <Switch
          label="On"
          aria-label="Sandbox on"
          checked={sandbox !== null}
          disabled={!may || create.isPending || turnOff.isPending}
          onChange={({ currentTarget: { checked } }) =>
            (checked ? create : turnOff).mutate({ body: { settings: { sandbox: checked ? 'on' : 'off' } } })
          }
        />
        {sandbox && (
          <LinkButton to="/p/$project/home" params={{ project: String(sandbox.id) }}>
            Open sandbox
          </LinkButton>
        )}
      </Group>
      {create.error && <ErrorBox error={create.error} title="Sandbox not created" />}
      {!may && <Muted mt="sm">Turning the sandbox on or off requires the admin role.</Muted>}
    </Section>
  );
}

function WithinSandbox(): ReactNode {
  const { production } = usePair();
  const aheadMs = useTestClock();
  return (
    <>
      <Section
        title="Test clock"
        text="Advance the clock to make timers, deadlines and waits due. The clock only moves forward."
      >
        <Group gap="lg">
          <Text size="sm" fw={600}>
            <TestTime aheadMs={aheadMs} />
          </Text>
          <AdvanceClock size="sm" />
        </Group>
      </Section>
      {production && <Production production={production} />}
    </>
  );
}

function Production({ production: { id, name } }: { production: ProjectListed }): ReactNode {
  return (
    <Section
      title="Production"
      text={`This is the sandbox of ${name}. Turn it off in the settings of ${name}.`}
    >
      <LinkButton to="/p/$project/settings/sandbox" params={{ project: String(id) }}>
        Open settings of {name}
      </LinkButton>
    </Section>
  );
}
