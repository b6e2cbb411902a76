import { Button, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useNow } from './ticking.ts';

type Props = { label: string; value: string; onMoment: (at: string) => void };

/** A moment that lies back, typed as it is written everywhere; `key` it by its value where that changes elsewhere too. */
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
        error={isMoment || typed === '' ? undefined : 'This is no moment of the past'}
        w={260}
      />
      <Button
        variant="default"
        disabled={!isMoment}
        onClick={() => onMoment(new Date(Date.parse(typed)).toISOString())}
      >
        Go there
      </Button>
    </>
  );
}
