import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';

export type SidePanelProps = {
  opened: boolean;
  onClose: () => void;
  title: string;
  size?: 'md' | 'lg' | 'xl';
  children: ReactNode;
};

/** What belongs to one row, beside its list. Esc closes it, and the focus goes back to where it was. */
export function SidePanel({ opened, onClose, title, size = 'lg', children }: SidePanelProps): ReactNode {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      title={title}
      position="right"
      size={size}
      overlayProps={{ backgroundOpacity: 0.15 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Drawer>
  );
}
