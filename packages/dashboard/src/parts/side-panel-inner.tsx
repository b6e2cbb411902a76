import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SidePanelProps } from './side-panel.tsx';

export function SidePanelInner({ opened, onClose, title, size = 'lg', children }: SidePanelProps): ReactNode {
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
