import { Button, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useNow } from './ticking.ts';

type Props = { label: string; value: string; onMoment: (at: string) => void };

/** A field for a past time in ISO 8601. Give it a `key` of its value if that also changes elsewhere. */
export function MomentField({ label, value, onMoment }: Props): ReactNode {
  const [typed, setTyped] = useState(value);
  const now = useNow();
  const isMoment = !Number.isNaN(Date.parse(typed)) && Date.parse(typed) <= now;
  return (
    <>
      <TextInput
        label={label}
        description="ISO 8601, such as 2026-01-31T14:30:00Z"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        error={isMoment || typed === '' ? undefined : 'Enter a past time in ISO 8601 format'}
        w={260}
      />
      <Button
        variant="default"
        disabled={!isMoment}
        onClick={() => onMoment(new Date(Date.parse(typed)).toISOString())}
      >
        Show
      </Button>
    </>
  );
}
