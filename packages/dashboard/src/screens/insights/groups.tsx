import { Stack, Text, Title } from '@mantine/core';
import type { InsightGroup, InsightGrouping } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useProject } from '../../api/index.ts';
import { type Column, DataTable, listOf } from '../../parts/index.ts';
import { change, percent, signed, type SortName, sortGroups, SORTS } from './numbers.ts';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';

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

/** The numbers of each group, compared with the previous period. Rules link to their page. */
export function Groups({ by, groups, before, sort, onSort }: GroupsProps): ReactNode {
  const project = useProject();
  const rows = sortGroups(groups, sort);
  return (
    <Titled title={<>By {HEADS[by].toLowerCase()}</>}>
      <DataTable
        label={`Emails by ${HEADS[by].toLowerCase()}`}
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
        onSort={({ by: next }) => onSort(SORTS.find((name) => name === next) ?? 'sent')}
        columns={columnsOf(by, before)}
      />
      <Lifts groups={groups} />
    </Titled>
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
    rate('delivered', 'Delivered'),
    rate('opened', 'Opened'),
    rate('clicked', 'Clicked'),
    rate('replied', 'Replied'),
    rate('bounced', 'Bounced'),
    {
      ...NUMBER,
      id: 'unhappy',
      width: '1.9fr',
      title: 'Complained, unsubscribed',
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
        <Text
          span
          size="xs"
          c="dimmed"
          aria-label={`${label}: ${moved} points compared with the previous period`}
        >
          {' '}
          {moved}
        </Text>
      )}
    </span>
  );
}

/** The lift of rules with a holdout group. */
function Lifts({ groups }: { groups: InsightGroup[] }): ReactNode {
  const lifts = groups.flatMap(({ name, lift }) => (lift ? [{ name, lift }] : []));
  if (lifts.length === 0) return null;
  return (
    <Stack gap="xs" mt="lg">
      <Title order={2} size="h5">
        Compared with the holdout group
      </Title>
      {lifts.map(({ name, lift: { treatment: email, holdout, estimate } }) => (
        <Text key={name} size="sm">
          <b>{name}</b>: {email.converted} of {email.enrolled} users reached the goal with emails,{' '}
          {holdout.converted} of {holdout.enrolled} without.{' '}
          {estimate
            ? `The lift is ${signed(estimate.difference)} points (95 % confidence interval: ${signed(estimate.from)} to ${signed(estimate.to)}).`
            : 'Lift is shown once each group has 100 users.'}
        </Text>
      ))}
      <Muted size="xs">Since the creation of each rule, independent of the range above.</Muted>
    </Stack>
  );
}
