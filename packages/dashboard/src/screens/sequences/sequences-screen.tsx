import { ListTree } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SequenceListed } from '@beckon/contract/dashboard';
import { useApi, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, listOf, Mark, Page } from '../../parts/index.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { CirclePause, CirclePlay } from 'lucide-react';
import { Muted } from '../../parts/muted.tsx';

/** Rules with more than one step. */
export function SequencesScreen(): ReactNode {
  const { id } = useProject();
  const sequences = useApi('GET /projects/:project/sequences', {});
  const params = { project: String(id) };
  return (
    <Page title="Sequences">
      <DataTable
        label="Sequences"
        columns={COLUMNS}
        list={listOf(sequences.data?.data ?? [], sequences)}
        rowKey={(row) => row.id}
        link={(row) => ({ to: '/p/$project/rules/$rule', params: { ...params, rule: row.id } })}
        empty={
          <Empty icon={ListTree} title="No sequences yet">
            Rules with a wait, a branch or a second email appear here, with the users on each step. Add steps
            to a{' '}
            <TextLink to="/p/$project/rules" params={params}>
              rule
            </TextLink>{' '}
            under “Then”.
          </Empty>
        }
      />
    </Page>
  );
}

const COLUMNS: Column<SequenceListed>[] = [
  { id: 'name', title: 'Sequence', width: '1.5fr', cell: ({ name }) => name },
  {
    id: 'state',
    title: 'State',
    width: '100px',
    cell: ({ on }) =>
      on ? (
        <Mark icon={CirclePlay} tone="good" label="On" />
      ) : (
        <Mark icon={CirclePause} tone="quiet" label="Off" />
      ),
  },
  { id: 'emails', title: 'Emails', width: '80px', align: 'right', cell: ({ emails }) => emails },
  {
    id: 'people',
    title: 'Active runs',
    width: '120px',
    align: 'right',
    cell: ({ users: people }) => people.toLocaleString('en-GB'),
  },
  {
    id: 'older',
    title: 'In older versions',
    width: '130px',
    align: 'right',
    narrow: 'hide',
    cell: ({ in_older_versions: older }) => (older === 0 ? '–' : older.toLocaleString('en-GB')),
  },
  {
    id: 'ends',
    title: 'Ends early when',
    width: '2fr',
    narrow: 'hide',
    cell: ({ exits, goal }) => (
      <Muted truncate>{[...exits, ...(goal === null ? [] : [`goal: ${goal}`])].join(', or ')}</Muted>
    ),
  },
];
