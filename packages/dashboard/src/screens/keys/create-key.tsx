import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange, useSession } from '../../api/index.ts';
import { Command, DialogFoot, ErrorBox } from '../../parts/index.ts';
import { SecretOnce } from '../../parts/secret-once.tsx';

export function CreateKey({ opened, onClose }: { opened: boolean; onClose: () => void }): ReactNode {
  const [secret, setSecret] = useState<string | null>(null);
  const url = useSession().data?.data.installation.public_url ?? window.location.origin;
  return (
    <>
      <Modal opened={opened && secret === null} onClose={onClose} title="Create a key">
        <KeyForm onClose={onClose} onMade={setSecret} />
      </Modal>
      <SecretOnce
        title="Your new key"
        secret={secret}
        variable="BECKON_API_KEY"
        onClose={() => {
          setSecret(null);
          onClose();
        }}
      >
        <Text size="sm">Send a first event with it:</Text>
        <Command text={firstEvent(url)} />
      </SecretOnce>
    </>
  );
}

type FormProps = { onClose: () => void; onMade: (secret: string) => void };

function KeyForm({ onClose, onMade }: FormProps): ReactNode {
  const [label, setLabel] = useState('');
  const create = useChange('POST /projects/:project/keys', {
    refreshes: ['GET /projects/:project/keys', 'GET /projects/:project/home'],
    onDone: ({ data }) => onMade(data.secret),
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    create.mutate({ body: { label: label.trim() } });
  };
  const fault = create.error?.fields['label'];
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          data-autofocus
          label="Label"
          description="The server that will hold it, so that you know it again"
          placeholder="Production, checkout"
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
          error={fault}
          maxLength={100}
        />
        {create.error && fault === undefined && <ErrorBox error={create.error} />}
        <DialogFoot onCancel={onClose}>
          <Button type="submit" loading={create.isPending} disabled={label.trim() === ''}>
            Create key
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  );
}

/** Without the secret: the shell takes it from where it was stored. */
function firstEvent(url: string): string {
  return [
    `curl ${url}/api/v1/events \\`,
    `  -H "Authorization: Bearer $BECKON_API_KEY" -H 'Content-Type: application/json' \\`,
    `  -d '{"external_user_id":"ada","name":"signed_up"}'`,
  ].join('\n');
}
