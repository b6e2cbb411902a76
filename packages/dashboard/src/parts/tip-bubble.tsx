import { type FloatingPosition, Tooltip } from '@mantine/core';
import { type ReactNode, useEffect, useId } from 'react';

type Props = {
  target: HTMLElement;
  label: ReactNode;
  position?: FloatingPosition;
  maxWidth?: number | undefined;
};

/** The open tooltip of an element, which also describes it to screen readers. */
export default function TipBubble({ target, label, position = 'top', maxWidth }: Props): ReactNode {
  const id = useId();
  useEffect(() => {
    target.setAttribute('aria-describedby', id);
    return () => target.removeAttribute('aria-describedby');
  }, [target, id]);
  return (
    <Tooltip
      id={id}
      target={target}
      opened
      label={label}
      position={position}
      {...(maxWidth === undefined ? {} : { multiline: true, maw: maxWidth })}
    />
  );
}
