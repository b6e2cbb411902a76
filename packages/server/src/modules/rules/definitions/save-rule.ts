import { isDeepStrictEqual } from 'node:util';
import { toRule, type WholeRule } from './load-rules.ts';
import type { ParsedRule } from './parse.ts';
import { documentOf } from './print.ts';
import type { Rule } from './rule.ts';
import { insertRules, insertVersions, listRuleRows, type NewRuleRow, updateRule } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { Clock } from '../../../platform/time/clock.ts';

const RULES_MAX = 500;

/**
 * Creates rules. The caller holds the project lock. They are enabled from now on, unless `isOff`: records accepted earlier start nothing.
 */
export async function createRules(
  deps: { tx: Tx; clock: Clock; actor?: string; isOff?: boolean },
  projectId: number,
  rules: ParsedRule[],
): Promise<Rule[]> {
  const existing = await listRuleRows(deps.tx, [projectId]);
  if (existing.length + rules.length > RULES_MAX)
    throw invalid(`This project has ${existing.length} rules; the maximum is ${RULES_MAX}`);
  const newId = idMaker(deps.clock);
  const at = new Date(deps.clock.now());
  const rows = rules.map((rule): NewRuleRow => ({
    project_id: projectId,
    id: newId(),
    name: rule.name,
    version: 1,
    mode: rule.mode,
    deadline_ms: rule.deadlineMs,
    enabled_at: deps.isOff ? null : at,
    created_at: at,
    updated_at: at,
  }));
  const inserted = await insertRules(deps.tx, rows);
  const duplicate = rows.find(({ id }) => !inserted.includes(id));
  if (duplicate) throw nameConflict(duplicate.name);
  await insertVersions(
    deps.tx,
    rows.map((row, i) => ({
      project_id: projectId,
      rule_id: row.id,
      version: 1,
      definition: definitionOf(rules[i]),
      created_at: at,
      created_by: deps.actor ?? null,
    })),
  );
  return rows.map((row) => toRule({ ...row, demoted_at: null, demoted_reason: null }));
}

function definitionOf(rule: ParsedRule | undefined): object {
  if (!rule) throw new Error('a rule without a definition');
  return documentOf(rule.definition);
}

function nameConflict(name: string): Fault {
  return invalid(`name is taken: another rule is called ${JSON.stringify(name)}`, 'name');
}

function invalid(message: string, field?: string): Fault {
  return new Fault('validation_failed', {
    details: [field === undefined ? { message } : { message, field }],
  });
}

/**
 * Edits a rule. The caller holds the project lock. A changed definition becomes a new version, and active runs stay in their version. Name,
 * mode and deadline belong to the rule itself.
 */
export async function editRule(
  deps: { tx: Tx; clock: Clock; projectId: number; actor: string },
  rule: WholeRule,
  input: ParsedRule,
): Promise<WholeRule> {
  const { tx, projectId } = deps;
  const now = deps.clock.now();
  const document = documentOf(input.definition);
  const isSame = isDeepStrictEqual(document, documentOf(rule.definition));
  const version = isSame ? rule.version : rule.version + 1;
  const edited = { ...rule, ...input, version, updatedAt: now };
  await save({ tx, projectId }, edited);
  if (!isSame) {
    const [created_at, created_by] = [new Date(now), deps.actor];
    await insertVersions(tx, [
      { project_id: projectId, rule_id: rule.id, version, definition: document, created_at, created_by },
    ]);
  }
  return edited;
}

/** Enables or disables a rule. The caller holds the project lock. An enabled rule evaluates only records accepted from then on. */
export async function switchRule(
  deps: { tx: Tx; clock: Clock; projectId: number },
  rule: WholeRule,
  isOn: boolean,
): Promise<WholeRule> {
  if (isOn === (rule.enabledAt !== null)) return rule;
  const now = deps.clock.now();
  const switched = { ...rule, enabledAt: isOn ? now : null, updatedAt: now };
  await save(deps, switched);
  return switched;
}

async function save({ tx, projectId }: { tx: Tx; projectId: number }, rule: WholeRule): Promise<void> {
  const isSaved = await updateRule(tx, {
    project_id: projectId,
    id: rule.id,
    name: rule.name,
    version: rule.version,
    mode: rule.mode,
    deadline_ms: rule.deadlineMs,
    enabled_at: rule.enabledAt === null ? null : new Date(rule.enabledAt),
    updated_at: new Date(rule.updatedAt),
  });
  if (!isSaved) throw nameConflict(rule.name);
}
