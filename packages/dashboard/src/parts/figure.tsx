import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Muted } from './muted.tsx';

/** A number with its name, and a note below. */
export function Figure({
  label,
  count,
  note,
}: {
  label: string;
  count: number;
  note: string | null;
}): ReactNode {
  return (
    <Paper withBorder p="sm">
      <Muted size="xs">{label}</Muted>
      <Text fw={600} size="lg">
        {count.toLocaleString('en-GB')}
      </Text>
      <Muted size="xs">{note ?? '\u00A0'}</Muted>
    </Paper>
  );
}
