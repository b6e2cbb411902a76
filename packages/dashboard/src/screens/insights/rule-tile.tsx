import { Group, Paper, Text } from '@mantine/core';
import type { EmailDays } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { ChangeMark } from '../../parts/change-mark.tsx';
import { dayRows, emailFilter, type Metric, METRICS, sum } from '../../parts/email-days.ts';
import { TextButton } from '../../parts/text-button.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { barsOf } from './bars.ts';
import classes from './rule-tile.module.css';

type Props = {
  rule: EmailDays['rules'][number];
  days: string[];
  metric: Metric;
  /** The chart above shows this rule. */
  isShown: boolean;
  onShow: () => void;
};

/** One rule in small: its number, which opens its emails, and its days, which open in the chart above. */
export function RuleTile({ rule, days, metric, isShown, onShow }: Props): ReactNode {
  const count = sum(rule.total[metric]);
  const label = METRICS[metric];
  return (
    <Paper component="li" withBorder p="sm" radius="md" className={classes.tile} data-shown={isShown}>
      <TextButton onClick={onShow} aria-label={`Show ${rule.name} in the chart`}>
        {rule.name}
      </TextButton>
      <Group gap="xs" align="baseline">
        <Text span size="lg" fw={600}>
          <TextLink
            inherit
            c="inherit"
            to="/p/$project/emails"
            search={{ filter: emailFilter({ metric, since: days[0] ?? '', rule: rule.name }) }}
            aria-label={`${rule.name}, ${label}: ${count.toLocaleString('en-GB')}. Show these emails`}
          >
            {count.toLocaleString('en-GB')}
          </TextLink>
        </Text>
        {rule.before && (
          <Text span c="dimmed" component="span">
            <ChangeMark now={count} before={sum(rule.before[metric])} />
          </Text>
        )}
      </Group>
      <Bars rule={rule} days={days} metric={metric} />
    </Paper>
  );
}

const [WIDTH, HEIGHT] = [240, 44];

/** The same numbers are in the chart above, with its table, when the rule is shown there. */
function Bars({ rule, days, metric }: Pick<Props, 'rule' | 'days' | 'metric'>): ReactNode {
  const rows = dayRows(days, rule, metric);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={classes.bars}
      aria-hidden="true"
    >
      {barsOf(
        rows.map(({ now }) => now),
        { width: WIDTH, height: HEIGHT },
      ).map((bar) => (
        <rect key={bar.x} {...bar} />
      ))}
    </svg>
  );
}
