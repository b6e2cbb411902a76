import type { AudienceUse } from '@beckon/contract/dashboard';
import { loadModels } from './load-models.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** The users of each event, by its name, and of each audience, by its id. */
export type Uses = { events: Map<string, AudienceUse[]>; audiences: Map<string, AudienceUse[]> };

/** Includes disabled rules, which can be enabled at any time. */
export async function findUses(
  { db, listRuleNeeds }: { db: Tx; listRuleNeeds: ListRuleNeeds },
  { projectId, now }: { projectId: number; now: number },
): Promise<Uses> {
  const uses: Uses = { events: new Map(), audiences: new Map() };
  const model = (await loadModels(db, [projectId])).get(projectId);
  for (const { audienceId, name, mentions } of model?.versions ?? []) {
    const use: AudienceUse = { kind: 'audience', id: audienceId, name };
    for (const event of mentions.events) add(uses.events, event, use);
    for (const id of mentions.audiences) add(uses.audiences, id, use);
  }
  for (const rule of await listRuleNeeds(db, projectId, now)) {
    const use: AudienceUse = { kind: 'rule', id: rule.ruleId, name: rule.name };
    for (const event of rule.events) add(uses.events, event, use);
    for (const id of rule.audienceIds) add(uses.audiences, id, use);
  }
  return uses;
}

function add(into: Map<string, AudienceUse[]>, key: string, use: AudienceUse): void {
  const existing = into.get(key) ?? [];
  if (!existing.some(({ kind, id }) => kind === use.kind && id === use.id)) existing.push(use);
  into.set(key, existing);
}

/** A version of a rule in force, and the events and audiences that it uses. */
export type RuleNeed = {
  ruleId: string;
  name: string;
  /** False for an older version with active runs or pending timers. */
  isPresent: boolean;
  events: string[];
  audienceIds: string[];
  /** How far back the rule looks, in milliseconds, one for each of its conditions. */
  windowsMs: number[];
};

/** Lists the needs of all rules of a project. Rules depend on audiences, so audiences get this function as an argument. */
export type ListRuleNeeds = (tx: Tx, projectId: number, now: number) => Promise<RuleNeed[]>;
