import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = { onClick: () => void; children: ReactNode; 'aria-label'?: string };

/** A button that looks like a link. */
export function TextButton({ onClick, children, ...rest }: Props): ReactNode {
  return (
    <Anchor component="button" type="button" size="sm" onClick={onClick} ta="start" w="fit-content" {...rest}>
      {children}
    </Anchor>
  );
}
