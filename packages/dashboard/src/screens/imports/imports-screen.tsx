import { Stack } from '@mantine/core';
import { FileUp } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, later, When, WhenOpened } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { useListLook } from '../../parts/list-look.ts';
import { StateMark } from './state-mark.tsx';
import { count, KINDS, percentOf } from './words.ts';
import { NewButton } from '../../parts/new-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { TwoLines } from '../../parts/two-lines.tsx';
import { RolePage } from '../../parts/role-page.tsx';

const NewImport = later(() => import('./new-import.tsx'), 'NewImport');

export function ImportsScreen(): ReactNode {
  const [isNew, setIsNew] = useState(false);
  const begin = <NewButton onClick={() => setIsNew(true)}>New import</NewButton>;
  return (
    <RolePage
      role="editor"
      title="Imports"
      actions={begin}
      instead={
        <Empty icon={FileUp} title="Imports require the editor role">
          Ask an admin of this project for this role.
        </Empty>
      }
    >
      <Imports begin={begin} />
      <WhenOpened opened={isNew}>
        <NewImport opened={isNew} onClose={() => setIsNew(false)} />
      </WhenOpened>
    </RolePage>
  );
}

const LOOK_EVERY_MS = 5_000;

function Imports({ begin }: { begin: ReactNode }): ReactNode {
  const project = useProject();
  const { filter, onFilter } = useListFilter();
  const list = useApiInfinite(
    'GET /projects/:project/imports',
    { query: { filter } },
    { keep: true, everyMs: LOOK_EVERY_MS },
  );
  const { look, setLook } = useListLook('imports');
  return (
    <Stack gap="md">
      <Muted maw={720}>
        Import users and events from a file or from Stripe. Data is checked first, triggers no emails by
        default, and is not duplicated by a second import.
      </Muted>
      {(list.rows.length > 0 || filter !== undefined) && (
        <ListBar
          list="imports"
          label="Filter imports"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS }}
          csv={apiUrl('GET /projects/:project/imports.csv', {
            params: { project: project.id },
            query: { filter },
          })}
        />
      )}
      <DataTable
        label="Imports"
        columns={COLUMNS}
        list={list}
        look={look}
        rowKey={({ id }) => id}
        link={({ id }) => ({
          to: '/p/$project/imports/$import',
          params: { project: String(project.id), import: id },
        })}
        empty={
          filter === undefined ? (
            <Empty icon={FileUp} title="No imports yet" action={begin}>
              Import your existing users before their first events arrive.
            </Empty>
          ) : (
            <Empty icon={FileUp} title="No imports match this filter" />
          )
        }
      />
    </Stack>
  );
}

const COLUMNS: Column<Import>[] = [
  {
    id: 'name',
    title: 'Import',
    width: '2fr',
    cell: ({ name, kind }) => <TwoLines first={name} second={KINDS[kind]} />,
  },
  { id: 'state', title: 'State', width: '150px', cell: (row) => <StateMark dataImport={row} /> },
  { id: 'progress', title: 'Rows', width: '1fr', align: 'right', cell: rowsOf },
  {
    id: 'created',
    title: 'Started',
    width: '150px',
    narrow: 'hide',
    cell: ({ created_at: at, created_by: by }) => (
      <TwoLines first={<When at={at} />} second={by === null ? 'by command' : `by ${by}`} />
    ),
  },
];

function rowsOf(dataImport: Import): string {
  const percent = percentOf(dataImport);
  const isRunning =
    dataImport.state === 'running' || dataImport.state === 'checking' || dataImport.state === 'paused';
  if (isRunning && percent !== null)
    return `${Math.floor(percent)} % of ${count(dataImport.progress.rows_total ?? dataImport.progress.rows)}`;
  return dataImport.progress.rows > 0 ? count(dataImport.progress.rows) : count(dataImport.check?.rows ?? 0);
}
