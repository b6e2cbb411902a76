import type { ListRuleNeeds } from '../../audiences/index.ts';
import type { ActiveRule } from '../definitions/model.ts';
import { listVersionsAwaited } from '../definitions/reads.ts';
import { loadRules } from '../definitions/load-rules.ts';
import { listVersionsInUse, type VersionInUse } from './reads.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** A version of a rule that still decides something: the current one, or an older one with active runs or pending timers. */
export type RuleInForce = Pick<ActiveRule, 'definition' | 'conditions'> & {
  ruleId: string;
  name: string;
  version: number;
  isPresent: boolean;
};

/** Lists the versions of all rules of a project, including disabled rules, which can be enabled at any time. */
export async function listRulesInForce(tx: Tx, projectId: number, now: number): Promise<RuleInForce[]> {
  const inUse = await listOlderInUse(tx, projectId, now);
  const model = (await loadRules(tx, [projectId], inUse)).get(projectId);
  const present = [...(model?.byId.values() ?? [])].map(
    ({ id: ruleId, name, version, definition, conditions }): RuleInForce => ({
      ruleId,
      name,
      version,
      isPresent: true,
      definition,
      conditions,
    }),
  );
  const older = inUse.flatMap(({ ruleId, version }): RuleInForce[] => {
    const rule = model?.byId.get(ruleId);
    const modelVersion = model?.version(ruleId, version);
    if (!rule || !modelVersion || rule.version === version) return [];
    return [{ ruleId, name: rule.name, version, isPresent: false, ...modelVersion }];
  });
  return [...present, ...older];
}

/** Lists each version once, because a version with pending timers usually has active runs too. */
async function listOlderInUse(tx: Tx, projectId: number, now: number): Promise<VersionInUse[]> {
  const inUse = await listVersionsInUse(tx, [projectId], now);
  const awaited = await listVersionsAwaited(tx, projectId);
  const isIncluded = (candidate: VersionInUse): boolean =>
    inUse.some(({ ruleId, version }) => ruleId === candidate.ruleId && version === candidate.version);
  return [...inUse, ...awaited.filter((candidate) => !isIncluded(candidate))];
}

/** Lists which events and audiences the rules of a project use, and how far back they look. */
export const listRuleNeeds: ListRuleNeeds = async (tx, projectId, now) =>
  (await listRulesInForce(tx, projectId, now)).map((rule) => ({
    ruleId: rule.ruleId,
    name: rule.name,
    isPresent: rule.isPresent,
    events: eventsOf(rule),
    audienceIds: audiencesOf(rule),
    windowsMs: windowsOf(rule),
  }));

function eventsOf({ definition, conditions }: RuleInForce): string[] {
  const { when, about, exits } = definition;
  return [
    ...when.flatMap((trigger) => {
      if (trigger.kind === 'audience' || trigger.kind === 'date') return [];
      return trigger.kind === 'absence' ? [trigger.since, ...trigger.of] : [trigger.event];
    }),
    ...(about ? [about.event, ...about.until] : []),
    ...exits.events,
    ...conditions.mentions.flatMap(({ events }) => [...events]),
  ];
}

function audiencesOf({ definition, conditions }: RuleInForce): string[] {
  return [
    ...definition.when.flatMap((trigger) => (trigger.kind === 'audience' ? [trigger.audienceId] : [])),
    ...conditions.mentions.flatMap(({ audiences }) => [...audiences]),
  ];
}

/** An absence over a period is read from the events of that period. */
function windowsOf({ definition, conditions }: RuleInForce): number[] {
  return [
    ...conditions.mentions.flatMap(({ queries }) =>
      [...queries.values()].map(({ window }) => window.withinMs),
    ),
    ...definition.when.flatMap((trigger) => (trigger.kind === 'absence' ? [trigger.ms] : [])),
  ];
}
