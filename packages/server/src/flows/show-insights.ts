import { iso } from '../base/clock.ts';
import {
  type Arm,
  bouncedOf,
  countInsights,
  deliveredOf,
  type Grouping,
  type Insight,
  liftOf,
  type LiftShown,
} from '../features/insights/index.ts';
import { countLift } from '../features/sequences/index.ts';
import type { Tx } from '../io/db/index.ts';

/** Under the names of the interface. Rates are shares: of bounces among what was sent, of everything else among what arrived. */
export type ShownInsight = {
  name: string;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  machine_opened: number;
  machine_clicked: number;
  replied: number;
  bounced: Record<'hard' | 'soft' | 'policy' | 'infrastructure', number>;
  complained: number;
  unsubscribed: number;
  rates: Record<
    'delivered' | 'bounced' | 'opened' | 'clicked' | 'replied' | 'complained' | 'unsubscribed',
    number | null
  >;
  /** Of a rule with people in its holdout: who came to its goal, since the rule was made. */
  lift: { letter: Arm; holdout: Arm; shown: LiftShown | null } | null;
};

export type ShownInsights = { by: Grouping; since: string; is_cut: boolean; groups: ShownInsight[] };

type Asked = { projectId: number; by: Grouping; since: number };

/** What became of the letters of a project since then, by rule, letter, domain or mailbox provider. */
export async function showInsights(tx: Tx, asked: Asked): Promise<ShownInsights> {
  const { groups, isCut } = await countInsights(tx, asked);
  const shown: ShownInsight[] = [];
  for (const group of groups) shown.push(toShown(group, await findLift(tx, asked.projectId, group)));
  return { by: asked.by, since: iso(asked.since), is_cut: isCut, groups: shown };
}

async function findLift(tx: Tx, projectId: number, { ruleId }: Insight): Promise<ShownInsight['lift']> {
  if (ruleId === null) return null;
  const { letter, holdout } = await countLift(tx, { projectId, ruleId });
  return holdout.entered === 0 ? null : { letter, holdout, shown: liftOf(letter, holdout) };
}

function toShown(insight: Insight, lift: ShownInsight['lift']): ShownInsight {
  const { name, sent, opened, clicked, replied, complained, unsubscribed } = insight;
  const { hard, soft, policy, infrastructure } = insight;
  const delivered = deliveredOf(insight);
  return {
    name,
    sent,
    delivered,
    opened,
    clicked,
    machine_opened: insight.machineOpened,
    machine_clicked: insight.machineClicked,
    replied,
    bounced: { hard, soft, policy, infrastructure },
    complained,
    unsubscribed,
    rates: {
      delivered: share(delivered, sent),
      bounced: share(bouncedOf(insight), sent),
      opened: share(opened, delivered),
      clicked: share(clicked, delivered),
      replied: share(replied, delivered),
      complained: share(complained, delivered),
      unsubscribed: share(unsubscribed, delivered),
    },
    lift,
  };
}

/** To four places; null of nothing. */
function share(count: number, of: number): number | null {
  return of <= 0 ? null : Math.round((count / of) * 10_000) / 10_000;
}
