import { Anchor, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Import, ImportFinding } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty } from '../../parts/index.ts';

/** Single rows that came to nothing, and what a source has to say of single things. */
export function Findings({ one }: { one: Import }): ReactNode {
  const project = useProject();
  const params = { import: one.id };
  const list = useApiInfinite('GET /projects/:project/imports/:import/findings', { params });
  const ofProject = { project: project.id, import: one.id };
  return (
    <Stack gap="sm">
      <Anchor
        size="sm"
        href={apiUrl('GET /projects/:project/imports/:import/rejected.csv', { params: ofProject })}
        download
      >
        Download the rejected rows as CSV
      </Anchor>
      <DataTable
        label="Findings"
        columns={COLUMNS}
        list={list}
        rowKey={({ kind, row, message, raw }) => `${kind} ${row} ${message} ${raw}`}
        empty={<Empty title="Nothing to say" />}
      />
    </Stack>
  );
}

const COLUMNS: Column<ImportFinding>[] = [
  { id: 'row', title: 'Row', width: '90px', cell: ({ row, kind }) => row ?? kind.replaceAll('_', ' ') },
  {
    id: 'message',
    title: 'What',
    width: '1.4fr',
    cell: ({ message }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
    ),
  },
  {
    id: 'raw',
    title: 'It says',
    width: '1.6fr',
    narrow: 'hide',
    cell: ({ raw }) => (
      <Text size="xs" c="dimmed" truncate>
        {raw}
      </Text>
    ),
  },
];
