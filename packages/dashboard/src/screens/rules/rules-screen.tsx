import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { GitBranch, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleListed } from '@beckon/contract/dashboard';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, FilterBox, listOf, Page, useKeys } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { HintMarks, ModeMark } from './rule-marks.tsx';
import { RuleMenu } from './rule-menu.tsx';
import { Funnel, Spark } from './spark.tsx';
import { useReorder } from './use-reorder.ts';
import { Muted } from '../../parts/muted.tsx';

const route = getRouteApi('/p/$project/rules');

/** All rules by priority: the order in which they get the last slot of a frequency cap. */
export function RulesScreen(): ReactNode {
  const { filter } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const mayEdit = useMay('editor');
  const rules = useApi('GET /projects/:project/rules', {});
  const [current, setCurrent] = useState<string>();
  const all = rules.data?.data ?? [];
  const matches = all.filter(({ name, sentence }) => isMeant(`${name} ${sentence}`, filter));
  const move = useReorder(all);
  useKeys(
    'Rules',
    {
      'Shift+ArrowUp': { label: 'Move up in priority', run: () => move(current, -1) },
      'Shift+ArrowDown': { label: 'Move down in priority', run: () => move(current, 1) },
    },
    { enabled: mayEdit && filter === undefined },
  );
  const params = { project: String(project.id) };
  return (
    <Page title="Rules" actions={mayEdit && <NewRule />}>
      <Stack gap="md">
        <FilterBox
          value={filter}
          onChange={(next) => void navigate({ search: (was) => ({ ...was, filter: next }), replace: true })}
          placeholder="Search by name or summary"
          label="Filter rules"
        />
        <DataTable
          label="Rules"
          columns={columnsOf(mayEdit, filter === undefined ? move : null)}
          list={listOf(matches, rules)}
          rowKey={({ id }) => id}
          link={({ id }) => ({ to: '/p/$project/rules/$rule', params: { ...params, rule: id } })}
          current={current}
          onCurrent={setCurrent}
          empty={<NoRule isFiltered={filter !== undefined} />}
        />
        <Muted size="xs">
          Sorted by priority, highest first. Numbers: enrolled → drafted → sent → goal reached.
        </Muted>
      </Stack>
    </Page>
  );
}

function isMeant(words: string, filter: string | undefined): boolean {
  const terms = (filter ?? '').toLowerCase().split(/\s+/);
  return terms.every((word) => words.toLowerCase().includes(word));
}

function NewRule(): ReactNode {
  return (
    <LinkButton
      variant="filled"
      leftSection={<Plus size={16} aria-hidden="true" />}
      to="/p/$project/rules/$rule"
      params={{ rule: 'new' }}
    >
      New rule
    </LinkButton>
  );
}

function columnsOf(mayEdit: boolean, move: ((id: string, by: number) => void) | null): Column<RuleListed>[] {
  return [
    { id: 'name', title: 'Rule', width: '1.6fr', cell: ({ name }) => name },
    { id: 'mode', title: 'Mode', width: '140px', cell: (rule) => <ModeMark rule={rule} /> },
    {
      id: 'hints',
      title: 'Warnings',
      width: '1fr',
      wraps: true,
      cell: (rule) => <HintMarks rule={rule} />,
    },
    {
      id: 'week',
      title: 'Last 7 days',
      width: '132px',
      narrow: 'hide',
      cell: ({ week }) => <Spark week={week} />,
    },
    { id: 'funnel', title: 'Funnel', width: '140px', cell: ({ week }) => <Funnel week={week} /> },
    {
      id: 'open',
      title: 'Drafts',
      width: '56px',
      align: 'right',
      narrow: 'hide',
      cell: (rule) => rule.open_drafts.toLocaleString('en-GB'),
    },
    {
      id: 'priority',
      title: 'Priority',
      width: '56px',
      align: 'right',
      narrow: 'hide',
      cell: ({ priority }) => priority,
    },
    ...(mayEdit
      ? [
          {
            id: 'menu',
            title: 'Actions',
            visuallyHidden: true,
            width: '32px',
            cell: (rule: RuleListed) => <RuleMenu rule={rule} move={move} />,
          },
        ]
      : []),
  ];
}

function NoRule({ isFiltered }: { isFiltered: boolean }): ReactNode {
  const { id } = useProject();
  if (isFiltered) return <Empty icon={GitBranch} title="No rules match this filter" />;
  return (
    <Empty
      icon={GitBranch}
      title="No rules yet"
      command={`beckon rules create --project ${id} --file rule.json`}
    >
      A rule decides when an email is drafted, for which users, and what follows.
    </Empty>
  );
}
