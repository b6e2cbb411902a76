import { canonicalJson } from '../../../platform/text/canonical-json.ts';
import { type Draft, findDraft, type AiDraftingLease, type AiDraftingResult } from '../../drafts/index.ts';
import { isRewordable } from './reword-draft.ts';
import { findPeople } from '../../users/index.ts';
import { findRunsById, type Models, draftTemplate, localeOfPerson, zoneOfPerson } from '../../rules/index.ts';
import { readProjectLock } from '../../../platform/locks/project-lock.ts';
import { variablesFor, isRenderFailure, type Renderer } from '../../rendering/index.ts';
import { evidenceOf } from './evidence.ts';
import { authorTextOf, type ModelPrompt, requestFor } from './prompt.ts';
import { selectFacts } from './facts.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type Prepared = {
  draft: Draft;
  request: ModelPrompt;
  evidence: ReturnType<typeof evidenceOf>;
  /** The addresses by the link ids that the model gets. */
  addresses: ReadonlyMap<string, string>;
};

export type Unprepared = { result: AiDraftingResult } | 'wait';

/**
 * Prepares the question to the model about a draft. The draft must say exactly what its template says now: a stale draft, or one written by
 * another version, keeps its text.
 */
export async function prepare(
  tx: Tx,
  { projectId, draftId }: AiDraftingLease,
  { models, renderer, now }: { models: Models; renderer: Renderer; now: number },
): Promise<Prepared | Unprepared> {
  const found = await findDraft(tx, projectId, draftId);
  if (!found) return { result: 'too_late' };
  const { draft, moves } = found;
  const readiness = isRewordable(draft, moves, now);
  if (readiness === 'wait') return 'wait';
  if (readiness !== 'yes') return { result: readiness };
  try {
    return await rendered(tx, draft, { models, renderer });
  } catch (error) {
    if (isRenderFailure(error)) return { result: 'not_supported' };
    throw error;
  }
}

type PrepareDeps = { models: Models; renderer: Renderer };

async function rendered(
  tx: Tx,
  draft: Draft,
  { models, renderer }: PrepareDeps,
): Promise<Prepared | Unprepared> {
  const { projectId } = draft;
  const model = (await models.of(tx, [await readProjectLock(tx, projectId)])).get(projectId);
  if (model?.project.settings.drafting !== 'model') return { result: 'off' };
  const [person] = await findPeople(tx, [draft]);
  const [run] = await findRunsById(tx, draft.runId === null ? [] : [{ projectId, id: draft.runId }]);
  const email = draftTemplate(model, draft)?.text;
  if (!person || !run || email?.format !== 'markdown') return { result: 'not_supported' };
  const variables = variablesFor({
    person,
    anchor: run.anchor,
    endsAt: draft.endsAt,
    project: model.project,
    zone: zoneOfPerson(person, model),
    locale: localeOfPerson(person, model),
  });
  const { content, facts } = await renderer.run('content', { email, variables }, { projectId });
  if (canonicalJson(content) !== canonicalJson(draft.content)) return { result: 'changed' };
  const ruleName = model.rules.byId.get(draft.ruleId)?.name ?? '';
  const links = await renderer.run('links', draft.content.body, { projectId });
  return buildRequest({ draft, facts, email, links, ruleName, projectName: model.project.name });
}

type RequestInput = {
  draft: Draft;
  facts: Draft['facts'];
  email: Parameters<typeof authorTextOf>[0];
  links: { address: string; words: string }[] | null;
  ruleName: string;
  projectName: string;
};

function buildRequest({
  draft,
  facts,
  email,
  links,
  ruleName,
  projectName,
}: RequestInput): Prepared | Unprepared {
  if (links === null) return { result: 'not_supported' };
  const { allowed, withheld } = selectFacts(facts);
  const authorText = authorTextOf(email);
  // The text of a link may be a trait of a user, so the model only gets texts that the author of the template wrote.
  const named = links.map(({ address, words }, at) => ({
    id: `link_${at + 1}`,
    address,
    words: authorText.includes(words) ? words : `link ${at + 1} of the email`,
  }));
  const request = requestFor({
    email,
    ruleName,
    facts: { ...allowed, 'project.name': projectName },
    links: named.map(({ id, words }) => ({ id, words })),
  });
  return {
    draft,
    request,
    addresses: new Map(named.map(({ id, address }) => [id, address])),
    evidence: evidenceOf({
      allowed: { ...allowed, 'project.name': projectName },
      withheld,
      sourceText: `${authorText}\n${projectName}`,
      linkIds: named.map(({ id }) => id),
    }),
  };
}
