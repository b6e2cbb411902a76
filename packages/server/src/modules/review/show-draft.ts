import { type LookAhead, lookAhead, type Mailroom } from '../delivery/index.ts';
import {
  type DraftContent,
  type Draft,
  type DraftContentKept,
  findDraft,
  listContents,
  listDrafts,
  type DraftTransition,
} from '../drafts/index.ts';
import { listAudiencesOf, ruleNames, type PersonAudience } from '../explain/index.ts';
import { listReplies, type Reply } from '../inbound/index.ts';
import {
  listOutcomesOf,
  listOutcomesOfDraft,
  type Outcome,
  type ShownOutcome,
  toShownOutcome,
} from '../outcomes/index.ts';
import { type Renderer, variablesFor } from '../rendering/index.ts';
import { type CaseAsked, type DraftCase, openCase } from './load-draft-case.ts';
import { type DraftRef, isDraftId, unknownDraft } from './move-draft.ts';
import { type WhyStep, whySteps } from './why-draft.ts';
import { createModels, emailOf, localeOfPerson, type Models, zoneOfPerson } from '../rules/index.ts';
import { findSuppressions } from '../sending/index.ts';
import { type ShownPerson, showPerson } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { readTurn } from '../../platform/locks/project-lock.ts';
import { normaliseAddress } from '../../platform/net/address.ts';

/** `ahead`: the result if the draft were sent now; null once it has ended. `outcomes`: the outcomes of its email. */
export type ShownWhole = {
  draft: Draft;
  rule: string;
  moves: DraftTransition[];
  ahead: LookAhead | null;
  outcomes: ShownOutcome[];
};

const OUTCOMES_SHOWN_MAX = 1_000;

/** Returns a draft with its text, every move, and the current result of the send checks. */
export async function showDraft(
  tx: Tx,
  { projectId, draftId, ...looking }: DraftRef & Looking,
): Promise<ShownWhole> {
  const found = isDraftId(draftId) ? await findDraft(tx, projectId, draftId) : undefined;
  if (!found) throw unknownDraft(draftId);
  const { draft, moves } = found;
  const names = await ruleNames(tx, projectId);
  const rule = names(draft.ruleId);
  const became = await listOutcomesOfDraft(tx, { projectId, draftId, limit: OUTCOMES_SHOWN_MAX });
  const outcomes = became.map((outcome) => toShownOutcome(outcome, names));
  const isOpen = draft.endedAt === null && draft.state !== 'sending';
  const ahead = isOpen ? await look(tx, draft, looking) : null;
  return { draft, rule, moves, ahead, outcomes };
}

type Looking = {
  now: number;
  mailroom: Mailroom;
  /** Shared by callers that look at many drafts. */
  models?: Models;
};

async function look(tx: Tx, draft: Draft, { now, mailroom, models }: Looking): Promise<LookAhead | null> {
  const { projectId } = draft;
  const known = models ?? createModels({ now: () => now });
  const model = (await known.of(tx, [await readTurn(tx, projectId)])).get(projectId);
  return model ? lookAhead(tx, draft, { model, now, mailroom }) : null;
}

type DraftContext = {
  why: WhyStep[];
  person: (ShownPerson & { timeZone: string; audiences: PersonAudience[]; isSuppressed: boolean }) | null;
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
  { projectId, draftId, now, models, mailroom }: CaseAsked & { mailroom: Mailroom },
): Promise<DraftContext> {
  const opened = isDraftId(draftId) ? await openCase(tx, { projectId, draftId, now, models }) : undefined;
  if (!opened) throw unknownDraft(draftId);
  const { draft, moves, model } = opened;
  const { userId } = draft;
  const wanted = { projectId, userId };
  const [why, person, drafts, outcomes, thread, names] = await Promise.all([
    whySteps(tx, opened, { now, mailroom }),
    showPerson(tx, wanted),
    listDrafts(tx, { ...wanted, state: null, ruleId: null, after: null, limit: EMAILS_SHOWN + 1 }),
    listOutcomesOf(tx, { ...wanted, limit: OUTCOMES_READ }),
    listReplies(tx, { ...wanted, limit: REPLIES_SHOWN }),
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
          audiences: await listAudiencesOf(tx, wanted),
          isSuppressed: await isSuppressed(tx, { ...wanted, email: person.email, now }),
        }
      : null,
    emails: others.map((one) => ({
      draft: one,
      rule: names(one.ruleId),
      outcomes: [...new Set((became.get(one.id) ?? []).map(({ type }) => type))],
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
  return { template: await emailNow(opened, renderer), versions: withPresent(opened, kept) };
}

async function emailNow(
  { draft, model, person, run }: DraftCase,
  renderer: Renderer,
): Promise<DraftVersions['template']> {
  const email = emailOf(model, draft);
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
function withPresent({ draft, moves }: DraftCase, kept: DraftContentKept[]): DraftContentKept[] {
  const { contentHash, content } = draft;
  if (kept.some((one) => one.contentHash === contentHash)) return kept;
  const by = moves.find((move) => move.contentHash === contentHash);
  return [{ contentHash, content, at: by?.at ?? draft.createdAt, actor: by?.actor ?? 'engine' }, ...kept];
}
