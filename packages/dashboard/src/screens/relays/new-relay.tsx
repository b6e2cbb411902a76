import type { Relay, RelayKindInfo, RelaySetup } from '@beckon/contract/dashboard';
import { Checkbox, Group, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { ErrorBox, Loaded, Page } from '../../parts/index.ts';
import { textProps, tickProps } from '../../parts/bind.ts';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { ConnectionFields } from '../../parts/connection-fields.tsx';

/** Sets up a relay: which one, and its credentials. */
export function NewRelay({ onAdded }: { onAdded: (relay: Relay) => void }): ReactNode {
  const query = useApi('GET /projects/:project/relay-setup', {});
  return (
    <Page title="Add relay">
      <Loaded query={query}>{({ data }) => <SetUp setup={data} onAdded={onAdded} />}</Loaded>
    </Page>
  );
}

function SetUp({ setup, onAdded }: { setup: RelaySetup; onAdded: (relay: Relay) => void }): ReactNode {
  const kinds = kindsOf(setup);
  const known = setup.smtp_url?.kind ?? null;
  const [kind, setKind] = useState<string | null>(kinds[0]?.kind === 'smtp_url' ? 'smtp_url' : known);
  const info = kinds.find((candidate) => candidate.kind === kind);
  return (
    <Stack gap="lg" maw={760}>
      <Radio.Group
        label="Which relay?"
        description={
          known === null
            ? 'The service that delivers your emails'
            : `SMTP_URL uses ${setup.smtp_url?.host}, so this one is selected`
        }
        value={kind}
        onChange={setKind}
      >
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} mt="sm" spacing="sm">
          {kinds.map((candidate) => (
            <KindCard key={candidate.kind} info={candidate} />
          ))}
        </SimpleGrid>
      </Radio.Group>
      {info && <Credentials key={info.kind} info={info} setup={setup} onAdded={onAdded} />}
    </Stack>
  );
}

/** The feedback of the provider in `SMTP_URL` comes first, if it can be added. */
function kindsOf({ kinds, operator, smtp_url: smtpUrl }: RelaySetup): RelayKindInfo[] {
  const others = kinds.filter(({ kind }) => kind !== 'smtp_url');
  const feedback = kinds.filter(({ kind }) => kind === 'smtp_url');
  return operator && smtpUrl?.feedback_relay === null ? [...feedback, ...others] : others;
}

function KindCard({ info: { kind, title, fields } }: { info: RelayKindInfo }): ReactNode {
  const needs = fields.filter(({ required }) => required).map(({ label }) => label);
  return (
    <Radio.Card value={kind} p="sm" radius="md" aria-label={title}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator mt={2} />
        <Stack gap={2} style={{ minWidth: 0 }}>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <Muted size="xs">{kind === 'smtp_url' ? 'Only its feedback' : needs.join(', ')}</Muted>
        </Stack>
      </Group>
    </Radio.Card>
  );
}

type CredentialsProps = { info: RelayKindInfo; setup: RelaySetup; onAdded: (relay: Relay) => void };

function Credentials({ info, setup, onAdded }: CredentialsProps): ReactNode {
  const isSmtpUrl = info.kind === 'smtp_url';
  const [name, setName] = useState(isSmtpUrl ? 'SMTP_URL' : info.title);
  const [values, setValues] = useState<Record<string, string>>({});
  const [isShared, setIsShared] = useState(isSmtpUrl);
  const add = useChange('POST /projects/:project/relays', {
    refreshes: ['GET /projects/:project/relays', 'GET /projects/:project/relay-setup'],
    onDone: ({ data }) => onAdded(data),
  });
  const { error } = add;
  const isAtField = ['name', ...info.fields.map((field) => field.name)].some(
    (field) => error?.fields[field] !== undefined,
  );
  const settings = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  return (
    <Section
      title={info.title}
      text={
        isSmtpUrl
          ? `Emails are still sent through ${setup.smtp_url?.host}. The settings verify webhooks and allow requests to the API.`
          : 'Credentials are encrypted, and never shown again.'
      }
    >
      <Form
        autoComplete="off"
        onSubmit={() =>
          add.mutate({
            body: { kind: info.kind, name, settings, ...(isShared ? { installation: true } : {}) },
          })
        }
      >
        <TextInput label="Name" {...textProps(name, setName)} error={error?.fields['name']} maxLength={80} />
        <ConnectionFields
          fields={info.fields}
          values={values}
          onChange={setValues}
          errors={error?.fields ?? {}}
        />
        {setup.operator && !isSmtpUrl && (
          <Checkbox
            label="Share with all projects of this installation"
            description="Only owners of the installation can change it"
            {...tickProps(isShared, setIsShared)}
          />
        )}
        {error && !isAtField && <ErrorBox error={error} />}
        <Group justify="flex-end">
          <SubmitButton change={add} disabled={name.trim() === ''}>
            {isSmtpUrl ? 'Add feedback' : 'Add relay'}
          </SubmitButton>
        </Group>
      </Form>
    </Section>
  );
}
