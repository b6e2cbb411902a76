import { Anchor, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Import, ImportFinding } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';

/** Rejected rows, and notes of the source about single objects. */
export function Findings({ dataImport }: { dataImport: Import }): ReactNode {
  const project = useProject();
  const params = { import: dataImport.id };
  const list = useApiInfinite('GET /projects/:project/imports/:import/findings', { params });
  const ofProject = { project: project.id, import: dataImport.id };
  return (
    <Stack gap="sm">
      <Anchor
        size="sm"
        href={apiUrl('GET /projects/:project/imports/:import/rejected.csv', { params: ofProject })}
        download
      >
        Download rejected rows as CSV
      </Anchor>
      <DataTable
        label="Findings"
        columns={COLUMNS}
        list={list}
        rowKey={({ kind, row, message, raw }) => `${kind} ${row} ${message} ${raw}`}
        empty={<Empty title="No findings" />}
      />
    </Stack>
  );
}

/** The notes of a source that belong to no row. */
const KINDS: Record<string, string> = { unmatched_customer: 'Customer', trial_without_reminder: 'Trial' };

const COLUMNS: Column<ImportFinding>[] = [
  { id: 'row', title: 'Row', width: '90px', cell: ({ row, kind }) => row ?? KINDS[kind] ?? 'Note' },
  {
    id: 'message',
    title: 'Problem',
    width: '1.4fr',
    cell: ({ message }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
    ),
  },
  {
    id: 'raw',
    title: 'Data',
    width: '1.6fr',
    narrow: 'hide',
    cell: ({ raw }) => (
      <Muted size="xs" truncate>
        {raw}
      </Muted>
    ),
  },
];
