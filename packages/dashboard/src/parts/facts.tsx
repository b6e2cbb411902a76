import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type Fact = { label: string; value: ReactNode };

/** A list of names and values. */
export function Facts({ facts, cols = 4 }: { facts: Fact[]; cols?: number }): ReactNode {
  return (
    <SimpleGrid
      component="dl"
      cols={{ base: 2, sm: Math.min(cols, 3), lg: cols }}
      spacing="md"
      verticalSpacing="sm"
      m={0}
    >
      {facts.map(({ label, value }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  );
}
