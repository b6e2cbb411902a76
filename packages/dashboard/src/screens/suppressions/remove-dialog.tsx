import { Modal, Select, Text, TextInput, type TextInputProps } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { RemovalReason, SuppressionListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { notify } from '../../parts/index.ts';
import { REASONS, REMOVAL_CHOICES } from './words.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Form } from '../../parts/form.tsx';

type Props = {
  suppression: SuppressionListed;
  opened: boolean;
  onClose: () => void;
  onRemoved: () => void;
};

/** Asks for the address once more and for a reason: the recipient may have asked to receive no email. */
export function RemoveDialog(props: Props): ReactNode {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="Remove suppression">
      <RemoveForm {...props} />
    </Modal>
  );
}

function RemoveForm({ suppression, onClose, onRemoved }: Props): ReactNode {
  const { kind, value, hash } = suppression;
  const form = useForm({ initialValues: { confirm: '', reason: null as RemovalReason | null } });
  const remove = useChange('POST /projects/:project/suppressions/remove', {
    refreshes: ['GET /projects/:project/suppressions', 'GET /projects/:project/suppressions/check'],
    onDone: () => {
      notify('Suppression removed');
      onRemoved();
    },
    onRefused: ({ fields }) => {
      const wrong = fields.email ?? fields.user;
      form.setErrors({ ...fields, ...(wrong === undefined ? {} : { confirm: wrong }) });
    },
  });
  const typed = form.values.confirm.trim();
  // For an erased user, only the server can compare the address, by its hash.
  const isRight = value === null ? typed !== '' : typed.toLowerCase() === value.toLowerCase();
  const submit = form.onSubmit(({ confirm, reason }) => {
    const recipient = kind === 'email' ? { email: value ?? typed } : { user: value ?? typed };
    const row = hash === null ? {} : { hash };
    if (reason !== null) remove.mutate({ body: { ...recipient, ...row, confirm, reason } });
  });
  return (
    <Form onSubmit={submit}>
      <Text size="sm">
        {REASONS[suppression.reason]}: {WARNINGS[suppression.reason]} Remove the suppression only if you know
        that they want email again. The audit log records your name and the reason.
      </Text>
      <TextInput
        data-autofocus
        {...confirmWords(suppression)}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('confirm')}
      />
      <Select label="Reason" required data={REMOVAL_CHOICES} {...form.getInputProps('reason')} />
      <DialogAction
        change={remove}
        fields={FIELDS}
        onCancel={onClose}
        disabled={!isRight || form.values.reason === null}
        isDestructive
      >
        Remove suppression
      </DialogAction>
    </Form>
  );
}

/** The fields of the form, and those of the request that belong to them. */
const FIELDS = ['confirm', 'email', 'user', 'hash', 'reason'];

function confirmWords({ kind, value }: SuppressionListed): Pick<TextInputProps, 'label' | 'description'> {
  if (value === null)
    return {
      label: `Type the ${kind === 'email' ? 'address' : 'user id'} to confirm`,
      description: 'It is stored only as a hash, which the server compares with your input.',
    };
  return {
    label: (
      <>
        Type <code>{value}</code> to confirm
      </>
    ),
  };
}

const WARNINGS: Record<SuppressionListed['reason'], string> = {
  unsubscribed: 'the recipient does not want more email.',
  complained: 'the recipient reported an email as spam. Another report harms the reputation of your domain.',
  manual: 'a member added it.',
  hard_bounce: 'the address rejects email. More bounces harm the reputation of your domain.',
  soft_bounces: 'several emails bounced.',
  snoozed: 'the recipient takes a break, which ends automatically.',
};
