import type { FloatingPosition } from '@mantine/core';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { lazyPart } from './load-part.ts';

export const TipBubble = lazyPart(() => import('./tip-bubble.tsx'), 'default');
const OPEN_AFTER_MS = 300;

export type TipProps = {
  label: ReactNode;
  position?: FloatingPosition;
  disabled?: boolean;
  /** Several lines of at most this width. */
  maxWidth?: number;
  /** One element. */
  children: ReactNode;
};

/**
 * A tooltip for one element, on hover and keyboard focus. Its code (13 kB with the positioning) is loaded when it first opens, so that no
 * page waits for it.
 */
export function Tip({ label, position = 'top', disabled = false, maxWidth, children }: TipProps): ReactNode {
  const [isOver, setOver] = useState(false);
  const [target, setTarget] = useState<HTMLElement | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const close = (): void => {
    clearTimeout(timer.current);
    setOver(false);
  };
  const open = (wrapper: HTMLElement): void => {
    if (disabled) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setTarget(wrapper.firstElementChild as HTMLElement | null);
      setOver(true);
    }, OPEN_AFTER_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!isOver) return undefined;
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') setOver(false);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isOver]);
  return (
    <span
      style={{ display: 'contents' }}
      onPointerEnter={({ currentTarget }) => open(currentTarget)}
      onPointerLeave={close}
      onPointerDown={close}
      onFocus={({ currentTarget, target: focused }) => {
        if (focused.matches(':focus-visible')) open(currentTarget);
      }}
      onBlur={close}
    >
      {children}
      {isOver && target !== null && !disabled && (
        <Suspense fallback={null}>
          <TipBubble target={target} label={label} position={position} maxWidth={maxWidth} />
        </Suspense>
      )}
    </span>
  );
}
