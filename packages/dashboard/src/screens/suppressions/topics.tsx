import type { TopicUnsubscribeListed } from '@beckon/contract/dashboard';
import { Tags } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApiInfinite } from '../../api/index.ts';
import { type Column, DataTable, Empty, When } from '../../parts/index.ts';
import { subjectName } from './words.ts';

/** The unsubscribed topics of users; emails about other topics are still sent. */
export function Topics(): ReactNode {
  const list = useApiInfinite('GET /projects/:project/suppressions/topics', {});
  return (
    <DataTable
      label="Unsubscribed topics"
      columns={COLUMNS}
      list={list}
      rowKey={({ kind, value, hash, topic }) => `${kind} ${value ?? `hash:${hash}`} ${topic}`}
      empty={
        <Empty icon={Tags} title="No unsubscribed topics">
          Assign topics to rules so that recipients can unsubscribe from a topic instead of all email. Their
          choices appear here.
        </Empty>
      }
    />
  );
}

const COLUMNS: Column<TopicUnsubscribeListed>[] = [
  { id: 'value', title: 'Address or user', width: '3fr', cell: subjectName },
  { id: 'kind', title: 'Kind', width: '100px', cell: ({ kind }) => (kind === 'email' ? 'Address' : 'User') },
  { id: 'topic', title: 'Topic', width: '2fr', cell: ({ topic }) => topic },
  { id: 'at', title: 'Since', width: '130px', cell: ({ created_at: at }) => <When at={at} style="day" /> },
];
