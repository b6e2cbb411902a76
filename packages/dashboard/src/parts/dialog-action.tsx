import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { DialogFoot } from './dialog-foot.tsx';
import { ErrorBox, type Failed } from './error-box.tsx';

export type DialogActionProps = {
  /** The result of `useChange`. */
  change: { isPending: boolean; error: (Failed & { fields?: Record<string, string> }) | null };
  /** The fields that show their own errors. */
  fields?: string[];
  /** Omitted in a form: the button submits it. */
  run?: () => void;
  onCancel: () => void;
  disabled?: boolean;
  isDestructive?: boolean;
  /** The verb on the button. */
  children: ReactNode;
};

/** The end of a dialog: the error of its change, cancel, and the action. */
export function DialogAction(props: DialogActionProps): ReactNode {
  const { change, fields = [], run, onCancel, disabled = false, isDestructive = false, children } = props;
  const { error, isPending } = change;
  const isAtField = fields.some((field) => error?.fields?.[field] !== undefined);
  return (
    <>
      {error && !isAtField && <ErrorBox error={error} />}
      <DialogFoot onCancel={onCancel}>
        <Button
          {...(run ? { onClick: run } : { type: 'submit' })}
          {...(isDestructive ? { color: 'red.9' } : {})}
          loading={isPending}
          disabled={disabled}
        >
          {children}
        </Button>
      </DialogFoot>
    </>
  );
}
