import { Modal, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ListName, SavedView } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { type ApiError, useChange } from '../api/index.ts';
import { DialogFoot } from './dialog-foot.tsx';
import { Form } from './form.tsx';
import { Muted } from './muted.tsx';
import { refused } from './notices.tsx';
import { SubmitButton } from './submit-button.tsx';
import { VIEWS } from './views.tsx';

type Props = {
  list: ListName;
  filter: string;
  /** Undefined: a new view is saved. */
  renamed: SavedView | undefined;
  opened: boolean;
  onClose: () => void;
};

/** Saves a filter as a view, or renames a view. */
export function ViewDialog(props: Props): ReactNode {
  const { opened, onClose, renamed } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={renamed ? 'Rename view' : 'Save view'}>
      <NameForm {...props} />
    </Modal>
  );
}

function NameForm({ list, filter, renamed, onClose }: Props): ReactNode {
  const form = useForm({ initialValues: { name: renamed?.name ?? '' } });
  const options = {
    refreshes: [VIEWS] as [typeof VIEWS],
    onDone: onClose,
    onRefused: (error: ApiError) => (error.field === 'name' ? form.setErrors(error.fields) : refused(error)),
  };
  const save = useChange('POST /projects/:project/views', options);
  const rename = useChange('PATCH /projects/:project/views/:view', options);
  const submit = form.onSubmit(({ name }) => {
    if (renamed) rename.mutate({ params: { view: renamed.id }, body: { name } });
    else save.mutate({ body: { screen: list, name, filter } });
  });
  return (
    <Form onSubmit={submit}>
      <TextInput label="Name" data-autofocus maxLength={100} required {...form.getInputProps('name')} />
      <Muted size="xs">{filter}</Muted>
      <DialogFoot onCancel={onClose}>
        <SubmitButton change={renamed ? rename : save}>{renamed ? 'Rename view' : 'Save view'}</SubmitButton>
      </DialogFoot>
    </Form>
  );
}
