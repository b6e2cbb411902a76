import type { SendServices, TransportEmail } from '../../delivery/index.ts';
import type { SendResult } from '../../../platform/mail/send-result.ts';
import { type Draft, listDrafts } from '../../drafts/index.ts';
import type { Random } from './random.ts';
import type { OutcomeData } from '../../outcomes/index.ts';
import { type MemberAction, moveDraft } from '../../review/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';

/** A recipient's reaction to an email and its time, always after sending. */
export type Reaction = { at: number; emailId: string } & (
  | { kind: 'outcome'; what: OutcomeData }
  | { kind: 'reply'; email: TransportEmail; text: string }
);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const REFUSED: SendResult = {
  result: 'failed',
  reason: 'rejected',
  reply: '550 5.1.1 The email account that you tried to reach does not exist',
  bounce: { class: 'hard', status: '5.1.1' },
};

const REPLIES = [
  'Thanks for asking! We were away for two weeks; back at it on Monday.',
  'Price, to be honest. We are three people and need one board.',
  'Could you show me how automation works? I got stuck at the second step.',
  'Missing: a calendar view. Otherwise we like it.',
  'Please call me tomorrow after ten.',
] as const;

/** A few mailboxes no longer exist. The reply is always the same. */
export function submitResult(random: Random): SendResult {
  return random.chance(0.012) ? REFUSED : { result: 'sent', reply: '250 2.0.0 OK', relayId: null };
}

export function reactionsTo(random: Random, email: TransportEmail, sentAt: number): Reaction[] {
  const { emailId } = email;
  const reactions: Reaction[] = [];
  const happens = (at: number, what: OutcomeData): void => {
    reactions.push({ at, emailId, kind: 'outcome', what });
  };
  if (random.chance(0.2))
    happens(sentAt + 3_000, { type: 'email.opened', bot: 'yes', botReason: 'image_proxy' });
  if (!random.chance(0.46)) return reactions;
  const openedAt = sentAt + MINUTE + random.wait(4 * HOUR);
  happens(openedAt, { type: 'email.opened', bot: 'no', botReason: null });
  if (random.chance(0.27)) {
    const what = { bot: 'no', botReason: null, link: 0, url: linkOf(email) } as const;
    happens(openedAt + random.wait(2 * MINUTE), { type: 'email.clicked', ...what });
  }
  if (random.chance(0.03)) {
    const at = openedAt + random.wait(HOUR);
    reactions.push({ at, emailId, kind: 'reply', email, text: random.pick(REPLIES) });
  }
  if (random.chance(0.012))
    happens(openedAt + random.wait(HOUR), { type: 'email.unsubscribed', method: 'one_click' });
  return reactions;
}

function linkOf({ content }: TransportEmail): string {
  return /\]\((https:\/\/[^()\s]+)\)/.exec(content.body)?.[1] ?? 'https://app.harbour.example/';
}

type ReviewContext = {
  db: Database;
  newId: NewId;
  sendServices: SendServices;
  random: Random;
  project: { id: number };
};

const REVIEWERS = ['Ada', 'Ben'] as const;
const REASONS = ['They wrote to us yesterday', 'Already on the phone with them', 'Wrong moment'] as const;
const DRAFTS_MAX = 40;

/** Simulates the team's review on each working day: most drafts are approved, some edited, a few skipped. */
export async function review(context: ReviewContext, { workday }: { workday: boolean }): Promise<void> {
  if (!workday) return;
  const query = { projectId: context.project.id, state: 'scheduled', ruleId: null, userId: null } as const;
  const waiting = await listDrafts(context.db, { ...query, after: null, limit: DRAFTS_MAX });
  for (const draft of waiting) {
    const act = choose(context.random, draft);
    if (act) await move(context, draft, act);
  }
}

function choose(random: Random, draft: Draft): MemberAction | null {
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
async function move(
  { db, newId, sendServices, random, project }: ReviewContext,
  draft: Draft,
  act: MemberAction,
): Promise<void> {
  const ref = { projectId: project.id, draftId: draft.id };
  try {
    await moveDraft({ db, newId, sendServices }, ref, { act, by: { actor: random.pick(REVIEWERS) } });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}
