import { Button, Checkbox, Modal, Stack, TextInput } from '@mantine/core';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox } from '../../parts/index.ts';

type Props = { opened: boolean; onClose: () => void; onAdded: (name: string) => void };

export function AddDomain({ opened, onClose, onAdded }: Props): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="Add domain">
      <DomainForm onClose={onClose} onAdded={onAdded} />
    </Modal>
  );
}

function DomainForm({ onClose, onAdded }: Omit<Props, 'opened'>): ReactNode {
  const [name, setName] = useState('');
  const [warm, setWarm] = useState(false);
  const add = useChange('POST /projects/:project/domains', {
    refreshes: ['GET /projects/:project/domains'],
    onDone: ({ data }) => onAdded(data.name),
  });
  const fault = add.error?.fields['name'] ?? add.error?.fields['domain'];
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    add.mutate({ body: { name: name.trim(), warm } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          data-autofocus
          label="Domain"
          description="Use a subdomain, such as mail.example.com, to protect the reputation of your main domain"
          placeholder="mail.example.com"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fault}
          spellCheck={false}
          autoCapitalize="none"
        />
        <Checkbox
          label="Skip warm-up"
          description="For a domain that has sent email for weeks. A new domain starts with a daily limit that grows."
          checked={warm}
          onChange={(event) => setWarm(event.currentTarget.checked)}
        />
        {add.error && fault === undefined && <ErrorBox error={add.error} />}
        <DialogFoot onCancel={onClose}>
          <Button type="submit" loading={add.isPending} disabled={name.trim() === ''}>
            Add domain
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  );
}
