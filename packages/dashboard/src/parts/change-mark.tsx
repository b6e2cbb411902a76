import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { changeOf } from './email-days.ts';

/** Characters, because icons would be loaded with every screen. */
const ARROWS = { up: '↑', down: '↓', same: '–' };

/** The change of a count against the previous period. More is not always better, so it has no color. */
export function ChangeMark({ now, before }: { now: number; before: number }): ReactNode {
  const { direction, words } = changeOf(now, before);
  return (
    <Group
      gap={3}
      wrap="nowrap"
      title={`${before.toLocaleString('en-GB')} in the previous period`}
      display="inline-flex"
    >
      <Text span size="xs" aria-hidden="true">
        {ARROWS[direction]}
      </Text>
      <Text span size="xs">
        {words}
      </Text>
    </Group>
  );
}
