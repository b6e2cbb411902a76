import { type ActiveRule, listVersionsAwaited, loadRules } from '../features/rules/index.ts';
import { listVersionsInUse, type VersionInUse } from '../features/sequences/index.ts';
import type { Tx } from '../io/db/index.ts';

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
    const known = model?.version(ruleId, version);
    if (!rule || !known || rule.version === version) return [];
    return [{ ruleId, name: rule.name, version, isPresent: false, ...known }];
  });
  return [...present, ...older];
}

/** Lists each version once, because a version with pending timers usually has active runs too. */
async function listOlderInUse(tx: Tx, projectId: number, now: number): Promise<VersionInUse[]> {
  const underWay = await listVersionsInUse(tx, [projectId], now);
  const awaited = await listVersionsAwaited(tx, projectId);
  const isKnown = (one: VersionInUse): boolean =>
    underWay.some(({ ruleId, version }) => ruleId === one.ruleId && version === one.version);
  return [...underWay, ...awaited.filter((one) => !isKnown(one))];
}
