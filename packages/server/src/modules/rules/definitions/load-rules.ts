import type { Tx } from '../../../platform/db/statements.ts';
import { buildRuleModel, type RuleModel } from './model.ts';
import { parseDefinition } from './parse.ts';
import type { Rule } from './rule.ts';
import { listRuleRows, listVersionRows, type RuleRow, type VersionKey } from './store.ts';

/** Loads the rules of these projects, with their current versions and the versions in use that are passed. */
export async function loadRules(
  tx: Tx,
  projectIds: number[],
  inUse: VersionKey[],
): Promise<Map<number, RuleModel>> {
  const rows = await listRuleRows(tx, projectIds);
  const wanted = new Map<string, VersionKey>();
  const present = rows.map((row) => ({ projectId: row.project_id, ruleId: row.id, version: row.version }));
  for (const key of [...present, ...inUse]) wanted.set(`${key.ruleId} ${key.version}`, key);
  const versions = Map.groupBy(
    rows.length === 0 ? [] : await listVersionRows(tx, [...wanted.values()]),
    (row) => row.rule_id,
  );
  const sources = Map.groupBy(
    rows.map((row) => ({
      projectId: row.project_id,
      rule: toRule(row),
      versions: (versions.get(row.id) ?? []).map(({ version, definition }) => ({
        version,
        definition: parseDefinition(definition),
      })),
    })),
    ({ projectId }) => projectId,
  );
  return new Map(projectIds.map((id) => [id, buildRuleModel(sources.get(id) ?? [])]));
}

export function toRule(row: RuleRow): Rule {
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    mode: row.mode,
    deadlineMs: row.deadline_ms,
    enabledAt: row.enabled_at?.getTime() ?? null,
    demotedAt: row.demoted_at?.getTime() ?? null,
    demotedWhy: row.demoted_why,
  };
}
