import { Group, Menu } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Download, Upload } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useMay, useProject } from '../../api/index.ts';
import { later, Page, WhenOpened } from '../../parts/index.ts';
import { SuppressionList } from './suppression-list.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';
import { MoreMenu } from '../../parts/more-menu.tsx';
import { NewButton } from '../../parts/new-button.tsx';

const AddDialog = later(() => import('./add-dialog.tsx'), 'AddDialog', null);
const CheckPanel = later(() => import('./check-panel.tsx'), 'CheckPanel');
const ImportDialog = later(() => import('./import-dialog.tsx'), 'ImportDialog', null);
const Topics = later(() => import('./topics.tsx'), 'Topics');

const route = getRouteApi('/p/$project/suppressions');

export function SuppressionsScreen(): ReactNode {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title="Suppressions" actions={<Actions />}>
      <TabPages
        value={tab}
        onChange={(next) =>
          void navigate({
            // Each tab has a filter of its own.
            search: (was) => ({ ...was, tab: next, row: undefined, filter: undefined }),
            replace: true,
          })
        }
        pages={[
          { value: 'list', label: 'Suppressed', content: <SuppressionList /> },
          { value: 'check', label: 'Check an address', content: <CheckPanel /> },
          { value: 'topics', label: 'Unsubscribed topics', content: <Topics /> },
        ]}
      />
    </Page>
  );
}

function Actions(): ReactNode {
  const [open, setOpen] = useState<'add' | 'import' | null>(null);
  const project = useProject();
  if (!useMay('admin')) return null;
  const href = apiUrl('GET /projects/:project/suppressions/export', { params: { project: project.id } });
  return (
    <Group gap="xs">
      <MoreMenu label="Lists">
        <Menu.Item leftSection={<Upload size={15} aria-hidden="true" />} onClick={() => setOpen('import')}>
          Import suppressions
        </Menu.Item>
        <Menu.Item component="a" href={href} download leftSection={<Download size={15} aria-hidden="true" />}>
          Export as CSV
        </Menu.Item>
      </MoreMenu>
      <NewButton onClick={() => setOpen('add')}>Add suppression</NewButton>
      <WhenOpened opened={open === 'add'}>
        <AddDialog opened={open === 'add'} onClose={() => setOpen(null)} />
      </WhenOpened>
      <WhenOpened opened={open === 'import'}>
        <ImportDialog opened={open === 'import'} onClose={() => setOpen(null)} />
      </WhenOpened>
    </Group>
  );
}
