import type { TopicRefusalListed } from '@beckon/contract/dashboard';
import { Tags } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApiInfinite } from '../../api/index.ts';
import { type Column, DataTable, Empty, When } from '../../parts/index.ts';
import { subjectName } from './words.ts';

/** Who wants no letters about what; letters about everything else go on. */
export function Topics(): ReactNode {
  const list = useApiInfinite('GET /projects/:project/suppressions/topics', {});
  return (
    <DataTable
      label="Topics refused"
      columns={COLUMNS}
      list={list}
      rowKey={({ kind, value, hash, topic }) => `${kind} ${value ?? `hash:${hash}`} ${topic}`}
      empty={
        <Empty icon={Tags} title="Nobody has refused a topic">
          Rules may name a topic. Their letters then let people choose on a page of their own, and what they
          refuse stands here.
        </Empty>
      }
    />
  );
}

const COLUMNS: Column<TopicRefusalListed>[] = [
  { id: 'value', title: 'Who', width: '3fr', cell: subjectName },
  { id: 'kind', title: 'Kind', width: '100px', cell: ({ kind }) => (kind === 'email' ? 'Address' : 'User') },
  { id: 'topic', title: 'Topic', width: '2fr', cell: ({ topic }) => topic },
  { id: 'at', title: 'Since', width: '130px', cell: ({ created_at: at }) => <When at={at} style="day" /> },
];
