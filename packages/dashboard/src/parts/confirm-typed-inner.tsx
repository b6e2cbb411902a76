import { Modal, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { DialogAction } from './dialog-action.tsx';
import type { ConfirmTypedProps } from './confirm-typed.tsx';
import { Form } from './form.tsx';
import { isTyped } from './is-typed.ts';
import { textProps } from './bind.ts';

export function ConfirmTypedInner(props: ConfirmTypedProps): ReactNode {
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
