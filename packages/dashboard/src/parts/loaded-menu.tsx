import { Menu, type MenuProps } from '@mantine/core';
import { cloneElement, type ReactNode, useEffect, useRef, useState } from 'react';
import type { MenuButton } from './later-menu.tsx';

type Props = Pick<MenuProps, 'position' | 'width' | 'closeOnItemClick'> &
  MenuButton & { maxHeight?: string; children: ReactNode };

/** The menu of a `laterMenu`. It opens when it is loaded, because its button was clicked before. */
export function LoadedMenu({ button, maxHeight, children, ...props }: Props): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const target = useRef<HTMLElement>(null);
  useEffect(() => {
    // Replaces the button that was clicked, and gets the focus back when the menu is closed.
    target.current?.focus({ preventScroll: true });
    setOpen(true);
  }, []);
  return (
    <Menu opened={isOpen} onChange={setOpen} {...props}>
      <Menu.Target>{cloneElement(button, { ref: target })}</Menu.Target>
      <Menu.Dropdown mah={maxHeight} style={{ overflowY: 'auto' }}>
        {children}
      </Menu.Dropdown>
    </Menu>
  );
}
