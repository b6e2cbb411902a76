import { Text, type TextProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** Text of less weight: explanations, second lines. */
export function Muted({ size = 'sm', children, ...rest }: TextProps & { children: ReactNode }): ReactNode {
  return (
    <Text size={size} c="dimmed" {...rest}>
      {children}
    </Text>
  );
}
