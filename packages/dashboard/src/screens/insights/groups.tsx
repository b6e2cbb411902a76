import { Stack, Text, Title } from '@mantine/core';
import type { InsightGroup, InsightGrouping } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useProject } from '../../api/index.ts';
import { type Column, DataTable, listOf } from '../../parts/index.ts';
import { change, percent, signed, type SortName, sortGroups, SORTS } from './numbers.ts';

type GroupsProps = {
  by: InsightGrouping;
  groups: InsightGroup[];
  before: InsightGroup[] | null;
  sort: SortName;
  onSort: (sort: SortName) => void;
};

const HEADS: Record<InsightGrouping, string> = {
  rule: 'Rule',
  template: 'Template',
  domain: 'Sending domain',
  provider: 'Mailbox provider',
};

/** Each group in numbers, beside the time before; a rule leads to itself. */
export function Groups({ by, groups, before, sort, onSort }: GroupsProps): ReactNode {
  const project = useProject();
  const rows = sortGroups(groups, sort);
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        {HEADS[by]} by {HEADS[by].toLowerCase()}
      </Title>
      <DataTable
        label={`Letters by ${HEADS[by].toLowerCase()}`}
        list={listOf(rows)}
        rowKey={(group) => group.rule_id ?? group.name}
        {...(by === 'rule'
          ? {
              link: (group: InsightGroup) => ({
                to: '/p/$project/rules/$rule',
                params: { project: String(project.id), rule: group.rule_id ?? group.name },
              }),
            }
          : {})}
        sort={{ by: sort, down: true }}
        onSort={({ by: next }) => onSort(SORTS.find((one) => one === next) ?? 'sent')}
        columns={columnsOf(by, before)}
      />
      <Lifts groups={groups} />
    </section>
  );
}

function columnsOf(by: InsightGrouping, before: InsightGroup[] | null): Column<InsightGroup>[] {
  const was = new Map(before?.map((group) => [group.rule_id ?? group.name, group]));
  const rate = (id: SortName & keyof InsightGroup['rates'], title: string): Column<InsightGroup> => ({
    ...NUMBER,
    id,
    title,
    cell: (group) => {
      const earlier = was.get(group.rule_id ?? group.name)?.rates[id] ?? null;
      return <Rate now={group.rates[id]} before={earlier} label={title} />;
    },
  });
  return [
    { id: 'name', title: HEADS[by], width: '2fr', cell: ({ name }) => name },
    { ...NUMBER, id: 'sent', title: 'Sent', cell: ({ sent }) => sent.toLocaleString('en-GB') },
    rate('delivered', 'Arrived'),
    rate('opened', 'Opened'),
    rate('clicked', 'Clicked'),
    rate('replied', 'Answered'),
    rate('bounced', 'Came back'),
    {
      ...NUMBER,
      id: 'unhappy',
      title: 'Complained, left',
      cell: ({ complained, unsubscribed }) => `${complained}, ${unsubscribed}`,
    },
    rate('edited', 'Edited'),
  ];
}

const NUMBER = { width: '1fr', align: 'right', sort: true } as const;

function Rate({
  now,
  before,
  label,
}: {
  now: number | null;
  before: number | null;
  label: string;
}): ReactNode {
  const moved = change(now, before);
  return (
    <span>
      {percent(now)}
      {moved !== null && moved !== '+0.0' && (
        <Text span size="xs" c="dimmed" aria-label={`${label}: ${moved} points against before`}>
          {' '}
          {moved}
        </Text>
      )}
    </span>
  );
}

/** What letters brought about, of rules that keep some people without any. */
function Lifts({ groups }: { groups: InsightGroup[] }): ReactNode {
  const lifts = groups.flatMap(({ name, lift }) => (lift ? [{ name, lift }] : []));
  if (lifts.length === 0) return null;
  return (
    <Stack gap="xs" mt="lg">
      <Title order={2} size="h5">
        Against the holdout
      </Title>
      {lifts.map(({ name, lift: { treatment: letter, holdout, shown } }) => (
        <Text key={name} size="sm">
          <b>{name}</b>: {letter.converted} of {letter.entered} came to its goal with letters,{' '}
          {holdout.converted} of {holdout.entered} without.{' '}
          {shown
            ? `That is ${signed(shown.difference)} points; the truth lies between ${signed(shown.from)} and ${signed(shown.to)}, 95 times out of a hundred.`
            : 'What that says is told from 100 people on each side.'}
        </Text>
      ))}
      <Text size="xs" c="dimmed">
        Since each rule was made, whatever range is shown above.
      </Text>
    </Stack>
  );
}
