import type { RuleFlow } from '@beckon/contract/dashboard';
import { audienceNames } from '../audience-names.ts';
import { countReasons } from '../decisions/store.ts';
import { labelsOf } from '../definitions/labels.ts';
import { findRule } from '../definitions/load-rules.ts';
import { wholeDocumentOf } from '../definitions/print.ts';
import { sinceDays } from '../insights/rule-days.ts';
import { outline } from '../runs/program.ts';
import { countRunPositions, type RunPositionCount } from '../runs/runs-of-rule.ts';
import { exclusionsOf } from './exclusions.ts';
import { flowFigures } from './flow-figures.ts';
import { groupRuns, type RunGroupRow } from './reads.ts';
import { getSettings } from '../../workspace/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { iso } from '../../../platform/time/clock.ts';

type FlowQuery = { projectId: number; reference: string; days: number; now: number };

/** Returns the figures of each step of the current version, for runs that started on the last days, including today. */
export async function showFlow(tx: Tx, query: FlowQuery): Promise<RuleFlow> {
  const { projectId, reference, days, now } = query;
  const rule = await findRule(tx, { projectId, reference });
  const { timeZone: zone } = (await getSettings(tx, projectId)).settings;
  const since = sinceDays(days, { now, zone });
  const ofRule = { projectId, ruleId: rule.id };
  const positions = await countRunPositions(tx, ofRule);
  const groups = await groupRuns(tx, { ...ofRule, since });
  const reasons = await countReasons(tx, { ...ofRule, since });
  const { version, definition } = rule;
  const figures = flowFigures(definition.steps, groups.filter(isOfFlow(version)));
  return {
    version,
    since: iso(since),
    labels: labelsOf(wholeDocumentOf(rule), await audienceNames(tx, projectId)),
    enrolled: sum(groups),
    holdout: sum(groups.filter(({ variant }) => variant === 'holdout')),
    goal: groups.reduce((all, { converted }) => all + converted, 0),
    excluded: exclusionsOf(reasons),
    in_older_versions: sum(positions.filter((position) => position.version !== version)),
    ended: endedOf(groups),
    steps: outline(definition.steps).map(({ at, path }) => {
      const { passed = 0, isAtLeast = false, ended = {} } = figures.get(at) ?? {};
      const here = positions.filter((position) => position.version === version && position.step === at);
      return { at, path, ...activeOf(here), passed, at_least: isAtLeast, ended };
    }),
  };
}

/** The holdout passes no step. Runs of other versions have other positions. */
function isOfFlow(version: number): (group: RunGroupRow) => boolean {
  return (group) => group.version === version && group.variant === 'treatment';
}

function activeOf(counts: RunPositionCount[]): { active: number; paused: number } {
  return {
    active: sum(counts.filter(({ state }) => state === 'active')),
    paused: sum(counts.filter(({ state }) => state === 'paused')),
  };
}

function endedOf(groups: RunGroupRow[]): Record<string, number> {
  const ended: Record<string, number> = {};
  for (const { reason, runs } of groups) if (reason !== null) ended[reason] = (ended[reason] ?? 0) + runs;
  return ended;
}

function sum(counts: { runs: number }[]): number {
  return counts.reduce((all, { runs }) => all + runs, 0);
}
