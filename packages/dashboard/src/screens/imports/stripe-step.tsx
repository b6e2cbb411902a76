import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { ErrorBox, refused, told } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';

/** Before the check, and where Stripe refused the key. */
export function StripeStep({ one }: { one: Import }): ReactNode {
  const isReady = one.state === 'ready';
  return (
    <Stack gap="lg">
      {isReady && (
        <Section
          title="Check"
          text="Reads customers, subscriptions and invoices once, and counts what they come to. Nothing is taken yet."
        >
          <CheckButton one={one} />
        </Section>
      )}
      {one.problem !== null && <NewKey one={one} />}
    </Stack>
  );
}

export function CheckButton({ one, again = false }: { one: Import; again?: boolean }): ReactNode {
  const check = useChange('POST /projects/:project/imports/:import/check', {
    refreshes: ['GET /projects/:project/imports/:import', 'GET /projects/:project/imports'],
    onRefused: (error) => refused(error),
  });
  return (
    <Button
      variant={again ? 'default' : 'filled'}
      loading={check.isPending}
      onClick={() => check.mutate({ params: { import: one.id } })}
    >
      {again ? 'Check again' : 'Check'}
    </Button>
  );
}

function NewKey({ one }: { one: Import }): ReactNode {
  const [key, setKey] = useState('');
  const give = useChange('POST /projects/:project/imports/:import/key', {
    refreshes: ['GET /projects/:project/imports/:import'],
    onDone: () => {
      setKey('');
      told('The key was taken');
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    give.mutate({ params: { import: one.id }, body: { key: key.trim() } });
  };
  const fault = give.error?.fields['key'];
  return (
    <Section title="Another key" text="Where the one that was given was refused, or may read too little.">
      <form onSubmit={submit} autoComplete="off">
        <Stack gap="sm">
          <PasswordInput
            label="Restricted key"
            placeholder="rk_live_…"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            error={fault}
            autoComplete="off"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
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
