import type { ReactNode } from 'react';
import type { Failed } from './error-box.tsx';
import { later, WhenOpened } from './later.tsx';

const ConfirmTypedInner = later(() => import('./confirm-typed-inner.tsx'), 'ConfirmTypedInner', null);

export type ConfirmTypedProps = {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** The text to type: the name of the object. */
  name: string;
  /** The verb on the button: "Revoke". */
  action: string;
  run: () => void;
  /** The result of `useChange`. */
  change: { isPending: boolean; error: Failed | null };
  /** The consequences, and what cannot be undone. */
  children: ReactNode;
};

/** Confirms an irreversible action: the member types the object's name. */
export function ConfirmTyped(props: ConfirmTypedProps): ReactNode {
  return (
    <WhenOpened opened={props.opened}>
      <ConfirmTypedInner {...props} />
    </WhenOpened>
  );
}
