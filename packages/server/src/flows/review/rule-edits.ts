import {
  applyChanges,
  type EditChange,
  type EditedDraft,
  listEdited,
  recurringChanges,
} from '../../features/drafts/index.ts';
import { findRule } from '../../features/rules/index.ts';
import { readTurn } from '../../features/turns/index.ts';
import type { LetterText } from '../../features/writing/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { loadProjectModels } from '../models.ts';
import { letterOf } from '../rules/index.ts';

/** `letter`: the name under which rules find it; null: it stands in the rule itself. */
export type RuleEdits = {
  drafts: number;
  edited: number;
  changes: (EditChange & { template: string | null })[];
  proposals: EditProposal[];
};

export type EditProposal = {
  template: string | null;
  part: EditChange['part'];
  before: string;
  after: string;
  /** How many of the changes are in it. */
  changes: number;
};

/** So many of the newest drafts are looked at. */
const DRAFTS_LOOKED_AT = 100;
/** What fewer than so many of those that were edited have in common is told, and not proposed. */
const PROPOSED_SHARE = 0.3;

/** What people change in the drafts of a rule again and again, and its letters with that in them, for a person to apply. */
export async function showRuleEdits(
  tx: Tx,
  { projectId, reference, now }: { projectId: number; reference: string; now: number },
): Promise<RuleEdits> {
  const { id: ruleId } = await findRule(tx, { projectId, reference });
  const { drafts, edited } = await listEdited(tx, { projectId, ruleId, limit: DRAFTS_LOOKED_AT });
  const versions = [...new Set(edited.map(({ version }) => version))].map((version) => ({
    projectId,
    ruleId,
    version,
  }));
  const models = await loadProjectModels(tx, [await readTurn(tx, projectId)], { now, versions });
  const model = models.get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  const written = edited.flatMap((draft): Written[] => {
    const letter = letterOf(model, draft);
    return letter ? [{ ...draft, template: letter.name, text: letter.text }] : [];
  });
  const letters = [
    ...Map.groupBy(written, ({ template, text }) => template ?? JSON.stringify(text)).values(),
  ];
  const told = letters.map((ofLetter) => tellLetter(ofLetter));
  return {
    drafts,
    edited: edited.length,
    changes: told.flatMap(({ changes }) => changes).toSorted((a, b) => b.count - a.count),
    proposals: told.flatMap(({ proposals }) => proposals),
  };
}

type Written = EditedDraft & { template: string | null; text: LetterText };

function tellLetter(drafts: Written[]): Pick<RuleEdits, 'changes' | 'proposals'> {
  const [first] = drafts;
  if (!first) return { changes: [], proposals: [] };
  const { template, text } = first;
  const changes = recurringChanges(drafts);
  const proposed = changes.filter(({ count, total }) => count >= total * PROPOSED_SHARE);
  // A page of its own was compiled: what people write in it stands in no source.
  const parts = text.format === 'markdown' ? (['subject', 'preheader', 'body'] as const) : [];
  const proposals = parts.flatMap((part): EditProposal[] => {
    const applied = applyChanges(text[part], part, proposed);
    return applied
      ? [{ template, part, before: text[part], after: applied.text, changes: applied.applied }]
      : [];
  });
  return { changes: changes.map((change) => ({ ...change, template })), proposals };
}
