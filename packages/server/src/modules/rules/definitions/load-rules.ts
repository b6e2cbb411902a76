import { buildRuleModel, type RuleModel } from './model.ts';
import { parseDefinition } from './parse.ts';
import { listVersionsOfRule } from './reads.ts';
import type { Definition, Rule, RuleVersion } from './rule.ts';
import { listRuleRows, listVersionRows, type RuleRow, type VersionKey } from './store.ts';
import { recentMap } from '../../../platform/async/recent-map.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

/** Loads the rules of these projects, with their current versions and the versions in use that are passed. */
export async function loadRules(
  tx: Tx,
  projectIds: number[],
  inUse: VersionKey[],
): Promise<Map<number, RuleModel>> {
  const rows = await listRuleRows(tx, projectIds);
  const versionKeys = new Map<string, VersionKey>();
  const present = rows.map((row) => ({ projectId: row.project_id, ruleId: row.id, version: row.version }));
  for (const key of [...present, ...inUse]) versionKeys.set(`${key.ruleId} ${key.version}`, key);
  const versions = Map.groupBy(
    rows.length === 0 ? [] : await listVersionRows(tx, [...versionKeys.values()]),
    (row) => row.rule_id,
  );
  const sources = Map.groupBy(
    rows.map((row) => ({
      projectId: row.project_id,
      rule: toRule(row),
      versions: (versions.get(row.id) ?? []).map(({ version, definition }) => ({
        version,
        definition: parseOnce(definition),
      })),
    })),
    ({ projectId }) => projectId,
  );
  return new Map(projectIds.map((id) => [id, buildRuleModel(sources.get(id) ?? [])]));
}

/** The number of different definitions that are remembered. A definition has at most some kilobytes. */
const DEFINITIONS_MAX = 1_000;
/** Most projects have the shipped rules as they are, so equal definitions are parsed once. Nothing changes a parsed definition. */
const parsed = recentMap<Definition>(DEFINITIONS_MAX);

function parseOnce(stored: unknown): Definition {
  const text = JSON.stringify(stored);
  const known = parsed.get(text);
  if (known) return known;
  const definition = parseDefinition(stored);
  parsed.set(text, definition);
  return definition;
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
    demotedReason: row.demoted_reason,
  };
}

/** A rule with its current version. */
export type WholeRule = Rule & { definition: Definition; createdAt: number; updatedAt: number };

/** Returns all rules of a project, by name. */
export async function listRules(tx: Tx, projectId: number): Promise<WholeRule[]> {
  return withDefinitions(tx, await listRuleRows(tx, [projectId]));
}

/** Finds a rule by its id or its name. */
export async function findRule(
  tx: Tx,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<WholeRule> {
  const rows = await listRuleRows(tx, [projectId]);
  const text = reference.trim();
  const row = rows.find(({ id, name }) => id === text.toLowerCase() || name === text);
  const [rule] = row ? await withDefinitions(tx, [row]) : [];
  if (rule) return rule;
  const message = `No rule has the ID or name ${JSON.stringify(reference)}. List the rules with: beckon rules list`;
  throw new Fault('not_found', { details: [{ message, field: 'rule' }] });
}

async function withDefinitions(tx: Tx, rows: RuleRow[]): Promise<WholeRule[]> {
  const keys = rows.map((row) => ({ projectId: row.project_id, ruleId: row.id, version: row.version }));
  const versions = await listVersionRows(tx, keys);
  const byRule = new Map(versions.map((version) => [version.rule_id, version.definition]));
  return rows.map((row) => ({
    ...toRule(row),
    definition: parseDefinition(byRule.get(row.id)),
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  }));
}

/** `createdBy`: null if the author was not recorded. */
type WrittenVersion = RuleVersion & { createdAt: number; createdBy: string | null };

const VERSIONS_MAX = 100;

/** Returns the versions, newest first. */
export async function listRuleVersions(
  tx: Tx,
  { projectId, ruleId }: { projectId: number; ruleId: string },
): Promise<WrittenVersion[]> {
  const rows = await listVersionsOfRule(tx, { projectId, ruleId, limit: VERSIONS_MAX });
  return rows.map(({ version, definition, created_at, created_by }) => ({
    version,
    definition: parseDefinition(definition),
    createdAt: created_at.getTime(),
    createdBy: created_by,
  }));
}
