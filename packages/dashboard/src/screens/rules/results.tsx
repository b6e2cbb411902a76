import { Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleResults, RuleDetails } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Loaded } from '../../parts/index.ts';
import { ChartWithTable } from '../../parts/chart-with-table.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Segments } from '../../parts/segments.tsx';

/** The results of a rule: funnel, days, lift, and why other users were not enrolled. */
export function Results({ rule }: { rule: RuleDetails }): ReactNode {
  const [days, setDays] = useState('30');
  const results = useApi(
    'GET /projects/:project/rules/:rule/results',
    { params: { rule: rule.id }, query: { days: Number(days) } },
    { keep: true },
  );
  return (
    <Stack gap="lg">
      <Segments
        label="Period"
        value={days}
        onChange={setDays}
        options={{ '7': '7 days', '30': '30 days', '90': '90 days' }}
        w="fit-content"
      />
      <Loaded query={results}>{({ data }) => <ResultsView results={data} />}</Loaded>
    </Stack>
  );
}

function ResultsView({ results }: { results: RuleResults }): ReactNode {
  const { funnel, days } = results;
  const sentence = `${funnel.enrolled} users enrolled, ${funnel.drafted} emails drafted and ${funnel.sent} sent; ${funnel.goal} reached the goal.`;
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 4, lg: 7 }}>
        {STAGES.map(([key, label, of]) => (
          <Figure
            key={key}
            label={label}
            count={funnel[key]}
            note={of === null || funnel[of] === 0 ? null : share(funnel[key] / funnel[of])}
          />
        ))}
      </SimpleGrid>
      <ChartWithTable
        title="Results per day"
        description={sentence}
        kind="line"
        rows={days}
        x="day"
        xLabel="Day"
        series={[
          { name: 'enrolled', label: 'Enrolled' },
          { name: 'drafted', label: 'Drafted' },
          { name: 'sent', label: 'Sent' },
          { name: 'goal', label: 'Goal' },
        ]}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Lift results={results} />
        <Endings results={results} />
      </SimpleGrid>
      <Excluded results={results} />
    </>
  );
}

type StageKey = keyof RuleResults['funnel'];
const STAGES: [StageKey, string, StageKey | null][] = [
  ['enrolled', 'Enrolled', null],
  ['drafted', 'Drafted', null],
  ['sent', 'Sent', 'drafted'],
  ['delivered', 'Delivered', 'sent'],
  ['opened', 'Opened', 'delivered'],
  ['clicked', 'Clicked', 'delivered'],
  ['goal', 'Goal', 'enrolled'],
];

function share(part: number): string {
  return `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;
}

function Lift({ results }: { results: RuleResults }): ReactNode {
  const { lift, has_goal: hasGoal, holdout_percent: holdout } = results;
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h6" mb="xs">
        Lift
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
    return 'The rule has no goal, so its effect cannot be measured. Set one under “Exits and goal”.';
  if (lift === null)
    return holdout === 0
      ? 'There is no holdout group to compare with. Set one under “Limits”.'
      : `The holdout group is ${holdout} %. It has no users yet.`;
  const { treatment, holdout: held, estimate } = lift;
  const arms = `With emails, ${treatment.converted} of ${treatment.enrolled} users reached the goal; without, ${held.converted} of ${held.enrolled}.`;
  if (estimate === null) return `${arms} Lift is shown once each group has 100 users.`;
  return `${arms} The lift is ${points(estimate.difference)} (95 % confidence interval: ${points(estimate.from)} to ${points(estimate.to)}).`;
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
        Draft outcomes
      </Title>
      <Text size="sm">
        {all === 0
          ? 'No draft has ended yet.'
          : `Last ${all} drafts: ${drafts.untouched} sent unchanged, ${drafts.edited} edited, ${drafts.skipped} skipped.`}
      </Text>
      <Group gap="md" mt="xs">
        {Object.entries({
          Replied: replied,
          Bounced: bounced,
          Unsubscribed: unsubscribed,
          Complained: complained,
        }).map(([label, count]) => (
          <Muted key={label}>
            {label}: {count.toLocaleString('en-GB')}
          </Muted>
        ))}
      </Group>
    </Paper>
  );
}

function Excluded({ results: { excluded } }: { results: RuleResults }): ReactNode {
  if (excluded.length === 0) return null;
  return (
    <section>
      <Title order={2} size="h6" mb="xs">
        Why other users were not enrolled
      </Title>
      <Bullets
        spacing={4}
        items={excluded.map(({ sentence, count }) => `${count.toLocaleString('en-GB')} × ${sentence}`)}
      />
    </section>
  );
}
