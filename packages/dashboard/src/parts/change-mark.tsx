import { Group, Text } from '@mantine/core';
import { ArrowDown, ArrowUp, Minus } from 'lucide-react';
import type { ReactNode } from 'react';
import { changeOf } from './email-days.ts';

const ICONS = { up: ArrowUp, down: ArrowDown, same: Minus };

/** The change of a count against the previous period. More is not always better, so it has no color. */
export function ChangeMark({ now, before }: { now: number; before: number }): ReactNode {
  const { direction, words } = changeOf(now, before);
  const Icon = ICONS[direction];
  return (
    <Group
      gap={3}
      wrap="nowrap"
      title={`${before.toLocaleString('en-GB')} in the previous period`}
      display="inline-flex"
    >
      <Icon size={13} aria-hidden="true" />
      <Text span size="xs">
        {words}
      </Text>
    </Group>
  );
}
