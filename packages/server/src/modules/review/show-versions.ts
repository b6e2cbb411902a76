import { type Content, type DraftContentKept, listContents } from '../drafts/index.ts';
import { variablesFor, type Renderer } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { isDraftId, unknownDraft } from './move-draft.ts';
import { letterOf, localeOfPerson, zoneOfPerson } from '../rules/index.ts';
import { type CaseAsked, type DraftCase, openCase } from './load-draft-case.ts';

/** `template`: the text that the template has for this user today; null if it can no longer be rendered. The newest version comes first. */
export type DraftVersions = {
  template: (Content & { name: string | null }) | null;
  versions: DraftContentKept[];
};

export async function showVersions(
  { db: tx, renderer }: { db: Tx; renderer: Renderer },
  asked: CaseAsked,
): Promise<DraftVersions> {
  const { projectId, draftId } = asked;
  const opened = isDraftId(draftId) ? await openCase(tx, asked) : undefined;
  if (!opened) throw unknownDraft(draftId);
  const kept = await listContents(tx, projectId, draftId);
  return { template: await letterNow(opened, renderer), versions: withPresent(opened, kept) };
}

async function letterNow(
  { draft, model, person, run }: DraftCase,
  renderer: Renderer,
): Promise<DraftVersions['template']> {
  const letter = letterOf(model, draft);
  if (!letter || !person || !run) return null;
  const variables = variablesFor({
    person,
    anchor: run.anchor,
    endsAt: draft.endsAt,
    project: model.project,
    zone: zoneOfPerson(person, model),
    locale: localeOfPerson(person, model),
  });
  const { projectId } = draft;
  const { content } = await renderer.run('letter', { letter: letter.text, variables }, { projectId });
  return { ...content, name: letter.name };
}

/** Adds the present content of a draft that was never edited, because no version of it was stored. */
function withPresent({ draft, moves }: DraftCase, kept: DraftContentKept[]): DraftContentKept[] {
  const { contentHash, content } = draft;
  if (kept.some((one) => one.contentHash === contentHash)) return kept;
  const by = moves.find((move) => move.contentHash === contentHash);
  return [{ contentHash, content, at: by?.at ?? draft.createdAt, actor: by?.actor ?? 'engine' }, ...kept];
}
