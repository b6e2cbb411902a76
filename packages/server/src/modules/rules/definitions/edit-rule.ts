import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../platform/time/clock.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { nameTaken } from './create-rule.ts';
import type { WholeRule } from './find-rule.ts';
import type { ParsedRule } from './parse.ts';
import { documentOf } from './print.ts';
import { insertVersions, updateRule } from './store.ts';

/**
 * Edits a rule. The caller holds the project lock. A changed definition becomes a new version, and active runs stay in their version. Name,
 * mode and deadline belong to the rule itself.
 */
export async function editRule(
  deps: { tx: Tx; clock: Clock; projectId: number; actor: string },
  rule: WholeRule,
  wanted: ParsedRule,
): Promise<WholeRule> {
  const { tx, projectId } = deps;
  const now = deps.clock.now();
  const document = documentOf(wanted.definition);
  const isSame = isDeepStrictEqual(document, documentOf(rule.definition));
  const version = isSame ? rule.version : rule.version + 1;
  const edited = { ...rule, ...wanted, version, updatedAt: now };
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
  if (!isSaved) throw nameTaken(rule.name);
}
