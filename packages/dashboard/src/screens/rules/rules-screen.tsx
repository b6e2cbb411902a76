import { Group, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { GitBranch, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleDay, RuleListed } from '@beckon/contract/dashboard';
import { apiUrl, useApiInfinite, useMay, useProject } from '../../api/index.ts';
import { type Column, DataTable, Empty, Page, useKeys } from '../../parts/index.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { ListBar } from '../../parts/list-bar.tsx';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { Muted } from '../../parts/muted.tsx';
import { HintMarks, ModeMark } from './rule-marks.tsx';
import { RuleMenu } from './rule-menu.tsx';
import { Spark } from './spark.tsx';
import classes from './rules.module.css';
import { SwitchMany } from './switch-many.tsx';
import { useReorder } from './use-reorder.ts';

const route = getRouteApi('/p/$project/rules');

/** Filters that every project needs. */
const COMMON = [
  { name: 'Enabled', filter: 'state:enabled' },
  { name: 'Disabled', filter: 'state:disabled' },
  { name: 'No activity', filter: 'state:enabled active:no' },
  { name: 'With a warning', filter: 'warning:yes' },
];

/** The most that a request for a page of rules returns. A rule can be moved only if the list has all of them. */
const PAGE_ROWS = 200;
const BY_PRIORITY = '-priority';

/** All rules by priority: the order in which they get the last slot of a frequency cap. */
export function RulesScreen(): ReactNode {
  const mayEdit = useMay('editor');
  const [chosen, setChosen] = useState(new Set<string>());
  const rules = useRules();
  const { list, query, look, setLook, order } = rules;
  const navigate = route.useNavigate();
  const { id: project } = useProject();
  return (
    <Page title="Rules" actions={mayEdit && <NewRule />}>
      <Stack gap="sm">
        <ListBar
          list="rules"
          label="Filter rules"
          placeholder="Search by name or summary"
          filter={query.filter}
          onFilter={(filter) => {
            setChosen(new Set());
            void navigate({ search: (was) => ({ ...was, filter }), replace: true });
          }}
          fault={list.error}
          common={COMMON}
          display={{ look, setLook, columns: COLUMNS, ...order }}
          csv={apiUrl('GET /projects/:project/rules.csv', { params: { project }, query })}
        >
          {mayEdit && (
            <SwitchMany
              rules={list.rows.filter(({ id }) => chosen.has(id))}
              onDone={() => setChosen(new Set())}
            />
          )}
        </ListBar>
        <RulesTable {...rules} choice={mayEdit ? { chosen, onChosen: setChosen } : null} />
        <Muted size="xs">Drafted, sent and goal: the last 7 days.</Muted>
      </Stack>
    </Page>
  );
}

/** The rules of the filter and the order in the URL, and how the member sees them. */
function useRules() {
  const { filter, sort = BY_PRIORITY } = route.useSearch();
  const navigate = route.useNavigate();
  const query = { filter, sort };
  const list = useApiInfinite('GET /projects/:project/rules', { query }, { keep: true, limit: PAGE_ROWS });
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  return { ...useListLook('rules'), list, query, order };
}

type Choice = { chosen: Set<string>; onChosen: (chosen: Set<string>) => void };
/** `choice`: null for members who may not change rules. */
type RulesTableProps = Omit<ReturnType<typeof useRules>, 'setLook'> & { choice: Choice | null };

function RulesTable({ list, query, look, order, choice }: RulesTableProps): ReactNode {
  const project = String(useProject().id);
  const [current, setCurrent] = useState<string>();
  const move = useReorder(list.rows);
  const isFiltered = query.filter !== undefined;
  const isWhole = !isFiltered && query.sort === BY_PRIORITY && !list.hasMore;
  const reorder = choice && isWhole ? move : null;
  useOrderKeys(current, reorder);
  return (
    <DataTable
      label="Rules"
      columns={choice ? [...COLUMNS, menuColumn(reorder)] : COLUMNS}
      list={list}
      look={look}
      {...order}
      {...choice}
      rowKey={({ id }) => id}
      link={({ id }) => ({ to: '/p/$project/rules/$rule', params: { project, rule: id } })}
      current={current}
      onCurrent={setCurrent}
      empty={<NoRule isFiltered={isFiltered} />}
    />
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

const COLUMNS: Column<RuleListed>[] = [
  { id: 'name', title: 'Rule', width: '1.6fr', sort: 'up', cell: ({ name }) => name },
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
  number('drafted', 'Drafted', ({ week }) => total(week, 'drafted')),
  number('sent', 'Sent', ({ week }) => total(week, 'sent')),
  number('goal', 'Goal', ({ week }) => total(week, 'goal')),
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
    width: '84px',
    align: 'right',
    narrow: 'hide',
    sort: true,
    cell: ({ priority }) => priority,
  },
];

function menuColumn(move: Move | null): Column<RuleListed> {
  return {
    id: 'menu',
    title: 'Actions',
    visuallyHidden: true,
    width: '32px',
    cell: (rule) => <RuleMenu rule={rule} move={move} />,
  };
}

function total(week: RuleDay[], count: 'drafted' | 'sent' | 'goal'): number {
  return week.reduce((sum, day) => sum + day[count], 0);
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
