import type { RuleDetails, RuleDocument } from '@beckon/contract/dashboard';
import { type Edited, useEdited } from '../../parts/index.ts';

/** The backtest uses the unsaved version too. */
export function useRuleDraft(rule: RuleDetails): Edited<RuleDocument> {
  return useEdited<RuleDocument>(`rule:${rule.id}`, rule.definition, rule.updated_at);
}

export function isChanged(rule: RuleDetails, document: RuleDocument): boolean {
  return JSON.stringify(document) !== JSON.stringify(rule.definition);
}
