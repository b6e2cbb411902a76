import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { toRule } from './load-rules.ts';
import { parseDefinition } from './parse.ts';
import type { Definition, Rule } from './rule.ts';
import { listRuleRows, listVersionRows, type RuleRow } from './store.ts';

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
  const wanted = reference.trim();
  const row = rows.find(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
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
