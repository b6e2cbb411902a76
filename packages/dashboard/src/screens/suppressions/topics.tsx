import { Stack } from '@mantine/core';
import type { TopicUnsubscribeListed } from '@beckon/contract/dashboard';
import { Tags } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { useListLook } from '../../parts/list-look.ts';
import { subjectName } from './words.ts';

/** The unsubscribed topics of users; emails about other topics are still sent. */
export function Topics(): ReactNode {
  const { filter, onFilter } = useListFilter();
  const { id: project } = useProject();
  const mayExport = useMay('admin');
  const query = { filter };
  const list = useApiInfinite('GET /projects/:project/suppressions/topics', { query }, { keep: true });
  const { look, setLook } = useListLook('topics');
  const csv = apiUrl('GET /projects/:project/suppressions/topics.csv', { params: { project }, query });
  return (
    <Stack gap="sm">
      {(list.rows.length > 0 || filter !== undefined) && (
        <ListBar
          list="topics"
          label="Filter unsubscribed topics"
          placeholder="Search by address, user ID or topic"
          filter={filter}
          onFilter={onFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS }}
          csv={mayExport ? csv : undefined}
        />
      )}
      <DataTable
        label="Unsubscribed topics"
        columns={COLUMNS}
        list={list}
        look={look}
        rowKey={({ kind, value, hash, topic }) => `${kind} ${value ?? `hash:${hash}`} ${topic}`}
        empty={filter === undefined ? <None /> : <Empty icon={Tags} title="No topics match this filter" />}
      />
    </Stack>
  );
}

function None(): ReactNode {
  return (
    <Empty icon={Tags} title="No unsubscribed topics">
      Assign topics to rules so that recipients can unsubscribe from a topic instead of all email. Their
      choices appear here.
    </Empty>
  );
}

const COLUMNS: Column<TopicUnsubscribeListed>[] = [
  { id: 'value', title: 'Address or user', width: '3fr', cell: subjectName },
  { id: 'kind', title: 'Kind', width: '100px', cell: ({ kind }) => (kind === 'email' ? 'Address' : 'User') },
  { id: 'topic', title: 'Topic', width: '2fr', cell: ({ topic }) => topic },
  { id: 'at', title: 'Since', width: '130px', cell: ({ created_at: at }) => <When at={at} style="day" /> },
];
