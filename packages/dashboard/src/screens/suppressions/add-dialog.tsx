import { Modal, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { SuppressionReasonName } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { notify, useNow } from '../../parts/index.ts';
import { recipientOf, REASON_CHOICES, subjectName } from './words.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';

type Props = { opened: boolean; onClose: () => void };

export function AddDialog(props: Props): ReactNode {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="Add suppression">
      <AddForm {...props} />
    </Modal>
  );
}

const DAYS = [
  { value: '', label: 'Permanently' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
];
/** The fields of the form, and those of the request that belong to them. */
const FIELDS = ['who', 'email', 'user', 'reason', 'days', 'until'];
const DAY_MS = 86_400_000;

function AddForm({ onClose }: Props): ReactNode {
  const form = useForm({ initialValues: { who: '', reason: 'manual' as SuppressionReasonName, days: '' } });
  const add = useChange('POST /projects/:project/suppressions', {
    refreshes: ['GET /projects/:project/suppressions', 'GET /projects/:project/suppressions/check'],
    onDone: ({ data: { suppression, drafts, runs } }) => {
      const ended = drafts + runs === 0 ? '' : `: ${drafts} drafts canceled, ${runs} runs ended`;
      notify(`${subjectName(suppression)} suppressed${ended}`);
      onClose();
    },
    onRefused: ({ fields }) => {
      const recipientFault = fields.email ?? fields.user;
      form.setErrors({
        ...fields,
        ...(recipientFault === undefined ? {} : { who: recipientFault }),
        ...(fields.until ? { days: fields.until } : {}),
      });
    },
  });
  const now = useNow();
  const submit = form.onSubmit(({ who, reason, days }) => {
    const until = days === '' ? {} : { until: new Date(now + Number(days) * DAY_MS).toISOString() };
    add.mutate({ body: { ...recipientOf(who), reason, ...until } });
  });
  return (
    <Form onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Email address or user id"
        description="An address applies to all users with it; a user id applies whatever the user’s address is."
        required
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('who')}
      />
      <Select label="Reason" allowDeselect={false} data={REASON_CHOICES} {...form.getInputProps('reason')} />
      <Select label="Until" allowDeselect={false} data={DAYS} {...form.getInputProps('days')} />
      <Muted>
        This cancels their drafts, including approved ones, and ends their sequences. Removing the suppression
        later does not restore them.
      </Muted>
      <DialogAction change={add} fields={FIELDS} onCancel={onClose} disabled={form.values.who.trim() === ''}>
        Add suppression
      </DialogAction>
    </Form>
  );
}
