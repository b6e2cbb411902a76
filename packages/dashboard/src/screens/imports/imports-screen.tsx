import { Button, Stack, Text } from '@mantine/core';
import { FileUp, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, later, Page, When, WhenOpened } from '../../parts/index.ts';
import { StateMark } from './state-mark.tsx';
import { count, KINDS, percentOf } from './words.ts';

const NewImport = later(() => import('./new-import.tsx'), 'NewImport');

export function ImportsScreen(): ReactNode {
  const may = useMay('editor');
  const [isNew, setIsNew] = useState(false);
  const begin = (
    <Button leftSection={<Plus size={16} aria-hidden="true" />} onClick={() => setIsNew(true)}>
      New import
    </Button>
  );
  return (
    <Page title="Imports" actions={may ? begin : undefined}>
      {may ? (
        <Imports begin={begin} />
      ) : (
        <Empty icon={FileUp} title="Imports require the editor role">
          Ask an admin of this project for this role.
        </Empty>
      )}
      <WhenOpened opened={isNew}>
        <NewImport opened={isNew} onClose={() => setIsNew(false)} />
      </WhenOpened>
    </Page>
  );
}

const LOOK_EVERY_MS = 5_000;

function Imports({ begin }: { begin: ReactNode }): ReactNode {
  const project = useProject();
  const list = useApiInfinite('GET /projects/:project/imports', {}, { everyMs: LOOK_EVERY_MS });
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw={720}>
        Import users and events from a file or from Stripe. Data is checked first, triggers no emails by
        default, and is not duplicated by a second import.
      </Text>
      <DataTable
        label="Imports"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        link={({ id }) => ({
          to: '/p/$project/imports/$import',
          params: { project: String(project.id), import: id },
        })}
        empty={
          <Empty icon={FileUp} title="No imports yet" action={begin}>
            Import your existing users before their first events arrive.
          </Empty>
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
    cell: ({ name, kind }) => (
      <Stack gap={0} style={{ minWidth: 0 }}>
        <Text size="sm" fw={500} truncate>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {KINDS[kind]}
        </Text>
      </Stack>
    ),
  },
  { id: 'state', title: 'State', width: '150px', cell: (row) => <StateMark dataImport={row} /> },
  { id: 'progress', title: 'Rows', width: '1fr', align: 'right', cell: rowsOf },
  {
    id: 'created',
    title: 'Started',
    width: '150px',
    narrow: 'hide',
    cell: ({ created_at: at, created_by: by }) => (
      <Stack gap={0}>
        <When at={at} />
        <Text size="xs" c="dimmed" truncate>
          {by === null ? 'by command' : `by ${by}`}
        </Text>
      </Stack>
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
