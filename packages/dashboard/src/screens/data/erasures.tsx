import type { Erasure } from '@beckon/contract/dashboard';
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useApiInfinite } from '../../api/index.ts';
import { type Column, DataTable, Empty, When } from '../../parts/index.ts';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';

/** Proof of erasures, without any trace of the users. */
export function Erasures(): ReactNode {
  const list = useApiInfinite('GET /projects/:project/erasures', {});
  const waiting = useApi('GET /projects/:project/data', {}).data?.data.erasures_waiting ?? 0;
  return (
    <Titled id="erasures" title="Erased users" gap="sm">
      <Muted maw={720}>
        This list shows when each user was erased and how many rows were deleted. It does not store who the
        user was. Entries are kept as long as the activity stream.
      </Muted>
      {waiting > 0 && (
        <Text size="sm">
          {waiting.toLocaleString('en-GB')} {waiting === 1 ? 'erased user' : 'erased users'} may still have
          records in the ingest queue. These are dropped when they are processed.
        </Text>
      )}
      <DataTable
        label="Erased users"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        empty={<Empty title="No erased users">To erase a user, open the user’s page.</Empty>}
      />
    </Titled>
  );
}

const COLUMNS: Column<Erasure>[] = [
  { id: 'at', title: 'When', width: '180px', cell: ({ at }) => <When at={at} style="long" /> },
  {
    id: 'rows',
    title: 'Rows',
    width: '80px',
    align: 'right',
    cell: ({ removed }) => Object.values(removed).reduce((sum, count) => sum + count, 0),
  },
  {
    id: 'what',
    title: 'Tables',
    width: '3fr',
    wraps: true,
    cell: ({ removed }) =>
      Object.entries(removed)
        .filter(([, count]) => count > 0)
        .map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
        .join(', '),
  },
];
