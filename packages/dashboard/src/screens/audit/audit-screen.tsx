import { Group, Select, Text, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Hourglass, ScrollText } from 'lucide-react';
import type { AuditListed } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useApiInfinite, useProject } from '../../api/index.ts';
import { DataTable, Empty, formatCount, Mark, Page, SidePanel, When } from '../../parts/index.ts';
import { actorWords } from '../../parts/actor-words.ts';
import { auditWords } from './action-words.ts';
import { AuditEntry } from './audit-entry.tsx';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Segments } from '../../parts/segments.tsx';

const route = getRouteApi('/p/$project/settings/audit');

/** Actions of members and programs, the newest first. */
export function AuditScreen(): ReactNode {
  const { entry, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const { id: project } = useProject();
  const list = useApiInfinite('GET /projects/:project/audit', { query: search }, { keep: true });
  const set = (changed: Partial<typeof search> & { entry?: string | undefined }): void =>
    void navigate({ search: (was) => ({ ...was, ...changed }), replace: true });
  const current = list.rows.find(({ id }) => id === entry);
  return (
    <Page
      title="Audit"
      beside={list.isPending ? undefined : formatCount(list.total, list.isAtLeast)}
      actions={
        <DownloadButton
          href={apiUrl('GET /projects/:project/audit.csv', { params: { project }, query: search })}
        >
          CSV
        </DownloadButton>
      }
    >
      <Filters search={search} onChange={set} />
      <DataTable
        label="Audit log"
        columns={COLUMNS}
        list={list}
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

type Search = {
  action?: string | undefined;
  actor?: string | undefined;
  scope?: 'project' | 'organization' | undefined;
};

function Filters({ search, onChange }: { search: Search; onChange: (changed: Search) => void }): ReactNode {
  const members = useApi('GET /projects/:project/members', {});
  const people = (members.data?.data ?? []).map(({ id, name }) => ({ value: `team:${id}`, label: name }));
  return (
    <Group gap="sm" mb="md" align="end">
      <TextInput
        label="Action starts with"
        placeholder="draft."
        value={search.action ?? ''}
        onChange={(event) => onChange({ action: event.currentTarget.value || undefined })}
      />
      <Select
        label="Member"
        placeholder="All members"
        clearable
        searchable
        clearButtonProps={{ 'aria-label': 'Show all members' }}
        data={[
          ...people,
          { value: 'local-shell', label: 'Local shell' },
          { value: 'operator', label: 'beckon-server' },
        ]}
        value={search.actor ?? null}
        onChange={(actor) => onChange({ actor: actor ?? undefined })}
      />
      <Segments
        size="sm"
        label="Scope"
        value={search.scope ?? 'organization'}
        onChange={(scope) => onChange({ scope: scope === 'project' ? 'project' : undefined })}
        options={{ organization: 'All projects and the team', project: 'This project' }}
      />
    </Group>
  );
}
