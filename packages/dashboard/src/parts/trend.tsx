import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Sparkline } from './sparkline.tsx';

/** A sparkline with a number beside it, in a cell. */
export function Trend({ values, label, text }: { values: number[]; label: string; text: string }): ReactNode {
  return (
    <Group gap={6} wrap="nowrap">
      <Sparkline values={values} label={label} />
      <Text size="xs">{text}</Text>
    </Group>
  );
}
