import { countDrafts, type DraftInList, type DraftPage, listDraftPage } from './review.ts';
import { findPeople, personKey, type Person } from '../users/index.ts';
import { listSettings, type ProjectSettings } from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { ruleNames } from '../explain/index.ts';
import { zoneOfPerson } from '../rules/index.ts';

/** A draft with its rule and user, as a list shows them. */
export type DescribedDraft = {
  draft: DraftInList;
  rule: string;
  person: { name: string | null; email: string | null; timeZone: string };
};

/** Returns a page of drafts, and their number up to a maximum. */
export async function listDescribed(
  tx: Tx,
  page: DraftPage,
): Promise<{ drafts: DescribedDraft[]; total: number }> {
  const [drafts, total] = await Promise.all([listDraftPage(tx, page), countDrafts(tx, page)]);
  return { drafts: await describeDrafts(tx, page.projectId, drafts), total };
}

/** Describes drafts of one project. */
export async function describeDrafts(
  tx: Tx,
  projectId: number,
  drafts: DraftInList[],
): Promise<DescribedDraft[]> {
  if (drafts.length === 0) return [];
  const users = [...new Set(drafts.map(({ userId }) => userId))].map((userId) => ({ projectId, userId }));
  const [people, rules, settings] = await Promise.all([
    findPeople(tx, users),
    ruleNames(tx, projectId),
    listSettings(tx, [projectId]),
  ]);
  const project = settings.get(projectId);
  if (!project) throw new Error(`project ${projectId} has no settings`);
  const known = new Map(people.map((person) => [personKey(person), person]));
  return drafts.map((draft) => ({
    draft,
    rule: rules(draft.ruleId),
    person: describePerson(known.get(personKey(draft)), project),
  }));
}

function describePerson(person: Person | undefined, project: ProjectSettings): DescribedDraft['person'] {
  const name = person?.traits.get('name');
  return {
    name: typeof name === 'string' && name.trim() !== '' ? name : null,
    email: person?.email ?? null,
    timeZone: zoneOfPerson(person ?? { traits: new Map() }, { project }),
  };
}
