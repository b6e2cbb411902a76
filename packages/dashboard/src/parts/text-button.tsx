import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';

/** A button that looks like a link. */
export function TextButton({ onClick, children }: { onClick: () => void; children: ReactNode }): ReactNode {
  return (
    <Anchor component="button" type="button" size="sm" onClick={onClick} ta="start" w="fit-content">
      {children}
    </Anchor>
  );
}
