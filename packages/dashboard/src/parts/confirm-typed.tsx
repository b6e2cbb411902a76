import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { DialogFoot } from './dialog-foot.tsx';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { ErrorBox, type Failed } from './error-box.tsx';
import { isTyped } from './is-typed.ts';

export type ConfirmTypedProps = {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** The text to type: the name of the object. */
  name: string;
  /** The verb on the button: "Revoke". */
  action: string;
  run: () => void;
  isRunning?: boolean;
  error?: Failed | null;
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
function TypedForm({
  onClose,
  name,
  action,
  run,
  isRunning = false,
  error,
  children,
}: ConfirmTypedProps): ReactNode {
  const [typed, setTyped] = useState('');
  const isRight = isTyped(typed, name);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (isRight && !isRunning) run();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
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
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
        {error && <ErrorBox error={error} />}
        <DialogFoot onCancel={onClose}>
          <Button type="submit" color="red.9" disabled={!isRight} loading={isRunning}>
            {action}
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  );
}
