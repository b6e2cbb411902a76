import { Button, Group, Menu, Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { ChevronDown, Download, Plus, Upload } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useMay, useProject } from '../../api/index.ts';
import { Page } from '../../parts/index.ts';
import { AddDialog } from './add-dialog.tsx';
import { CheckPanel } from './check-panel.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { SuppressionList } from './suppression-list.tsx';
import { Topics } from './topics.tsx';

const route = getRouteApi('/p/$project/suppressions');
const TABS = ['list', 'check', 'topics'] as const;

export function SuppressionsScreen(): ReactNode {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title="Suppressions" actions={<Actions />}>
      <Tabs
        value={TABS.find((name) => name === tab) ?? 'list'}
        onChange={(value) =>
          void navigate({
            search: (was) => ({ ...was, tab: value ?? undefined, row: undefined }),
            replace: true,
          })
        }
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="list">Suppressed</Tabs.Tab>
          <Tabs.Tab value="check">Check an address</Tabs.Tab>
          <Tabs.Tab value="topics">Unsubscribed topics</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="list" pt="md">
          <SuppressionList />
        </Tabs.Panel>
        <Tabs.Panel value="check" pt="md">
          <CheckPanel />
        </Tabs.Panel>
        <Tabs.Panel value="topics" pt="md">
          <Topics />
        </Tabs.Panel>
      </Tabs>
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
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={14} aria-hidden="true" />}>
            Lists
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Upload size={15} aria-hidden="true" />} onClick={() => setOpen('import')}>
            Import suppressions
          </Menu.Item>
          <Menu.Item
            component="a"
            href={href}
            download
            leftSection={<Download size={15} aria-hidden="true" />}
          >
            Export as CSV
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Button leftSection={<Plus size={15} aria-hidden="true" />} onClick={() => setOpen('add')}>
        Add suppression
      </Button>
      <AddDialog opened={open === 'add'} onClose={() => setOpen(null)} />
      <ImportDialog opened={open === 'import'} onClose={() => setOpen(null)} />
    </Group>
  );
}
