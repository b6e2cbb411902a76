import type { NewId } from '../../../platform/ids.ts';
import { Fault } from '../../../platform/fault.ts';
import { type Draft, listDrafts } from '../../drafts/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type Act, moveDraft } from '../../review/index.ts';
import type { Mailroom } from '../../delivery/index.ts';
import type { Random } from './random.ts';

type Desk = { db: Database; newId: NewId; mailroom: Mailroom; random: Random; project: { id: number } };

const REVIEWERS = ['Ada', 'Ben'] as const;
const REASONS = ['They wrote to us yesterday', 'Already on the phone with them', 'Wrong moment'] as const;
const LOOKED_AT = 40;

/** Simulates the team's review on each working day: most drafts are approved, some edited, a few skipped. */
export async function review(desk: Desk, { workday }: { workday: boolean }): Promise<void> {
  if (!workday) return;
  const asked = { projectId: desk.project.id, state: 'scheduled', ruleId: null, userId: null } as const;
  const waiting = await listDrafts(desk.db, { ...asked, after: null, limit: LOOKED_AT });
  for (const draft of waiting) {
    const act = choose(desk.random, draft);
    if (act) await move(desk, draft, act);
  }
}

function choose(random: Random, draft: Draft): Act | null {
  const waits = draft.deadlineAt === null;
  if (random.chance(waits ? 0.12 : 0.16)) return { kind: 'edit', content: edited(draft) };
  if (random.chance(0.05)) return { kind: 'skip', reason: random.pick(REASONS) };
  return random.chance(waits ? 0.75 : 0.35) ? { kind: 'approve' } : null;
}

/** All reviewers dislike the same sentence, so that the edits lead to a template suggestion. */
function edited({ content }: Draft): Draft['content'] {
  const paragraphs = content.body.split('\n\n');
  const shorter = paragraphs.length > 3 ? paragraphs.toSpliced(-2, 1) : paragraphs;
  return { ...content, body: shorter.join('\n\n').replace('Hi ', 'Hello ') };
}

/** Skips an action that is no longer possible. */
async function move({ db, newId, mailroom, random, project }: Desk, draft: Draft, act: Act): Promise<void> {
  const ref = { projectId: project.id, draftId: draft.id };
  try {
    await moveDraft({ db, newId, mailroom }, ref, { act, by: { actor: random.pick(REVIEWERS) } });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}
