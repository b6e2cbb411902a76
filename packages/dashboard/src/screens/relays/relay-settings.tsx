import type { Relay, RelayField, RelayKindInfo } from '@beckon/contract/dashboard';
import { Group, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { ErrorBox, notify } from '../../parts/index.ts';
import { textProps } from '../../parts/bind.ts';
import { Form } from '../../parts/form.tsx';
import { Section } from '../../parts/section.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { ConnectionFields } from '../../parts/connection-fields.tsx';

/** Changes the settings of a relay, or replaces its credentials. */
export function RelaySettings({ relay, kind }: { relay: Relay; kind: RelayKindInfo }): ReactNode {
  const params = { relay: relay.id };
  const feedback = useApi('GET /projects/:project/relays/:relay/feedback', { params }).data?.data;
  const fields = feedback && feedback.fields.length > 0 ? feedback.fields : kind.fields;
  const [name, setName] = useState(relay.name);
  const [values, setValues] = useState<Record<string, string>>(relay.settings);
  const save = useChange('PATCH /projects/:project/relays/:relay', {
    refreshes: [
      'GET /projects/:project/relays',
      'GET /projects/:project/relays/:relay',
      'GET /projects/:project/relays/:relay/feedback',
    ],
    onDone: () => notify('Saved. Emails that are sent from now on use the new settings.'),
  });
  const { error } = save;
  const isAtField = ['name', ...fields.map((field) => field.name)].some(
    (field) => error?.fields[field] !== undefined,
  );
  const settings = changesOf(fields, relay.settings, values);
  const isChanged = name !== relay.name || Object.keys(settings).length > 0;
  return (
    <Section title="Settings" text="Stored secrets are not shown. Type a new one to replace it.">
      <Form
        autoComplete="off"
        onSubmit={() =>
          save.mutate({
            params,
            body: {
              ...(name === relay.name ? {} : { name }),
              ...(Object.keys(settings).length === 0 ? {} : { settings }),
            },
          })
        }
      >
        <TextInput label="Name" {...textProps(name, setName)} error={error?.fields['name']} maxLength={80} />
        <ConnectionFields
          fields={fields}
          values={values}
          onChange={setValues}
          errors={error?.fields ?? {}}
          keepsSecrets
        />
        {error && !isAtField && <ErrorBox error={error} />}
        <Group justify="flex-end">
          <SubmitButton change={save} disabled={!isChanged || name.trim() === ''}>
            Save changes
          </SubmitButton>
        </Group>
      </Form>
    </Section>
  );
}

/** An empty secret stays as it is. Another empty value removes the setting. */
function changesOf(
  fields: RelayField[],
  stored: Record<string, string>,
  typed: Record<string, string>,
): Record<string, string> {
  const changed = fields.flatMap(({ name, secret }): [string, string][] => {
    const value = typed[name] ?? '';
    if (secret ? value === '' : value === (stored[name] ?? '')) return [];
    return [[name, value]];
  });
  return Object.fromEntries(changed);
}
