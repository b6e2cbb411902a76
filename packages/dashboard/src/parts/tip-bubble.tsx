import { type FloatingPosition, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  target: HTMLElement;
  label: ReactNode;
  position?: FloatingPosition;
  maxWidth?: number | undefined;
};

/** The open tooltip of an element. */
export default function TipBubble({ target, label, position = 'top', maxWidth }: Props): ReactNode {
  return (
    <Tooltip
      target={target}
      opened
      label={label}
      position={position}
      {...(maxWidth === undefined ? {} : { multiline: true, maw: maxWidth })}
    />
  );
}
