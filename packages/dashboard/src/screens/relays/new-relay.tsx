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
  const known = setup.smtp_url?.kind ?? null;
  const [kind, setKind] = useState<string | null>(known);
  const info = setup.kinds.find((candidate) => candidate.kind === kind);
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
          {setup.kinds.map((candidate) => (
            <KindCard key={candidate.kind} info={candidate} />
          ))}
        </SimpleGrid>
      </Radio.Group>
      {info && <Credentials key={info.kind} info={info} isOperator={setup.operator} onAdded={onAdded} />}
    </Stack>
  );
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
          <Muted size="xs">{needs.join(', ')}</Muted>
        </Stack>
      </Group>
    </Radio.Card>
  );
}

type CredentialsProps = { info: RelayKindInfo; isOperator: boolean; onAdded: (relay: Relay) => void };

function Credentials({ info, isOperator, onAdded }: CredentialsProps): ReactNode {
  const [name, setName] = useState(info.title);
  const [values, setValues] = useState<Record<string, string>>({});
  const [isShared, setIsShared] = useState(false);
  const add = useChange('POST /projects/:project/relays', {
    refreshes: ['GET /projects/:project/relays'],
    onDone: ({ data }) => onAdded(data),
  });
  const { error } = add;
  const isAtField = ['name', ...info.fields.map((field) => field.name)].some(
    (field) => error?.fields[field] !== undefined,
  );
  const settings = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
  return (
    <Section title={info.title} text="Credentials are encrypted, and never shown again.">
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
        {isOperator && (
          <Checkbox
            label="Share with all projects of this installation"
            description="Only owners of the installation can change it"
            {...tickProps(isShared, setIsShared)}
          />
        )}
        {error && !isAtField && <ErrorBox error={error} />}
        <Group justify="flex-end">
          <SubmitButton change={add} disabled={name.trim() === ''}>
            Add relay
          </SubmitButton>
        </Group>
      </Form>
    </Section>
  );
}
