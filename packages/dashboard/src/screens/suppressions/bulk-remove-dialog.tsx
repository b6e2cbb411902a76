import { Modal, Select, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { RemovalReason, SuppressionListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { formatCount } from '../../parts/index.ts';
import { notifyBulk } from '../../parts/bulk-result.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { REMOVAL_CHOICES } from './words.ts';

type Props = { opened: boolean; entries: SuppressionListed[]; onClose: () => void; onDone: () => void };

/** Asks for the number of entries and for a reason: the recipients may have asked to receive no email. */
export function BulkRemoveDialog(props: Props): ReactNode {
  const { opened, onClose, entries } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={`Remove ${countOf(entries.length)}`}>
      <RemoveForm {...props} />
    </Modal>
  );
}

const ERASED = 'An erased user is known only by a hash. Open the entry and type the address or user ID';

function RemoveForm({ entries, onClose, onDone }: Props): ReactNode {
  const named = entries.flatMap(({ kind, value }) => (value === null ? [] : [{ kind, value }]));
  const erased = entries.length - named.length;
  const wishes = entries.filter(({ reason }) => reason === 'unsubscribed' || reason === 'complained').length;
  const form = useForm({ initialValues: { confirm: '', reason: null as RemovalReason | null } });
  const remove = useChange('POST /projects/:project/suppressions/remove-many', {
    refreshes: ['GET /projects/:project/suppressions', 'GET /projects/:project/suppressions/check'],
    onDone: ({ data: { removed, refused } }) => {
      const stay = erased > 0 ? [{ message: ERASED, rows: erased }] : [];
      notifyBulk({
        done: removed,
        one: 'suppression removed',
        many: 'suppressions removed',
        refused: [...refused, ...stay],
      });
      onDone();
      onClose();
    },
    onRefused: ({ fields }) => form.setErrors(fields),
  });
  const isRight = form.values.confirm.trim() === String(named.length);
  const submit = form.onSubmit(({ reason }) => {
    if (reason !== null) remove.mutate({ body: { entries: named, confirm: named.length, reason } });
  });
  return (
    <Form onSubmit={submit}>
      <Text size="sm">
        {wishes > 0 &&
          `${formatCount(wishes)} of these recipients unsubscribed or complained. Another complaint harms the reputation of your domain. `}
        Remove the suppressions only if you know that the recipients want email again. The audit log records
        your name and the reason.
      </Text>
      {erased > 0 && <Staying erased={erased} />}
      <TextInput
        data-autofocus
        label={
          <>
            Type <code>{named.length}</code>, the number of suppressions, to confirm
          </>
        }
        inputMode="numeric"
        autoComplete="off"
        {...form.getInputProps('confirm')}
      />
      <Select label="Reason" required data={REMOVAL_CHOICES} {...form.getInputProps('reason')} />
      <DialogAction
        change={remove}
        fields={['confirm', 'reason']}
        onCancel={onClose}
        disabled={!isRight || form.values.reason === null || named.length === 0}
        isDestructive
      >
        Remove {countOf(named.length)}
      </DialogAction>
    </Form>
  );
}

function Staying({ erased }: { erased: number }): ReactNode {
  return (
    <Muted>
      {countOf(erased)} of erased users {erased === 1 ? 'stays' : 'stay'}. To remove one, open it and type its
      address.
    </Muted>
  );
}

function countOf(entries: number): string {
  return entries === 1 ? '1 suppression' : `${formatCount(entries)} suppressions`;
}
