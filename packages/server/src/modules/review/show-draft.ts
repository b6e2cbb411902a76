import type { AudienceOfUser } from '@beckon/contract/dashboard';
import { type LookAhead, lookAhead, type SendServices } from '../delivery/index.ts';
import {
  type DraftContent,
  type Draft,
  type StoredDraftContent,
  findDraft,
  listContents,
  listDrafts,
  type DraftTransition,
} from '../drafts/index.ts';
import { listAudiencesOf, ruleNames } from '../explain/index.ts';
import { listReplies, type Reply } from '../inbound/index.ts';
import {
  listOutcomesOf,
  listOutcomesOfDraft,
  type Outcome,
  type OutcomeView,
  outcomeView,
} from '../outcomes/index.ts';
import { type Renderer, variablesFor } from '../rendering/index.ts';
import { type DraftCaseQuery, type DraftCase, openCase } from './load-draft-case.ts';
import { type DraftRef, isDraftId, unknownDraft } from './move-draft.ts';
import { type WhyStep, whySteps } from './why-draft.ts';
import { createModels, draftTemplate, localeOfPerson, type Models, zoneOfPerson } from '../rules/index.ts';
import { findSuppressions } from '../sending/index.ts';
import { type PersonView, showPerson } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import { normaliseAddress } from '../../platform/net/address.ts';

/** `ahead`: the result if the draft were sent now; null once it has ended. `outcomes`: the outcomes of its email. */
export type DraftDetail = {
  draft: Draft;
  rule: string;
  moves: DraftTransition[];
  ahead: LookAhead | null;
  outcomes: OutcomeView[];
};

const OUTCOMES_MAX = 1_000;

/** Returns a draft with its text, every move, and the current result of the send checks. */
export async function showDraft(
  tx: Tx,
  { projectId, draftId, ...lookAheadOptions }: DraftRef & LookAheadOptions,
): Promise<DraftDetail> {
  const found = isDraftId(draftId) ? await findDraft(tx, projectId, draftId) : undefined;
  if (!found) throw unknownDraft(draftId);
  const { draft, moves } = found;
  const names = await ruleNames(tx, projectId);
  const rule = names(draft.ruleId);
  const became = await listOutcomesOfDraft(tx, { projectId, draftId, limit: OUTCOMES_MAX });
  const outcomes = became.map((outcome) => outcomeView(outcome, names));
  const isOpen = draft.endedAt === null && draft.state !== 'sending';
  const ahead = isOpen ? await lookAheadOf(tx, draft, lookAheadOptions) : null;
  return { draft, rule, moves, ahead, outcomes };
}

type LookAheadOptions = {
  now: number;
  sendServices: SendServices;
  /** Shared by callers that look at many drafts. */
  models?: Models;
};

async function lookAheadOf(
  tx: Tx,
  draft: Draft,
  { now, sendServices, models }: LookAheadOptions,
): Promise<LookAhead | null> {
  const { projectId } = draft;
  const modelCache = models ?? createModels({ now: () => now });
  const model = (await modelCache.of(tx, [await readProjectLock(tx, projectId)])).get(projectId);
  return model ? lookAhead(tx, draft, { model, now, sendServices: sendServices }) : null;
}

type DraftContext = {
  why: WhyStep[];
  person: (PersonView & { timeZone: string; audiences: AudienceOfUser[]; isSuppressed: boolean }) | null;
  emails: { draft: Draft; rule: string; outcomes: Outcome['type'][] }[];
  thread: Reply[];
  moves: DraftTransition[];
};

const EMAILS_SHOWN = 5;
const REPLIES_SHOWN = 10;
const OUTCOMES_READ = 200;

/** Returns what a member needs to decide about a draft: why it exists, who it is for, and the user's earlier emails and replies. */
export async function showContext(
  tx: Tx,
  { projectId, draftId, now, models, sendServices }: DraftCaseQuery & { sendServices: SendServices },
): Promise<DraftContext> {
  const opened = isDraftId(draftId) ? await openCase(tx, { projectId, draftId, now, models }) : undefined;
  if (!opened) throw unknownDraft(draftId);
  const { draft, moves, model } = opened;
  const { userId } = draft;
  const key = { projectId, userId };
  const [why, person, drafts, outcomes, thread, names] = await Promise.all([
    whySteps(tx, opened, { now, sendServices }),
    showPerson(tx, key),
    listDrafts(tx, { ...key, state: null, ruleId: null, after: null, limit: EMAILS_SHOWN + 1 }),
    listOutcomesOf(tx, { ...key, limit: OUTCOMES_READ }),
    listReplies(tx, { ...key, limit: REPLIES_SHOWN }),
    ruleNames(tx, projectId),
  ]);
  const became = Map.groupBy(outcomes, (outcome) => outcome.draftId);
  const others = drafts.filter(({ id }) => id !== draftId).slice(0, EMAILS_SHOWN);
  return {
    why,
    person: person
      ? {
          ...person,
          timeZone: zoneOfPerson({ traits: new Map(Object.entries(person.traits)) }, model),
          audiences: await listAudiencesOf(tx, key),
          isSuppressed: await isSuppressed(tx, { ...key, email: person.email, now }),
        }
      : null,
    emails: others.map((other) => ({
      draft: other,
      rule: names(other.ruleId),
      outcomes: [...new Set((became.get(other.id) ?? []).map(({ type }) => type))],
    })),
    thread,
    moves,
  };
}

async function isSuppressed(
  tx: Tx,
  { projectId, userId, email, now }: { projectId: number; userId: string; email: string | null; now: number },
): Promise<boolean> {
  const address = email === null ? null : normaliseAddress(email);
  const [found] = await findSuppressions(tx, [{ projectId, userId, address }], now);
  return Boolean(found) && (found?.until === null || (found?.until ?? 0) > now);
}

/** `template`: the text that the template has for this user today; null if it can no longer be rendered. The newest version comes first. */
type DraftVersions = {
  template: (DraftContent & { name: string | null }) | null;
  versions: StoredDraftContent[];
};

export async function showVersions(
  { db: tx, renderer }: { db: Tx; renderer: Renderer },
  query: DraftCaseQuery,
): Promise<DraftVersions> {
  const { projectId, draftId } = query;
  const opened = isDraftId(draftId) ? await openCase(tx, query) : undefined;
  if (!opened) throw unknownDraft(draftId);
  const kept = await listContents(tx, projectId, draftId);
  return { template: await emailNow(opened, renderer), versions: withCurrentVersion(opened, kept) };
}

async function emailNow(
  { draft, model, person, run }: DraftCase,
  renderer: Renderer,
): Promise<DraftVersions['template']> {
  const email = draftTemplate(model, draft);
  if (!email || !person || !run) return null;
  const variables = variablesFor({
    person,
    anchor: run.anchor,
    endsAt: draft.endsAt,
    project: model.project,
    zone: zoneOfPerson(person, model),
    locale: localeOfPerson(person, model),
  });
  const { projectId } = draft;
  const { content } = await renderer.run('content', { email: email.text, variables }, { projectId });
  return { ...content, name: email.name };
}

/** Adds the present content of a draft that was never edited, because no version of it was stored. */
function withCurrentVersion({ draft, moves }: DraftCase, kept: StoredDraftContent[]): StoredDraftContent[] {
  const { contentHash, content } = draft;
  if (kept.some((version) => version.contentHash === contentHash)) return kept;
  const by = moves.find((move) => move.contentHash === contentHash);
  return [{ contentHash, content, at: by?.at ?? draft.createdAt, actor: by?.actor ?? 'engine' }, ...kept];
}
