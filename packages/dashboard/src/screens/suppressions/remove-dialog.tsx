import { Button, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { RemovalReason, SuppressionListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox, told } from '../../parts/index.ts';
import { REASONS, REMOVAL_CHOICES } from './words.ts';

type Props = {
  suppression: SuppressionListed;
  opened: boolean;
  onClose: () => void;
  onRemoved: () => void;
};

/** Asks for the address once more and for a reason: the recipient may have asked to receive no email. */
export function RemoveDialog(props: Props): ReactNode {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="Let letters go there again">
      <Form {...props} />
    </Modal>
  );
}

function Form({ suppression, onClose, onRemoved }: Props): ReactNode {
  const { kind, value } = suppression;
  const form = useForm({ initialValues: { confirm: '', reason: null as RemovalReason | null } });
  const remove = useChange('POST /projects/:project/suppressions/remove', {
    refreshes: ['GET /projects/:project/suppressions', 'GET /projects/:project/suppressions/check'],
    onDone: () => {
      told('Letters may go there again');
      onRemoved();
    },
    onRefused: (error) => form.setErrors(error.fields),
  });
  const isRight = form.values.confirm.trim().toLowerCase() === value.toLowerCase();
  return (
    <form
      onSubmit={form.onSubmit(({ confirm, reason }) => {
        const place = kind === 'email' ? { email: value } : { user: value };
        if (reason !== null) remove.mutate({ body: { ...place, confirm, reason } });
      })}
    >
      <Stack gap="md">
        <Text size="sm">
          {REASONS[suppression.reason]}: {WARNINGS[suppression.reason]} Lift it only if you know that they
          want letters again. The audit log keeps your name and the reason.
        </Text>
        <TextInput
          data-autofocus
          label={
            <>
              Type <code>{value}</code> to confirm
            </>
          }
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('confirm')}
        />
        <Select label="Reason" required data={REMOVAL_CHOICES} {...form.getInputProps('reason')} />
        {remove.error && Object.keys(remove.error.fields).length === 0 && <ErrorBox error={remove.error} />}
        <DialogFoot onCancel={onClose}>
          <Button
            type="submit"
            color="red.9"
            disabled={!isRight || form.values.reason === null}
            loading={remove.isPending}
          >
            Lift it
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  );
}

const WARNINGS: Record<SuppressionListed['reason'], string> = {
  unsubscribed: 'they said that they want no more letters.',
  complained: 'they reported a letter as spam, and a second one costs the reputation of your domain.',
  manual: 'somebody of the team set it.',
  hard_bounce: 'letters there came back, and more of them cost the reputation of your domain.',
  soft_bounces: 'letters there came back several times.',
  snoozed: 'they asked for a break, which ends by itself.',
};
