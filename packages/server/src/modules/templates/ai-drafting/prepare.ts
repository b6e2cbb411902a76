import { canonicalJson } from '../../../platform/text/canonical-json.ts';
import { type Draft, findDraft, type AiDraftingLease, type AiDraftingResult } from '../../drafts/index.ts';
import { isRewordable } from './reword-draft.ts';
import { findPeople } from '../../users/index.ts';
import { findRunsById, type Models, emailOf, localeOfPerson, zoneOfPerson } from '../../rules/index.ts';
import { readTurn } from '../../../platform/locks/project-lock.ts';
import { variablesFor, isRenderFailure, type Renderer } from '../../rendering/index.ts';
import { evidenceOf } from './evidence.ts';
import { ownWords, type ModelPrompt, questionFor } from './prompt.ts';
import { tellFacts } from './facts.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type Prepared = {
  draft: Draft;
  question: ModelPrompt;
  evidence: ReturnType<typeof evidenceOf>;
  /** The addresses by the link ids that the model gets. */
  addresses: ReadonlyMap<string, string>;
};

export type Unprepared = { verdict: AiDraftingResult } | 'wait';

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
  if (!found) return { verdict: 'too_late' };
  const { draft, moves } = found;
  const standing = isRewordable(draft, moves, now);
  if (standing === 'wait') return 'wait';
  if (standing !== 'yes') return { verdict: standing };
  try {
    return await rendered(tx, draft, { models, renderer });
  } catch (error) {
    if (isRenderFailure(error)) return { verdict: 'unfit' };
    throw error;
  }
}

type Rendering = { models: Models; renderer: Renderer };

async function rendered(
  tx: Tx,
  draft: Draft,
  { models, renderer }: Rendering,
): Promise<Prepared | Unprepared> {
  const { projectId } = draft;
  const model = (await models.of(tx, [await readTurn(tx, projectId)])).get(projectId);
  if (model?.project.settings.drafting !== 'model') return { verdict: 'off' };
  const [person] = await findPeople(tx, [draft]);
  const [run] = await findRunsById(tx, draft.runId === null ? [] : [{ projectId, id: draft.runId }]);
  const email = emailOf(model, draft)?.text;
  if (!person || !run || email?.format !== 'markdown') return { verdict: 'unfit' };
  const variables = variablesFor({
    person,
    anchor: run.anchor,
    endsAt: draft.endsAt,
    project: model.project,
    zone: zoneOfPerson(person, model),
    locale: localeOfPerson(person, model),
  });
  const { content, facts } = await renderer.run('content', { email, variables }, { projectId });
  if (canonicalJson(content) !== canonicalJson(draft.content)) return { verdict: 'touched' };
  const ruleName = model.rules.byId.get(draft.ruleId)?.name ?? '';
  const links = await renderer.run('links', draft.content.body, { projectId });
  return ask({ draft, facts, email, links, ruleName, projectName: model.project.name });
}

type Asking = {
  draft: Draft;
  facts: Draft['facts'];
  email: Parameters<typeof ownWords>[0];
  links: { address: string; words: string }[] | null;
  ruleName: string;
  projectName: string;
};

function ask({ draft, facts, email, links, ruleName, projectName }: Asking): Prepared | Unprepared {
  if (links === null) return { verdict: 'unfit' };
  const { told, withheld } = tellFacts(facts);
  const own = ownWords(email);
  // The text of a link may be a trait of a user, so the model only gets texts that the author of the template wrote.
  const named = links.map(({ address, words }, at) => ({
    id: `link_${at + 1}`,
    address,
    words: own.includes(words) ? words : `link ${at + 1} of the email`,
  }));
  const question = questionFor({
    email,
    ruleName,
    told: { ...told, 'project.name': projectName },
    links: named.map(({ id, words }) => ({ id, words })),
  });
  return {
    draft,
    question,
    addresses: new Map(named.map(({ id, address }) => [id, address])),
    evidence: evidenceOf({
      told: { ...told, 'project.name': projectName },
      withheld,
      ownText: `${own}\n${projectName}`,
      linkIds: named.map(({ id }) => id),
    }),
  };
}
