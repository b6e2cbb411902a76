import { Button, Group, Stack, Text } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { PredicateEditor } from '../../parts/predicate/index.ts';
import { useFacts } from './facts.ts';

type Props = {
  label: string;
  /** The text shown without a condition. */
  none: string;
  value: unknown;
  onChange: (value: unknown) => void;
  path: string;
  /** The condition that is added first. */
  start?: unknown;
};

/** A condition on the user; without it, all users match. */
export function ConditionField({ label, none, value, onChange, path, start = START }: Props): ReactNode {
  const facts = useFacts();
  if (value === undefined)
    return (
      <Group gap="sm">
        <Text size="sm" c="dimmed">
          {none}
        </Text>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Plus size={14} aria-hidden="true" />}
          disabled={facts.readOnly}
          onClick={() => onChange(start)}
        >
          {label}
        </Button>
      </Group>
    );
  return (
    <Stack gap={6}>
      <PredicateEditor
        value={value}
        onChange={onChange}
        facts={facts}
        faults={facts.faults}
        path={path}
        readOnly={facts.readOnly}
      />
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<X size={14} aria-hidden="true" />}
        disabled={facts.readOnly}
        onClick={() => onChange(undefined)}
        w="fit-content"
      >
        Remove condition
      </Button>
    </Stack>
  );
}

const START = { trait: 'plan', equals: 'trial' };
