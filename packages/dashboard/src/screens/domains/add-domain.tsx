import { Checkbox, Modal, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Form } from '../../parts/form.tsx';
import { textProps, tickProps } from '../../parts/bind.ts';

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
  const submit = (): void => add.mutate({ body: { name: name.trim(), warm } });
  return (
    <Form onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Domain"
        description="Use a subdomain, such as mail.example.com, to protect the reputation of your main domain"
        placeholder="mail.example.com"
        {...textProps(name, setName)}
        error={fault}
        spellCheck={false}
        autoCapitalize="none"
      />
      <Checkbox
        label="Skip warm-up"
        description="For a domain that has sent email for weeks. A new domain starts with a daily limit that grows."
        {...tickProps(warm, setWarm)}
      />
      <DialogAction change={add} fields={['name', 'domain']} onCancel={onClose} disabled={name.trim() === ''}>
        Add domain
      </DialogAction>
    </Form>
  );
}
