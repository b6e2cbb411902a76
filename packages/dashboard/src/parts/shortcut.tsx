import { Kbd } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';

const SAID: Record<string, string> = { Escape: 'Esc', ' ': 'Space', ArrowUp: '↑', ArrowDown: '↓' };

/** A keyboard shortcut: `g r`, `Shift+j`, `Mod+k`. */
export function Shortcut({ keys }: { keys: string }): ReactNode {
  const isMac = navigator.userAgent.includes('Mac');
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      {keys.split(' ').map((key, index) => (
        <Fragment key={key}>
          {index > 0 && ' '}
          <Kbd size="xs">
            {key
              .split('+')
              .map((part) => (part === 'Mod' ? (isMac ? '⌘' : 'Ctrl') : (SAID[part] ?? part)))
              .join(' ')}
          </Kbd>
        </Fragment>
      ))}
    </span>
  );
}
