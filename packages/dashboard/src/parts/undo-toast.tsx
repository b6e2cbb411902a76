import { Button, Group, Text } from '@mantine/core';
import { Undo2 } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { Shortcut } from './shortcut.tsx';
import { useNow } from './ticking.ts';
import { useKeyboard } from './use-keys.tsx';

export type UndoToastProps = { message: string; until: number; onUndo: () => void };

/** The content of an undo notification. Its button has a line of its own, so that a long message does not shorten it. */
export default function UndoToast({ message, until, onUndo }: UndoToastProps): ReactNode {
  const secondsLeft = Math.max(0, Math.ceil((until - useNow()) / 1_000));
  const { wishes } = useKeyboard();
  const key = wishes.instead['u'] ?? 'u';
  useKeysAfterFrame();
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
      <Group gap="xs" mt={6}>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Undo2 size={14} aria-hidden="true" />}
          aria-label="Undo"
          {...(wishes.off ? {} : { 'aria-keyshortcuts': key })}
          onClick={onUndo}
        >
          Undo
        </Button>
        {!wishes.off && (
          <span aria-hidden="true">
            <Shortcut keys={key} />
          </span>
        )}
        <Text size="xs" c="dimmed" component="span" role="timer" aria-live="off">
          {secondsLeft} s left
        </Text>
      </Group>
    </>
  );
}

/**
 * A click in an email's frame moves the focus into it, and the page no longer gets the keys. They return to the page during an undo offer.
 * The Tab key skips the frames in that time. Otherwise it would enter a frame and be sent back again and again.
 */
function useKeysAfterFrame(): void {
  useEffect(() => {
    const onBlur = (): void => {
      if (document.activeElement instanceof HTMLIFrameElement) document.activeElement.blur();
    };
    const onTab = ({ key }: KeyboardEvent): void => {
      if (key === 'Tab') for (const frame of document.querySelectorAll('iframe')) frame.tabIndex = -1;
    };
    globalThis.addEventListener('blur', onBlur);
    document.addEventListener('keydown', onTab, true);
    return () => {
      globalThis.removeEventListener('blur', onBlur);
      document.removeEventListener('keydown', onTab, true);
      for (const frame of document.querySelectorAll('iframe')) frame.removeAttribute('tabindex');
    };
  }, []);
}
