import { normaliseAddress } from '../../platform/net/address.ts';
import { type Draft, listDrafts, type Move } from '../drafts/index.ts';
import { listOutcomesOf, type Outcome } from '../outcomes/index.ts';
import { showPerson, type ShownPerson } from '../users/index.ts';
import { listReplies, type Reply } from '../inbound/index.ts';
import { findSuppressions } from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { isDraftId, unknownDraft } from './move-draft.ts';
import { ruleNames, listAudiencesOf, type ShownAudience } from '../explain/index.ts';
import { zoneOfPerson } from '../rules/index.ts';
import type { Mailroom } from '../delivery/index.ts';
import { type CaseAsked, openCase } from './load-draft-case.ts';
import { type WhyStep, whySteps } from './why-draft.ts';

export type DraftContext = {
  why: WhyStep[];
  person: (ShownPerson & { timeZone: string; audiences: ShownAudience[]; isSuppressed: boolean }) | null;
  letters: { draft: Draft; rule: string; outcomes: Outcome['type'][] }[];
  thread: Reply[];
  moves: Move[];
};

const LETTERS_SHOWN = 5;
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
    listDrafts(tx, { ...wanted, state: null, ruleId: null, after: null, limit: LETTERS_SHOWN + 1 }),
    listOutcomesOf(tx, { ...wanted, limit: OUTCOMES_READ }),
    listReplies(tx, { ...wanted, limit: REPLIES_SHOWN }),
    ruleNames(tx, projectId),
  ]);
  const became = Map.groupBy(outcomes, (outcome) => outcome.draftId);
  const others = drafts.filter(({ id }) => id !== draftId).slice(0, LETTERS_SHOWN);
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
    letters: others.map((one) => ({
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
