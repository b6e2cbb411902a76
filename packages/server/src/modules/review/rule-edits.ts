import type { RuleEdits } from '@beckon/contract/dashboard';
import { applyChanges, recurringChanges } from './edit-memory.ts';
import { type EditedDraft, listEdited } from './edited-drafts.ts';
import { findRule, loadProjectModels, draftTemplate } from '../rules/index.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import type { TemplateText } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** How many of the newest drafts are examined. */
const DRAFTS_LOOKED_AT = 100;
/** A change found in a smaller share of the edited drafts is listed, but not proposed. */
const PROPOSED_SHARE = 0.3;

/**
 * Returns the changes that members make repeatedly in the drafts of a rule, and its templates with these changes, for a member to apply.
 */
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
  const models = await loadProjectModels(tx, [await readProjectLock(tx, projectId)], { now, versions });
  const model = models.get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  const written = edited.flatMap((draft): EditWithTemplate[] => {
    const email = draftTemplate(model, draft);
    return email ? [{ ...draft, template: email.name, text: email.text }] : [];
  });
  const emails = [...Map.groupBy(written, ({ template, text }) => template ?? JSON.stringify(text)).values()];
  const editsByEmail = emails.map((ofEmail) => editsOfEmail(ofEmail));
  return {
    drafts,
    edited: edited.length,
    changes: editsByEmail.flatMap(({ changes }) => changes).toSorted((a, b) => b.count - a.count),
    proposals: editsByEmail.flatMap(({ proposals }) => proposals),
  };
}

type EditWithTemplate = EditedDraft & { template: string | null; text: TemplateText };

function editsOfEmail(drafts: EditWithTemplate[]): Pick<RuleEdits, 'changes' | 'proposals'> {
  const [first] = drafts;
  if (!first) return { changes: [], proposals: [] };
  const { template, text } = first;
  const changes = recurringChanges(drafts);
  const proposed = changes.filter(({ count, total }) => count >= total * PROPOSED_SHARE);
  // HTML and MJML bodies are compiled, so the edited text does not occur in their source.
  const parts = text.format === 'markdown' ? (['subject', 'preheader', 'body'] as const) : [];
  const proposals = parts.flatMap((part): RuleEdits['proposals'][number][] => {
    const applied = applyChanges(text[part], part, proposed);
    return applied
      ? [{ template, part, before: text[part], after: applied.text, changes: applied.applied }]
      : [];
  });
  return { changes: changes.map((change) => ({ ...change, template })), proposals };
}
