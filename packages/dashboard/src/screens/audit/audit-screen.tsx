import { Group, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Hourglass, ScrollText } from 'lucide-react';
import type { AuditListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { apiUrl, useApiInfinite, useProject } from '../../api/index.ts';
import { DataTable, Empty, formatCount, Mark, Page, SidePanel, When } from '../../parts/index.ts';
import { actorWords } from '../../parts/actor-words.ts';
import { auditWords } from './action-words.ts';
import { AuditEntry } from './audit-entry.tsx';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListLook } from '../../parts/list-look.ts';
import { Segments } from '../../parts/segments.tsx';

const route = getRouteApi('/p/$project/settings/audit');

/** Actions of members and programs, the newest first. */
export function AuditScreen(): ReactNode {
  const { entry, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const { id: project } = useProject();
  const { look, setLook } = useListLook('audit');
  const list = useApiInfinite('GET /projects/:project/audit', { query: search }, { keep: true });
  const set = (changed: Partial<typeof search> & { entry?: string | undefined }): void =>
    void navigate({ search: (was) => ({ ...was, ...changed }), replace: true });
  const current = list.rows.find(({ id }) => id === entry);
  return (
    <Page
      title="Audit"
      beside={list.isPending ? undefined : formatCount(list.total, list.isAtLeast)}
      actions={
        <Segments
          size="sm"
          label="Scope"
          value={search.scope ?? 'organization'}
          onChange={(scope) => set({ scope: scope === 'project' ? 'project' : undefined })}
          options={{ organization: 'All projects and the team', project: 'This project' }}
        />
      }
    >
      <ListBar
        list="audit"
        label="Filter audit log"
        filter={search.filter}
        onFilter={(filter) => set({ filter, entry: undefined })}
        fault={list.error}
        common={COMMON}
        display={{ look, setLook, columns: COLUMNS }}
        csv={apiUrl('GET /projects/:project/audit.csv', { params: { project }, query: search })}
      />
      <DataTable
        label="Audit log"
        columns={COLUMNS}
        list={list}
        look={look}
        rowKey={({ id }) => id}
        current={entry}
        onCurrent={(id) => set({ entry: id })}
        onOpen={(id) => set({ entry: id })}
        empty={
          <Empty icon={ScrollText} title="No audit entries match">
            All changes by members, programs and commands appear here.
          </Empty>
        }
      />
      <SidePanel
        opened={current !== undefined}
        onClose={() => set({ entry: undefined })}
        title={current ? auditWords(current.action) : ''}
      >
        {current && <AuditEntry entry={current} />}
      </SidePanel>
    </Page>
  );
}

/** Filters that every project needs. */
const COMMON = [
  { name: 'Decisions on drafts', filter: 'action:draft.*' },
  { name: 'Changes of rules and templates', filter: 'action:rule.*,template.*' },
  { name: 'Exports of data', filter: 'action:*.export' },
];

const COLUMNS = [
  {
    id: 'at',
    title: 'When',
    width: '150px',
    cell: (row: AuditListed) => <When at={row.at} style="relative" />,
  },
  { id: 'who', title: 'Member', width: '160px', cell: (row: AuditListed) => <Actor of={row} /> },
  {
    id: 'what',
    title: 'Action',
    width: '200px',
    cell: (row: AuditListed) => (
      <Group gap="xs">
        <span>{auditWords(row.action)}</span>
        {!row.completed && (
          <Mark icon={Hourglass} tone="warn" label="begun" title="Started, but its completion is unknown" />
        )}
      </Group>
    ),
  },
  { id: 'about', title: 'Object', width: '2fr', cell: (row: AuditListed) => row.subject ?? '–' },
  {
    id: 'project',
    title: 'Project',
    width: '140px',
    narrow: 'hide' as const,
    cell: (row: AuditListed) => row.project?.name ?? 'Team',
  },
];

/** Distinguishes actions of a program from those of the member. */
function Actor({ of: { actor_name, token } }: { of: AuditListed }): ReactNode {
  return (
    <>
      {actorWords(actor_name)}
      {token !== null && (
        <Text span size="xs" c="dimmed">
          {' '}
          via {token}
        </Text>
      )}
    </>
  );
}
