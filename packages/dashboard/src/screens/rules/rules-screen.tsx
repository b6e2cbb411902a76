import { Group, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { GitBranch, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleListed } from '@beckon/contract/dashboard';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, FilterBox, listOf, Page, useKeys } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Segments } from '../../parts/segments.tsx';
import { listRules, readSort, RULE_STATES, weekOf } from './list-rules.ts';
import { HintMarks, ModeMark } from './rule-marks.tsx';
import { RuleMenu } from './rule-menu.tsx';
import { Spark } from './spark.tsx';
import classes from './rules.module.css';
import { useReorder } from './use-reorder.ts';

const route = getRouteApi('/p/$project/rules');

/** All rules by priority: the order in which they get the last slot of a frequency cap. */
export function RulesScreen(): ReactNode {
  const { filter, state = 'all', sort } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const mayEdit = useMay('editor');
  const rules = useApi('GET /projects/:project/rules', {});
  const [current, setCurrent] = useState<string>();
  const all = rules.data?.data ?? [];
  const matches = listRules(all, { filter, state, sort });
  const sorted = readSort(sort);
  const isFiltered = filter !== undefined || state !== 'all';
  const move = useReorder(all);
  const reorder = mayReorder({ mayEdit, isFiltered, sorted }) ? move : null;
  useOrderKeys(current, reorder);
  const params = { project: String(project.id) };
  type Found = { filter?: string | undefined; state?: typeof state | undefined; sort?: string | undefined };
  const find = (next: Found): void =>
    void navigate({ search: (was) => ({ ...was, ...next }), replace: true });
  return (
    <Page title="Rules" actions={mayEdit && <NewRule />}>
      <Stack gap="md">
        <Group gap="sm">
          <FilterBox
            value={filter}
            onChange={(next) => find({ filter: next })}
            placeholder="Search by name or summary"
            label="Filter rules"
          />
          <Segments
            label="State"
            size="sm"
            value={state}
            onChange={(next) => find({ state: next === 'all' ? undefined : next })}
            options={RULE_STATES}
          />
        </Group>
        <DataTable
          label="Rules"
          columns={columnsOf(mayEdit, reorder)}
          list={listOf(matches, rules)}
          rowKey={({ id }) => id}
          link={({ id }) => ({ to: '/p/$project/rules/$rule', params: { ...params, rule: id } })}
          current={current}
          onCurrent={setCurrent}
          {...(sorted ? { sort: sorted } : {})}
          // The third click restores the order of priority.
          onSort={({ by, down }) =>
            find({ sort: sorted?.by === by && down ? undefined : `${down ? '-' : ''}${by}` })
          }
          empty={<NoRule isFiltered={isFiltered} />}
        />
        <Muted size="xs">
          {sorted === null ? 'Sorted by priority, highest first. ' : ''}Drafted, sent and goal: the last 7
          days. No activity: enabled, without users and emails in this time.
        </Muted>
      </Stack>
    </Page>
  );
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
    { id: 'name', title: 'Rule', width: '1.6fr', sort: true, cell: ({ name }) => name },
    {
      id: 'state',
      title: 'State',
      width: '190px',
      wraps: true,
      cell: (rule) => (
        <Group gap={4}>
          <ModeMark rule={rule} />
          <HintMarks rule={rule} />
        </Group>
      ),
    },
    number('emails', 'Emails', ({ emails }) => emails),
    number('users', 'Users now', ({ users }) => users),
    number('drafted', 'Drafted', (rule) => weekOf(rule).drafted),
    number('sent', 'Sent', (rule) => weekOf(rule).sent),
    number('goal', 'Goal', (rule) => weekOf(rule).goal),
    {
      id: 'week',
      title: 'Last 7 days',
      width: '100px',
      narrow: 'hide',
      cell: ({ week }) => <Spark week={week} />,
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

type Shown = { mayEdit: boolean; isFiltered: boolean; sorted: object | null };

/** A rule can be moved where the list shows all rules by priority. */
function mayReorder({ mayEdit, isFiltered, sorted }: Shown): boolean {
  return mayEdit && !isFiltered && sorted === null;
}

type Move = (id: string | undefined, by: number) => void;

/** Shortcuts that move the current rule in the order of priority. Null: the list shows another order, or not all rules. */
function useOrderKeys(current: string | undefined, move: Move | null): void {
  useKeys(
    'Rules',
    {
      'Shift+ArrowUp': { label: 'Move up in priority', run: () => move?.(current, -1) },
      'Shift+ArrowDown': { label: 'Move down in priority', run: () => move?.(current, 1) },
    },
    { enabled: move !== null },
  );
}

/** Phones show no column titles, so the number has its name beside it. */
function number(id: string, title: string, count: (rule: RuleListed) => number): Column<RuleListed> {
  return {
    id,
    title,
    width: '84px',
    align: 'right',
    sort: true,
    cell: (rule) => (
      <>
        {count(rule).toLocaleString('en-GB')}
        <span className={classes.unit}>
          {' '}
          {count(rule) === 1 ? title.toLowerCase().replace(/s$/, '') : title.toLowerCase()}
        </span>
      </>
    ),
  };
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
