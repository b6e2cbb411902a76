import { List, type ListProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A list of sentences. */
export function Bullets({ items, ...rest }: Omit<ListProps, 'children'> & { items: string[] }): ReactNode {
  return (
    <List size="sm" spacing={2} {...rest}>
      {items.map((item) => (
        <List.Item key={item} style={{ overflowWrap: 'anywhere' }}>
          {item}
        </List.Item>
      ))}
    </List>
  );
}
