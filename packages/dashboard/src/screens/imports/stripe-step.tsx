import { Group, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { ErrorBox, refused, notify } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';
import { Form } from '../../parts/form.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { StripeKeyInput } from './stripe-key-input.tsx';

/** The step before the check, also shown after Stripe rejected the key. */
export function StripeStep({ dataImport }: { dataImport: Import }): ReactNode {
  const isReady = dataImport.state === 'ready';
  return (
    <Stack gap="lg">
      {isReady && (
        <Section
          title="Check"
          text="Reads customers, subscriptions and invoices once and counts them. The check imports nothing."
        >
          <CheckButton dataImport={dataImport} />
        </Section>
      )}
      {dataImport.problem !== null && <NewKey dataImport={dataImport} />}
    </Stack>
  );
}

export function CheckButton({
  dataImport,
  again = false,
}: {
  dataImport: Import;
  again?: boolean;
}): ReactNode {
  const check = useChange('POST /projects/:project/imports/:import/check', {
    refreshes: ['GET /projects/:project/imports/:import', 'GET /projects/:project/imports'],
    onRefused: (error) => refused(error),
  });
  return (
    <ActButton
      change={check}
      variant={again ? 'default' : 'filled'}
      onClick={() => check.mutate({ params: { import: dataImport.id } })}
    >
      {again ? 'Check again' : 'Check'}
    </ActButton>
  );
}

function NewKey({ dataImport }: { dataImport: Import }): ReactNode {
  const [key, setKey] = useState('');
  const give = useChange('POST /projects/:project/imports/:import/key', {
    refreshes: ['GET /projects/:project/imports/:import'],
    onDone: () => {
      setKey('');
      notify('Key saved');
    },
  });
  const submit = (): void => give.mutate({ params: { import: dataImport.id }, body: { key: key.trim() } });
  const fault = give.error?.fields['key'];
  return (
    <Section
      title="Replace key"
      text="Use another key if Stripe rejected the current one, or if its permissions are too narrow."
    >
      <Form onSubmit={submit} autoComplete="off" gap="sm">
        <StripeKeyInput value={key} onType={setKey} error={fault} />
        {give.error && fault === undefined && <ErrorBox error={give.error} />}
        <Group>
          <SubmitButton change={give} variant="default" disabled={key.trim() === ''}>
            Use this key
          </SubmitButton>
        </Group>
      </Form>
    </Section>
  );
}
