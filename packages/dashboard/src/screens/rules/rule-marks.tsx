import { Group } from '@mantine/core';
import { Bot, CircleAlert, CirclePause, Hand, TrendingDown, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RuleListed } from '@beckon/contract/dashboard';
import { Mark } from '../../parts/index.ts';

/** The sending mode of a rule, with its deadline. */
export function ModeMark({ rule }: { rule: Pick<RuleListed, 'on' | 'mode' | 'sends_after'> }): ReactNode {
  if (!rule.on) return <Mark icon={CirclePause} tone="quiet" label="Disabled" />;
  if (rule.mode === 'draft') return <Mark icon={Hand} tone="info" label="Drafts only" />;
  if (rule.sends_after === null)
    return (
      <Mark icon={Hand} tone="info" label="Drafts only" title="Autopilot is off for the whole project" />
    );
  return <Mark icon={Bot} tone="good" label={`Autopilot, ${rule.sends_after}`} />;
}

/** Possible problems in a word; the rule's page shows the details. */
export function HintMarks({
  rule,
}: {
  rule: Pick<RuleListed, 'alarm' | 'warnings' | 'demoted' | 'mode'>;
}): ReactNode {
  const { alarm, warnings, demoted, mode } = rule;
  return (
    <Group gap={4}>
      {alarm && <Mark icon={CircleAlert} tone="bad" label="No activity" title={alarm.message} />}
      {demoted && mode === 'draft' && (
        <Mark icon={TrendingDown} tone="warn" label="Autopilot turned off" title={demoted.why} />
      )}
      {warnings.length > 0 && (
        <Mark
          icon={TriangleAlert}
          tone="warn"
          label={warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}
          title={warnings.map(({ message }) => message).join('\n')}
        />
      )}
    </Group>
  );
}
