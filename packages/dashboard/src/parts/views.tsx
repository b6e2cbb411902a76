import { Button, Menu, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Bookmark, Check, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { SavedView } from '@beckon/contract/dashboard';
import { useApi, useChange, useMay } from '../../api/index.ts';
import { DialogFoot, refused, undoable } from '../../parts/index.ts';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

type Props = { filter: string | undefined; onChoose: (filter: string | undefined) => void };

const VIEWS = 'GET /projects/:project/views';

/** Saved filters, shared by all members of the project. */
export function Views({ filter, onChoose }: Props): ReactNode {
  const views = useApi(VIEWS, { query: { screen: 'users' } });
  const [isSaving, setSaving] = useState(false);
  const savedViews = views.data?.data ?? [];
  const current = savedViews.find((view) => view.filter === filter);
  const close = (): void => setSaving(false);
  return (
    <>
      <Menu position="bottom-start" width={280}>
        <Menu.Target>
          <Button variant="default" leftSection={<Bookmark size={14} aria-hidden="true" />}>
            {current?.name ?? 'Views'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {savedViews.length === 0 && (
            // A disabled-looking item, so that screen readers announce the empty state.
            <Menu.Item aria-disabled="true" closeMenuOnClick={false} fz="xs" c="dimmed">
              No saved views yet. Filter the list, then save the filter as a view.
            </Menu.Item>
          )}
          {savedViews.map((view) => (
            <Menu.Item
              key={view.id}
              leftSection={view === current ? <Check size={14} aria-hidden="true" /> : undefined}
              onClick={() => onChoose(view.filter)}
            >
              <ViewLine view={view} />
            </Menu.Item>
          ))}
          <Managing filter={filter} current={current} onSave={() => setSaving(true)} />
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isSaving} onClose={close} title="Save view">
        <SaveForm filter={filter ?? ''} onClose={close} />
      </Modal>
    </>
  );
}

type ManagingProps = { filter: string | undefined; current: SavedView | undefined; onSave: () => void };

function Managing({ filter, current, onSave }: ManagingProps): ReactNode {
  const mayEdit = useMay('editor');
  const save = useChange('POST /projects/:project/views', {
    refreshes: [VIEWS],
    onRefused: (error) => refused(error),
  });
  const remove = useChange('DELETE /projects/:project/views/:view', {
    refreshes: [VIEWS],
    onRefused: (error) => refused(error),
    onDone: ({ data: { name, filter: gone } }) => {
      undoable({
        message: `View ${name} deleted`,
        undo: () => save.mutate({ body: { screen: 'users', name, filter: gone } }),
      });
    },
  });
  if (!mayEdit || filter === undefined) return null;
  if (!current)
    return (
      <>
        <Menu.Divider />
        <Menu.Item onClick={onSave}>Save as view…</Menu.Item>
      </>
    );
  return (
    <>
      <Menu.Divider />
      <Menu.Item
        leftSection={<Trash2 size={14} aria-hidden="true" />}
        onClick={() => remove.mutate({ params: { view: current.id } })}
      >
        Delete {current.name}
      </Menu.Item>
    </>
  );
}

function ViewLine({ view }: { view: SavedView }): ReactNode {
  return (
    <Stack gap={0}>
      <Text size="sm">{view.name}</Text>
      <Muted size="xs" truncate>
        {view.filter}
      </Muted>
    </Stack>
  );
}

function SaveForm({ filter, onClose }: { filter: string; onClose: () => void }): ReactNode {
  const form = useForm({ initialValues: { name: '' } });
  const save = useChange('POST /projects/:project/views', {
    refreshes: [VIEWS],
    onDone: onClose,
    onRefused: (error) => (error.field === 'name' ? form.setErrors(error.fields) : refused(error)),
  });
  return (
    <Form onSubmit={form.onSubmit(({ name }) => save.mutate({ body: { screen: 'users', name, filter } }))}>
      <TextInput label="Name" data-autofocus maxLength={100} required {...form.getInputProps('name')} />
      <Muted size="xs">{filter}</Muted>
      <DialogFoot onCancel={onClose}>
        <SubmitButton change={save}>Save view</SubmitButton>
      </DialogFoot>
    </Form>
  );
}
