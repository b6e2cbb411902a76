import { Alert, Group, List, Stack, Text } from '@mantine/core';
import { Users } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { MoveWaitingPreview, RuleDetails, RunListed } from '@beckon/contract/dashboard';
import { apiUrl, useApi, useApiInfinite, useChange, useMay, useProject } from '../../api/index.ts';
import {
  type Column,
  ConfirmTyped,
  DataTable,
  Empty,
  Mark,
  Person,
  notify,
  When,
} from '../../parts/index.ts';
import { CirclePause, Clock, FileText, Radio } from 'lucide-react';
import { ActButton } from '../../parts/act-button.tsx';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { useListLook } from '../../parts/list-look.ts';

/** The active runs of a rule, and moving runs of older versions. */
export function Inside({ rule }: { rule: RuleDetails }): ReactNode {
  const { filter, onFilter } = useListFilter();
  const { id: project } = useProject();
  const mayExport = useMay('admin');
  const [params, query] = [{ rule: rule.id }, { filter }];
  const runs = useApiInfinite('GET /projects/:project/rules/:rule/runs', { params, query }, { keep: true });
  const { look, setLook } = useListLook('runs');
  const csv = apiUrl('GET /projects/:project/rules/:rule/runs.csv', {
    params: { project, ...params },
    query,
  });
  return (
    <Stack gap="md">
      <MoveWaiting rule={rule} />
      {(runs.rows.length > 0 || filter !== undefined) && (
        <ListBar
          list="runs"
          label="Filter active runs"
          placeholder="Search by user ID or trigger"
          filter={filter}
          onFilter={onFilter}
          fault={runs.error}
          display={{ look, setLook, columns: COLUMNS }}
          csv={mayExport ? csv : undefined}
        />
      )}
      <DataTable
        label="Active runs"
        columns={COLUMNS}
        list={runs}
        look={look}
        rowKey={({ id }) => id}
        empty={
          filter === undefined ? (
            <Empty icon={Users} title="No active runs">
              Users appear here from enrollment until their last step, an exit condition or the goal.
            </Empty>
          ) : (
            <Empty icon={Users} title="No active runs match this filter" />
          )
        }
      />
    </Stack>
  );
}

const WAITS = {
  time: { icon: Clock, tone: 'quiet', label: 'Waiting' },
  event: { icon: Radio, tone: 'quiet', label: 'Waiting for an event' },
  draft: { icon: FileText, tone: 'info', label: 'Draft open' },
} as const;

function StateMark({ run }: { run: RunListed }): ReactNode {
  if (run.state === 'paused') return <Mark icon={CirclePause} tone="warn" label="Paused" />;
  return run.waits_for === null ? null : <Mark {...WAITS[run.waits_for]} />;
}

const COLUMNS: Column<RunListed>[] = [
  { id: 'user', title: 'User', width: '1.5fr', cell: (run) => <Person id={run.external_user_id} /> },
  { id: 'step', title: 'Step', width: '2fr', cell: ({ step }) => step.label },
  { id: 'state', title: 'State', width: '160px', cell: (run) => <StateMark run={run} /> },
  {
    id: 'next',
    title: 'Continues',
    width: '150px',
    cell: (run) => (run.next_at === null ? '–' : <When at={run.next_at} />),
  },
  {
    id: 'enrolled',
    title: 'Enrolled',
    width: '150px',
    narrow: 'hide',
    cell: (run) => <When at={run.enrolled_at} />,
  },
  { id: 'trigger', title: 'Trigger', width: '1fr', narrow: 'hide', cell: ({ trigger }) => trigger },
  {
    id: 'version',
    title: 'Version',
    width: '70px',
    align: 'right',
    narrow: 'hide',
    cell: ({ version }) => version,
  },
];

function MoveWaiting({ rule }: { rule: RuleDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const [isDialogOpen, setDialogOpen] = useState(false);
  const preview = useApi('GET /projects/:project/rules/:rule/move-waiting', { params: { rule: rule.id } });
  const move = useChange('POST /projects/:project/rules/:rule/move-waiting', {
    refreshes: [
      'GET /projects/:project/rules/:rule/move-waiting',
      'GET /projects/:project/rules/:rule/runs',
      'GET /projects/:project/rules/:rule/versions',
      'GET /projects/:project/rules/:rule/flow',
    ],
    onDone: ({ data }) => {
      setDialogOpen(false);
      notify(`${data.moved} runs moved to version ${data.version}`);
    },
  });
  const found = preview.data?.data;
  if (!found || (found.moved === 0 && found.stayed.length === 0)) return null;
  return (
    <Alert color="gray" title="Some runs use an older version">
      <Group justify="space-between" gap="sm">
        <Effects found={found} />
        {mayEdit && found.moved > 0 && (
          <ActButton size="compact-sm" onClick={() => setDialogOpen(true)}>
            Move {found.moved} to version {found.version}…
          </ActButton>
        )}
      </Group>
      <ConfirmTyped
        opened={isDialogOpen}
        onClose={() => setDialogOpen(false)}
        title={`Move runs to version ${found.version}?`}
        name={rule.name}
        action="Move runs"
        run={() => move.mutate({ params: { rule: rule.id } })}
        change={move}
      >
        <Effects found={found} />
        This cannot be undone.
      </ConfirmTyped>
    </Alert>
  );
}

function Effects({ found: { moved, stayed, version } }: { found: MoveWaitingPreview }): ReactNode {
  return (
    <List size="sm" spacing={2}>
      {moved > 0 && (
        <List.Item>
          {moved} runs can move to version {version}: both versions are equal up to their current step.
        </List.Item>
      )}
      {stayed.map(({ version: old, runs, step }) => (
        <List.Item key={`${old} ${step}`}>
          {runs} runs stay in version {old}: the versions differ before their current step.
        </List.Item>
      ))}
      {moved === 0 && stayed.length === 0 && <Text size="sm">No runs use an older version.</Text>}
    </List>
  );
}
