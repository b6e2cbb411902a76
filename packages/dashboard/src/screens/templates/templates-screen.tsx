import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { FilePen, FileText, Package } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TemplateListed } from '@beckon/contract/dashboard';
import { apiUrl, useApi, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, DialogFoot, Empty, Mark, Page, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { useListLook } from '../../parts/list-look.ts';
import { Form } from '../../parts/form.tsx';
import { NewButton } from '../../parts/new-button.tsx';

export function TemplatesScreen(): ReactNode {
  const { filter, onFilter } = useListFilter();
  const { id } = useProject();
  const mayEdit = useMay('editor');
  const [isMaking, setMaking] = useState(false);
  const list = useApiInfinite('GET /projects/:project/templates', { query: { filter } }, { keep: true });
  const { look, setLook } = useListLook('templates');
  const params = { project: String(id) };
  return (
    <Page
      title="Templates"
      actions={mayEdit && <NewButton onClick={() => setMaking(true)}>New template</NewButton>}
    >
      <Stack gap="md">
        <ListBar
          list="templates"
          label="Filter templates"
          placeholder="Search by name or subject"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS }}
          csv={apiUrl('GET /projects/:project/templates.csv', { params: { project: id }, query: { filter } })}
        />
        <DataTable
          label="Templates"
          columns={COLUMNS}
          list={list}
          look={look}
          rowKey={({ name }) => name}
          link={({ name }) => ({
            to: '/p/$project/templates/$template',
            params: { ...params, template: name },
          })}
          empty={<Empty icon={FileText} title="No templates match this filter" />}
        />
      </Stack>
      <NameDialog opened={isMaking} onClose={() => setMaking(false)} />
    </Page>
  );
}

function Where({ template }: { template: TemplateListed }): ReactNode {
  const { version, is_shipped: isShipped, has_unpublished: hasUnpublished } = template;
  return (
    <Group gap={4}>
      {version === null && isShipped && <Mark icon={Package} tone="quiet" label="Built-in" />}
      {version !== null && <Mark icon={FileText} tone="good" label={`Version ${version}`} />}
      {hasUnpublished && <Mark icon={FilePen} tone="info" label="Unpublished version" />}
    </Group>
  );
}

const COLUMNS: Column<TemplateListed>[] = [
  { id: 'name', title: 'Template', width: '1.2fr', cell: ({ name }) => name },
  { id: 'subject', title: 'Subject', width: '2fr', cell: ({ subject }) => subject },
  { id: 'state', title: 'State', width: '240px', cell: (template) => <Where template={template} /> },
  {
    id: 'format',
    title: 'Format',
    width: '100px',
    narrow: 'hide',
    cell: ({ format }) => (format === 'mjml' ? 'MJML' : 'Markdown'),
  },
  {
    id: 'used',
    title: 'Used by',
    width: '1.2fr',
    cell: ({ used_by: users }) => (users.length === 0 ? '–' : users.map(({ name }) => name).join(', ')),
  },
  {
    id: 'updated',
    title: 'Changed',
    width: '130px',
    narrow: 'hide',
    cell: ({ updated_at: at }) => (at === null ? '–' : <When at={at} />),
  },
];

type NameProps = { opened: boolean; onClose: () => void };

/** A template starts with its name, which rules refer to. */
function NameDialog({ opened, onClose }: NameProps): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="New template">
      <NameForm onClose={onClose} />
    </Modal>
  );
}

function NameForm({ onClose }: Omit<NameProps, 'opened'>): ReactNode {
  const navigate = useNavigate();
  const { id } = useProject();
  const [name, setName] = useState('');
  // All templates, whatever the filter of the list shows.
  const templates = useApi('GET /projects/:project/templates', {});
  const clean = name.trim();
  const nameExists = templates.data?.data.some((template) => template.name === clean) === true;
  const submit = (): void => {
    if (clean === '' || nameExists) return;
    onClose();
    void navigate({
      to: '/p/$project/templates/$template',
      params: { project: String(id), template: clean },
      search: { tab: 'new' },
    });
  };
  return (
    <Form onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Name"
        description="Rules refer to this name. It cannot be changed."
        value={name}
        maxLength={100}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={nameExists ? 'A template with this name exists. Open it instead.' : undefined}
      />
      <DialogFoot onCancel={onClose}>
        <Button type="submit" disabled={clean === '' || nameExists}>
          Create template
        </Button>
      </DialogFoot>
    </Form>
  );
}
