import { Group, List, Paper, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleResults, RuleShown } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Loaded } from '../../parts/index.ts';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';

/** What the rule brought about: its funnel, its days, its lift, and why others did not come in. */
export function Results({ rule }: { rule: RuleShown }): ReactNode {
  const [days, setDays] = useState('30');
  const results = useApi(
    'GET /projects/:project/rules/:rule/results',
    { params: { rule: rule.id }, query: { days: Number(days) } },
    { keep: true },
  );
  return (
    <Stack gap="lg">
      <SegmentedControl
        aria-label="Of the last"
        size="xs"
        value={days}
        onChange={setDays}
        data={[
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
          { value: '90', label: '90 days' },
        ]}
        w="fit-content"
      />
      <Loaded query={results}>{({ data }) => <Shown results={data} />}</Loaded>
    </Stack>
  );
}

function Shown({ results }: { results: RuleResults }): ReactNode {
  const { funnel, days } = results;
  const sentence = `${funnel.entered} people entered, ${funnel.drafted} letters were drafted and ${funnel.sent} sent; ${funnel.goal} came to the goal.`;
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 4, lg: 7 }}>
        {STAGES.map(([key, label, of]) => (
          <Stage key={key} label={label} count={funnel[key]} of={of === null ? null : funnel[of]} />
        ))}
      </SimpleGrid>
      <ChartWithTable
        title="Day by day"
        description={sentence}
        kind="line"
        rows={days}
        x="day"
        xLabel="Day"
        series={[
          { name: 'entered', label: 'Entered' },
          { name: 'drafted', label: 'Drafted' },
          { name: 'sent', label: 'Sent' },
          { name: 'goal', label: 'Goal' },
        ]}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Lift results={results} />
        <Endings results={results} />
      </SimpleGrid>
      <Refused results={results} />
    </>
  );
}

type StageKey = keyof RuleResults['funnel'];
const STAGES: [StageKey, string, StageKey | null][] = [
  ['entered', 'Entered', null],
  ['drafted', 'Drafted', null],
  ['sent', 'Sent', 'drafted'],
  ['delivered', 'Arrived', 'sent'],
  ['opened', 'Opened', 'delivered'],
  ['clicked', 'Clicked', 'delivered'],
  ['goal', 'Goal', 'entered'],
];

function Stage({ label, count, of }: { label: string; count: number; of: number | null }): ReactNode {
  return (
    <Paper withBorder p="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} size="lg">
        {count.toLocaleString('en-GB')}
      </Text>
      <Text size="xs" c="dimmed">
        {of === null || of === 0 ? '\u00A0' : share(count / of)}
      </Text>
    </Paper>
  );
}

function share(part: number): string {
  return `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;
}

function Lift({ results }: { results: RuleResults }): ReactNode {
  const { lift, has_goal: hasGoal, holdout_percent: holdout } = results;
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h6" mb="xs">
        Does it help?
      </Title>
      <Text size="sm" component="div">
        {liftWords({ lift, hasGoal, holdout })}
      </Text>
    </Paper>
  );
}

type LiftFacts = { lift: RuleResults['lift']; hasGoal: boolean; holdout: number };

function liftWords({ lift, hasGoal, holdout }: LiftFacts): string {
  if (!hasGoal)
    return 'It has no goal, so nothing says whether its letters help. Set one under “Exits and goal”.';
  if (lift === null)
    return holdout === 0
      ? 'Nobody is held out, so there is nothing to compare with. Set “held out” under “Limits”.'
      : `${holdout} of 100 people are held out; nobody of them has entered yet.`;
  const { treatment: letter, holdout: held, shown } = lift;
  const arms = `With letters ${letter.converted} of ${letter.entered} came to the goal, without ${held.converted} of ${held.entered}.`;
  if (shown === null) return `${arms} The difference is told from 100 people on each side.`;
  return `${arms} That is ${points(shown.difference)}, between ${points(shown.from)} and ${points(shown.to)} 95 times of 100.`;
}

function points(difference: number): string {
  return `${difference >= 0 ? '+' : '−'}${Math.abs(difference * 100).toFixed(1)} points`;
}

function Endings({ results }: { results: RuleResults }): ReactNode {
  const { drafts, bounced, complained, unsubscribed, replied } = results;
  const all = drafts.untouched + drafts.edited + drafts.skipped;
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h6" mb="xs">
        How its drafts ended
      </Title>
      <Text size="sm">
        {all === 0
          ? 'None has ended yet.'
          : `Of the last ${all}: ${drafts.untouched} left as they were written, ${drafts.edited} edited, ${drafts.skipped} skipped.`}
      </Text>
      <Group gap="md" mt="xs">
        {Object.entries({
          Replied: replied,
          'Came back': bounced,
          Unsubscribed: unsubscribed,
          Complained: complained,
        }).map(([label, count]) => (
          <Text key={label} size="sm" c="dimmed">
            {label}: {count.toLocaleString('en-GB')}
          </Text>
        ))}
      </Group>
    </Paper>
  );
}

function Refused({ results: { refused } }: { results: RuleResults }): ReactNode {
  if (refused.length === 0) return null;
  return (
    <section>
      <Title order={2} size="h6" mb="xs">
        Why others did not come in
      </Title>
      <List size="sm" spacing={4}>
        {refused.map(({ reason, sentence, count }) => (
          <List.Item key={reason}>
            {count.toLocaleString('en-GB')} × {sentence}
          </List.Item>
        ))}
      </List>
    </section>
  );
}
