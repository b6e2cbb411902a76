import type { SendingDomain } from '@beckon/contract/dashboard';
import { Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useChange, useMay } from '../../api/index.ts';
import { Command, ErrorBox, Mark, type MarkProps, notify, When } from '../../parts/index.ts';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { textProps } from '../../parts/bind.ts';

type Tracking = NonNullable<SendingDomain['tracking']>;

const STATES: Record<Tracking['state'], MarkProps> = {
  pending: { icon: CircleDashed, tone: 'info', label: 'Not used yet' },
  working: { icon: CircleCheck, tone: 'good', label: 'In use' },
  failed: { icon: CircleX, tone: 'bad', label: 'Does not resolve to this server' },
};

/** The host of tracked links in the domain's emails, instead of the installation's. */
export function TrackingHost({ domain }: { domain: SendingDomain }): ReactNode {
  const may = useMay('admin');
  const { name, tracking } = domain;
  const [host, setHost] = useState(tracking?.host ?? '');
  const save = useChange('PUT /projects/:project/domains/:domain/tracking', {
    refreshes: ['GET /projects/:project/domains', 'GET /projects/:project/domains/:domain'],
    onDone: ({ data }) =>
      notify(data.tracking ? 'Publish the record below' : 'Links use the address of this installation'),
  });
  const fault = save.error?.fields['host'];
  const submit = (): void => save.mutate({ params: { domain: name }, body: { host: host.trim() } });
  return (
    <Form onSubmit={submit} aria-labelledby="links" gap="sm" maw={640}>
      <Group gap="sm">
        <Title order={2} size="h5" id="links">
          Links
        </Title>
        {tracking && <Mark {...STATES[tracking.state]} />}
      </Group>
      <TextInput
        label="Tracking host"
        description={`Below the domain, such as t.${name}. Without one, links use the address of this installation.`}
        {...textProps(host, setHost)}
        error={fault}
        disabled={!may}
        spellCheck={false}
      />
      {save.error && fault === undefined && <ErrorBox error={save.error} />}
      {may && (
        <Group gap="xs">
          <SubmitButton change={save} size="sm" disabled={host.trim() === ''}>
            Save
          </SubmitButton>
          {tracking && (
            <ActButton
              size="sm"
              onClick={() => save.mutate({ params: { domain: name }, body: { host: null } })}
            >
              Remove tracking host
            </ActButton>
          )}
        </Group>
      )}
      {tracking && <Published tracking={tracking} />}
    </Form>
  );
}

function Published({ tracking }: { tracking: Tracking }): ReactNode {
  const { host, cname_target: to, found, checked_at: at } = tracking;
  return (
    <Stack gap="xs">
      <Command text={`${host}. CNAME ${to}.`} what="CNAME record" />
      <Muted>
        The host needs its own certificate: in the proxy in front of this server, or in TLS_CERT_DIR. It is
        used once it resolves to this server.
      </Muted>
      {found !== null && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          Found: {found}
        </Text>
      )}
      <Text size="xs" c="dimmed" component="div">
        Last checked <When at={at} style="relative" none="not yet" />
      </Text>
    </Stack>
  );
}
