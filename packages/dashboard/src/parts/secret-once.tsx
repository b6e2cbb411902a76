import { Alert, Button, Checkbox, Group, Modal, Stack } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Command } from './command.tsx';

export type SecretOnceProps = {
  title: string;
  /** Null: there is none to show. */
  secret: string | null;
  /** The line of an `.env` file that holds it: `BECKON_API_KEY`. */
  variable: string;
  onClose: () => void;
  /** What is done with it next. */
  children?: ReactNode;
};

/** A secret that is told here and never again: the dialog stays until somebody says that it is kept. */
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
        <Told secret={secret} variable={variable} onClose={onClose}>
          {children}
        </Told>
      )}
    </Modal>
  );
}

type ToldProps = { secret: string; variable: string; onClose: () => void; children: ReactNode };

function Told({ secret, variable, onClose, children }: ToldProps): ReactNode {
  const [isKept, setIsKept] = useState(false);
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="outline" icon={<TriangleAlert size={18} aria-hidden="true" />}>
        It is shown this once. Nobody can read it again, here or in the database.
      </Alert>
      <Command text={secret} what="secret" />
      <Command text={`${variable}=${secret}`} what="line for an .env file" />
      {children}
      <Checkbox
        checked={isKept}
        onChange={(event) => setIsKept(event.currentTarget.checked)}
        label="I have stored it where my server reads it"
      />
      <Group justify="flex-end">
        <Button disabled={!isKept} onClick={onClose}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
