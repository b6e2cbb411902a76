import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';

export type SidePanelProps = {
  opened: boolean;
  onClose: () => void;
  title: string;
  size?: 'md' | 'lg' | 'xl';
  children: ReactNode;
};

/** A drawer for one row of a list. Esc closes it and returns the focus. */
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
