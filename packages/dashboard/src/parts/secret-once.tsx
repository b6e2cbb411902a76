import { Alert, Button, Checkbox, Group, Modal, Stack } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Command } from './command.tsx';
import { tickProps } from './bind.ts';

export type SecretOnceProps = {
  title: string;
  /** Null: nothing to show. */
  secret: string | null;
  /** The variable of an `.env` file: `BECKON_API_KEY`. */
  variable: string;
  onClose: () => void;
  /** The next step. */
  children?: ReactNode;
};

/** Shows a secret once. The dialog stays until the member confirms that the secret is stored. */
export function SecretOnce({ title, secret, variable, onClose, children }: SecretOnceProps): ReactNode {
  return (
    <Modal
      opened={secret !== null}
      onClose={() => {}}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      title={title}
      size="lg"
    >
      {secret !== null && (
        <SecretNotice secret={secret} variable={variable} onClose={onClose}>
          {children}
        </SecretNotice>
      )}
    </Modal>
  );
}

type SecretNoticeProps = { secret: string; variable: string; onClose: () => void; children: ReactNode };

function SecretNotice({ secret, variable, onClose, children }: SecretNoticeProps): ReactNode {
  const [isKept, setIsKept] = useState(false);
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="outline" icon={<TriangleAlert size={18} aria-hidden="true" />}>
        This secret is shown only once. It cannot be read again, neither here nor in the database.
      </Alert>
      <Command text={secret} what="secret" />
      <Command text={`${variable}=${secret}`} what="line for an .env file" />
      {children}
      <Checkbox {...tickProps(isKept, setIsKept)} label="I stored the secret where my server reads it" />
      <Group justify="flex-end">
        <Button disabled={!isKept} onClick={onClose}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

type SecretToShow = { secret: string | null; show: (secret: string) => void; close: () => void };

/** The secret of a dialog that creates one. Closing it also closes the dialog. */
export function useSecretOnce(onClose: () => void): SecretToShow {
  const [secret, setSecret] = useState<string | null>(null);
  const close = (): void => {
    setSecret(null);
    onClose();
  };
  return { secret, show: setSecret, close };
}
