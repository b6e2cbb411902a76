import { Button } from '@mantine/core';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';

/** The button of a list that opens the form of a new row. */
export function NewButton({ onClick, children }: { onClick: () => void; children: ReactNode }): ReactNode {
  return (
    <Button leftSection={<Plus size={16} aria-hidden="true" />} onClick={onClick}>
      {children}
    </Button>
  );
}
