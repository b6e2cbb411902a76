export { actOnMany, type Chosen, type ManyPreviewed, previewMany } from './act-on-many.ts';
export { type DraftContext, showContext } from './draft-context.ts';
export { type DescribedDraft, describeDrafts, listDescribed } from './list-drafts.ts';
export { previewDraft, type PreviewedDraft, renderDraft } from './preview-draft.ts';
export { showRuleEdits } from './rule-edits.ts';
export { showVersions } from './show-versions.ts';
export type { WhyStep } from './why-draft.ts';
