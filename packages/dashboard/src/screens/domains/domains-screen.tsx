import type { SendingDomain } from '@beckon/contract/dashboard';
import { Alert, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Globe, Info } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useApiInfinite, useMay, useTestInbox } from '../../api/index.ts';
import { type Column, DataTable, Empty, Page, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { AddDomain } from './add-domain.tsx';
import { DomainMark } from './marks.tsx';
import { NewButton } from '../../parts/new-button.tsx';

const route = getRouteApi('/p/$project/settings/domains');

/** Filters that every project needs. */
const COMMON = [
  { name: 'Not verified', filter: '-state:verified' },
  { name: 'Paused', filter: 'paused:yes' },
];

export function DomainsScreen(): ReactNode {
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const may = useMay('admin');
  const [isAdding, setIsAdding] = useState(false);
  const add = may ? <NewButton onClick={() => setIsAdding(true)}>Add domain</NewButton> : undefined;
  return (
    <Page title="Domains" actions={add}>
      <Stack gap="md">
        <TestInboxNotice />
        <Domains project={project} add={add} />
      </Stack>
      <AddDomain
        opened={isAdding}
        onClose={() => setIsAdding(false)}
        onAdded={(name) => {
          setIsAdding(false);
          void navigate({ to: '/p/$project/settings/domains/$domain', params: { project, domain: name } });
        }}
      />
    </Page>
  );
}

function TestInboxNotice(): ReactNode {
  if (!useTestInbox()) return null;
  return (
    <Alert variant="outline" color="gray" icon={<Info size={18} aria-hidden="true" />}>
      Emails go to the test inbox and need no domain. You can add one now, before you set a relay.
    </Alert>
  );
}

function Domains({ project, add }: { project: string; add: ReactNode }): ReactNode {
  const { filter, onFilter } = useListFilter();
  const query = { filter };
  const list = useApiInfinite('GET /projects/:project/domains', { query }, { keep: true, everyMs: 30_000 });
  return (
    <Stack gap="sm">
      {(list.rows.length > 0 || filter !== undefined) && (
        <ListBar
          list="domains"
          label="Filter domains"
          placeholder="Search by name"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          common={COMMON}
          csv={apiUrl('GET /projects/:project/domains.csv', { params: { project }, query })}
        />
      )}
      <DataTable
        label="Domains"
        columns={COLUMNS}
        list={list}
        rowKey={({ name }) => name}
        link={({ name: domain }) => ({
          to: '/p/$project/settings/domains/$domain',
          params: { project, domain },
        })}
        empty={
          filter === undefined ? (
            <Empty icon={Globe} title="No domain yet" action={add}>
              Emails are sent from your own domain. Add a domain and publish its DNS records.
            </Empty>
          ) : (
            <Empty icon={Globe} title="No domains match this filter" />
          )
        }
      />
    </Stack>
  );
}

const COLUMNS: Column<SendingDomain>[] = [
  {
    id: 'name',
    title: 'Domain',
    width: '2fr',
    cell: ({ name }) => (
      <Text size="sm" fw={500} truncate>
        {name}
      </Text>
    ),
  },
  { id: 'state', title: 'State', width: '1.2fr', cell: (domain) => <DomainMark domain={domain} /> },
  {
    id: 'records',
    title: 'Records',
    width: '1fr',
    cell: ({ records }) =>
      `${records.filter(({ status }) => status === 'ok').length} of ${records.length} correct`,
  },
  { id: 'throttle', title: 'Throttle', width: '90px', narrow: 'hide', cell: ({ throttle }) => throttle },
  {
    id: 'checked',
    title: 'Last checked',
    width: '130px',
    narrow: 'hide',
    cell: ({ checked_at: at }) => <When at={at} style="relative" none="not yet" />,
  },
];
