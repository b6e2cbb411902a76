import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { ErrorBox, refused, notify } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';

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
    <Button
      variant={again ? 'default' : 'filled'}
      loading={check.isPending}
      onClick={() => check.mutate({ params: { import: dataImport.id } })}
    >
      {again ? 'Check again' : 'Check'}
    </Button>
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
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    give.mutate({ params: { import: dataImport.id }, body: { key: key.trim() } });
  };
  const fault = give.error?.fields['key'];
  return (
    <Section
      title="Replace key"
      text="Use another key if Stripe rejected the current one, or if its permissions are too narrow."
    >
      <form onSubmit={submit} autoComplete="off">
        <Stack gap="sm">
          <PasswordInput
            label="Restricted key"
            placeholder="rk_live_…"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            error={fault}
            autoComplete="off"
            visibilityToggleButtonProps={{ 'aria-label': 'Show key' }}
          />
          {give.error && fault === undefined && <ErrorBox error={give.error} />}
          <Group>
            <Button type="submit" variant="default" loading={give.isPending} disabled={key.trim() === ''}>
              Use this key
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
