import type { SendingDomain } from '@beckon/contract/dashboard';
import { Checkbox, Group, TextInput, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange, useMay } from '../../api/index.ts';
import { ErrorBox, notify } from '../../parts/index.ts';
import { Form } from '../../parts/form.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { textProps, tickProps } from '../../parts/bind.ts';

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
  const submit = (): void =>
    save.mutate({ params: { domain: domain.name }, body: { throttle: throttle.trim(), warm } });
  return (
    <Form onSubmit={submit} aria-labelledby="speed" gap="sm" maw={480}>
      <Title order={2} size="h5" id="speed">
        Throttle
      </Title>
      <TextInput
        label="Maximum rate"
        description="Such as 5/s or 300/m; off for no limit"
        {...textProps(throttle, setThrottle)}
        error={fault}
        disabled={!may}
      />
      <Checkbox
        label="Skip warm-up: the domain has sent email for weeks"
        {...tickProps(warm, setWarm)}
        disabled={!may}
      />
      {save.error && fault === undefined && <ErrorBox error={save.error} />}
      {may && (
        <Group>
          <SubmitButton change={save} size="sm" disabled={!isChanged}>
            Save
          </SubmitButton>
        </Group>
      )}
    </Form>
  );
}
