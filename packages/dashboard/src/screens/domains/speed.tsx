import type { SendingDomain } from '@beckon/contract/dashboard';
import { Button, Checkbox, Group, Stack, TextInput, Title } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange, useMay } from '../../api/index.ts';
import { ErrorBox, notify } from '../../parts/index.ts';

/** The throttle of a domain. */
export function Speed({ domain }: { domain: SendingDomain }): ReactNode {
  const may = useMay('admin');
  const [throttle, setThrottle] = useState(domain.throttle);
  const [warm, setWarm] = useState(domain.warm);
  const save = useChange('PATCH /projects/:project/domains/:domain', {
    refreshes: [
      'GET /projects/:project/domains',
      'GET /projects/:project/domains/:domain',
      'GET /projects/:project/sending',
    ],
    onDone: () => notify('Saved. Emails held by the throttle are checked again.'),
  });
  const fault = save.error?.fields['throttle'];
  const isChanged = throttle !== domain.throttle || warm !== domain.warm;
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    save.mutate({ params: { domain: domain.name }, body: { throttle: throttle.trim(), warm } });
  };
  return (
    <form onSubmit={submit} aria-labelledby="speed">
      <Stack gap="sm" maw={480}>
        <Title order={2} size="h5" id="speed">
          Throttle
        </Title>
        <TextInput
          label="Maximum rate"
          description="Such as 5/s or 300/m; off for no limit"
          value={throttle}
          onChange={(event) => setThrottle(event.currentTarget.value)}
          error={fault}
          disabled={!may}
        />
        <Checkbox
          label="Skip warm-up: the domain has sent email for weeks"
          checked={warm}
          onChange={(event) => setWarm(event.currentTarget.checked)}
          disabled={!may}
        />
        {save.error && fault === undefined && <ErrorBox error={save.error} />}
        {may && (
          <Group>
            <Button type="submit" size="sm" disabled={!isChanged} loading={save.isPending}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
