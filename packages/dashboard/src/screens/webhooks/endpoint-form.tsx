import { WEBHOOK_TYPES } from '@beckon/contract';
import type { WebhookEndpoint, WebhookEndpointInput } from '@beckon/contract/dashboard';
import { Checkbox, Group, NumberInput, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { ApiError } from '../../api/index.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Form } from '../../parts/form.tsx';

export type EndpointInput = WebhookEndpointInput & { url: string };
type Props = {
  endpoint?: WebhookEndpoint;
  action: string;
  change: { isPending: boolean; error: ApiError | null };
  onSave: (input: EndpointInput) => void;
  onClose: () => void;
};

type Typed = {
  url: string;
  description: string;
  types: string[] | null;
  per_second: number | string;
  in_flight_max: number | string;
};

const KNOWN = ['url', 'types', 'description', 'per_second', 'in_flight', 'in_flight_max'];

export function EndpointForm({ endpoint, action, change, onSave, onClose }: Props): ReactNode {
  const [typed, setTyped] = useState<Typed>(() => startOf(endpoint));
  const set = (more: Partial<Typed>): void => setTyped((was) => ({ ...was, ...more }));
  const fields = change.error?.fields ?? {};
  const submit = (): void => onSave(inputOf(typed));
  return (
    <Form onSubmit={submit}>
      <TextInput
        data-autofocus
        label="URL"
        description="An https URL with a public address."
        placeholder="https://example.com/webhooks"
        value={typed.url}
        onChange={(event) => set({ url: event.currentTarget.value })}
        error={fields['url']}
        inputMode="url"
        spellCheck={false}
      />
      <TextInput
        label="Description"
        value={typed.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
        error={fields['description']}
        maxLength={200}
      />
      <Types types={typed.types} onChange={(types) => set({ types })} fault={fields['types']} />
      <Group grow align="flex-start">
        <NumberInput
          label="Maximum requests per second"
          value={typed.per_second}
          onChange={(value) => set({ per_second: value })}
          min={0.1}
          error={fields['per_second']}
        />
        <NumberInput
          label="Maximum concurrent requests"
          value={typed.in_flight_max}
          onChange={(value) => set({ in_flight_max: value })}
          min={1}
          error={fields['in_flight'] ?? fields['in_flight_max']}
        />
      </Group>
      <DialogAction change={change} fields={KNOWN} onCancel={onClose} disabled={typed.url.trim() === ''}>
        {action}
      </DialogAction>
    </Form>
  );
}

type TypesProps = {
  types: string[] | null;
  onChange: (types: string[] | null) => void;
  fault: string | undefined;
};

function Types({ types, onChange, fault }: TypesProps): ReactNode {
  return (
    <Stack gap="xs">
      <Checkbox
        label="All events, including future ones"
        checked={types === null}
        onChange={(event) => onChange(event.currentTarget.checked ? null : [...WEBHOOK_TYPES])}
      />
      {types !== null && (
        <Checkbox.Group label="Only these events" value={types} onChange={onChange} error={fault}>
          <Stack gap={4} mt={4}>
            {WEBHOOK_TYPES.map((type) => (
              <Checkbox key={type} value={type} label={type} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </Stack>
  );
}

function startOf(endpoint: WebhookEndpoint | undefined): Typed {
  return {
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    types: endpoint?.types ?? null,
    per_second: endpoint?.per_second ?? 50,
    in_flight_max: endpoint?.in_flight_max ?? 10,
  };
}

function inputOf({ url, description, types, per_second: rate, in_flight_max: atOnce }: Typed): EndpointInput {
  return {
    url: url.trim(),
    description,
    types,
    ...(rate === '' ? {} : { per_second: Number(rate) }),
    ...(atOnce === '' ? {} : { in_flight_max: Number(atOnce) }),
  };
}
