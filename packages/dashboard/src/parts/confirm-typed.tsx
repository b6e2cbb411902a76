import { Modal, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { DialogAction } from './dialog-action.tsx';
import type { Failed } from './error-box.tsx';
import { Form } from './form.tsx';
import { isTyped } from './is-typed.ts';
import { textProps } from './bind.ts';

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
  const { opened, onClose, title } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <TypedForm {...props} />
    </Modal>
  );
}

/** A component of its own, so that the typed text is reset when the dialog closes. */
function TypedForm({ onClose, name, action, run, change, children }: ConfirmTypedProps): ReactNode {
  const [typed, setTyped] = useState('');
  const isRight = isTyped(typed, name);
  return (
    <Form onSubmit={() => isRight && !change.isPending && run()}>
      <Text size="sm" component="div">
        {children}
      </Text>
      <TextInput
        data-autofocus
        label={
          <>
            Type <code style={{ whiteSpace: 'pre-wrap' }}>{name}</code> to confirm
          </>
        }
        {...textProps(typed, setTyped)}
        autoComplete="off"
        spellCheck={false}
      />
      <DialogAction change={change} onCancel={onClose} disabled={!isRight} isDestructive>
        {action}
      </DialogAction>
    </Form>
  );
}
