import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, UsersRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { AudienceListed } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, formatCount, Page, Sentence } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Built } from './built.tsx';
import { Trend } from '../../parts/trend.tsx';

const route = getRouteApi('/p/$project/audiences');

const COLUMNS: Column<AudienceListed>[] = [
  { id: 'name', title: 'Audience', width: '2fr', sort: 'up', cell: ({ name }) => name },
  {
    id: 'members',
    title: 'Members',
    width: '110px',
    align: 'right',
    sort: true,
    cell: ({ members }) => formatCount(members),
  },
  {
    id: 'growth',
    title: '30 days',
    width: '160px',
    narrow: 'hide',
    cell: ({ growth }) => <Growth growth={growth} />,
  },
  { id: 'state', title: 'State', width: '150px', cell: (audience) => <Built audience={audience} /> },
  {
    id: 'sentence',
    title: 'Definition',
    width: '3fr',
    cell: ({ sentence }) => <Sentence text={sentence} />,
  },
  {
    id: 'used',
    title: 'Used by',
    width: '1fr',
    narrow: 'hide',
    cell: ({ used_by: uses }) => (uses.length === 0 ? '–' : uses.map(({ name }) => name).join(', ')),
  },
];

/** While an audience is being built, its progress is refreshed. */
const BUILDING_EVERY_MS = 2_000;

export function AudiencesScreen(): ReactNode {
  const { audience: current, sort = 'name' } = route.useSearch();
  const { filter, onFilter } = useListFilter();
  const navigate = route.useNavigate();
  const project = String(useProject().id);
  const query = { filter, sort };
  const [isBuilding, setBuilding] = useState(false);
  const list = useApiInfinite(
    'GET /projects/:project/audiences',
    { query },
    { keep: true, ...(isBuilding ? { everyMs: BUILDING_EVERY_MS } : {}) },
  );
  const isAnyBuilding = list.rows.some(({ state }) => state !== 'ready');
  if (isAnyBuilding !== isBuilding) setBuilding(isAnyBuilding);
  const { look, setLook } = useListLook('audiences');
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  return (
    <Page title="Audiences" actions={<NewAudience />}>
      <Stack gap="sm">
        <ListBar
          list="audiences"
          label="Filter audiences"
          placeholder="Search by name or definition"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS, ...order }}
          csv={apiUrl('GET /projects/:project/audiences.csv', { params: { project }, query })}
        />
        <DataTable
          label="Audiences"
          columns={COLUMNS}
          list={list}
          look={look}
          {...order}
          rowKey={({ id }) => id}
          link={({ id }) => ({ to: '/p/$project/audiences/$audience', params: { project, audience: id } })}
          current={current}
          onCurrent={(audience) => void navigate({ search: (was) => ({ ...was, audience }), replace: true })}
          empty={<None isFiltered={filter !== undefined} />}
        />
      </Stack>
    </Page>
  );
}

function NewAudience(): ReactNode {
  const mayEdit = useMay('editor');
  if (!mayEdit) return null;
  return (
    <LinkButton
      variant="filled"
      to="/p/$project/audiences/$audience"
      params={{ audience: 'new' }}
      leftSection={<Plus size={14} aria-hidden="true" />}
    >
      New audience
    </LinkButton>
  );
}

function None({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty icon={UsersRound} title="No audiences match this filter" />;
  return (
    <Empty icon={UsersRound} title="No audiences yet" action={<NewAudience />}>
      An audience is a set of users by definition. Beckon keeps its members current as users and events
      arrive.
    </Empty>
  );
}

function Growth({ growth }: { growth: AudienceListed['growth'] }): ReactNode {
  const [first, last] = [growth[0], growth.at(-1)];
  if (!first || !last) return '–';
  const change = last.members - (first.members - first.joined + first.left);
  return (
    <Trend
      values={growth.map(({ members }) => members)}
      label="Members per day, last 30 days"
      text={change > 0 ? `+${formatCount(change)}` : formatCount(change)}
    />
  );
}
