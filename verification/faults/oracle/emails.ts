import type { DraftRow, Facts, Email, EmailFactsRow } from './facts.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I5: a draft reaches the receiving server at most once, and an email recorded as sent has arrived. A due draft that was not sent
 * has a reason. A `failed` email was refused there. An `unknown` email may have arrived once or not at all.
 */
export function judgeEmails(facts: Facts, findings: Findings): Map<string, Sending> {
  const { messages, drafts } = facts.rows;
  const byId = new Map(messages.map((message) => [message.id, message]));
  const draftOf = new Map(drafts.map((draft) => [`${draft.project} ${draft.id}`, draft]));
  const sendings = new Map<string, Sending>();
  for (const [id, copies] of Map.groupBy(facts.emails, messageIdOf)) {
    const message = byId.get(id);
    if (message)
      sendings.set(id, { message, copies, draft: draftOf.get(`${message.project} ${message.draft}`) });
    else
      findings.add('I5', 'an email has no row in the database', `${id} to ${copies[0]?.to.join(', ') ?? ''}`);
  }
  for (const sending of sendings.values()) judgeCopies(sending, findings);
  const settled = new Set(
    facts.rows.moves.filter(({ action }) => action === 'resolve').map(({ draft }) => draft),
  );
  for (const message of messages) {
    const copies = sendings.get(message.id)?.copies ?? [];
    judgeState(message, { copies, isSettled: settled.has(message.draft) }, findings);
  }
  judgeWaiting(facts, findings);
  return sendings;
}

/** An email, all its copies at the receiving server, and its draft. */
export type Sending = { message: EmailFactsRow; copies: Email[]; draft: DraftRow | undefined };

const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

function messageIdOf({ messageId }: Email): string {
  return ID.exec(messageId)?.[0] ?? messageId;
}

/** Returns whether the receiving server has it or may have it: it accepted it, or it read all of it and hung up. */
export function arrived({ answered }: Email): boolean {
  return answered === null || (answered >= 200 && answered < 300);
}

function judgeCopies({ message, copies, draft }: Sending, findings: Findings): void {
  const there = copies.filter(arrived);
  const evidence = `${nameOf(message)}, ${there.map(({ at }) => new Date(at).toISOString()).join(', ')}`;
  if (there.length > 1) findings.add('I5', 'an email arrived twice', evidence);
  if (new Set(copies.map(({ digest }) => digest)).size > 1)
    findings.add('I5', 'an email has different bytes when it is retried', evidence);
  const to = new Set(copies.flatMap((copy) => copy.to.map((address) => address.toLowerCase())));
  if (to.size !== 1 || !to.has(message.address))
    findings.add('I12', 'an email went to another address', `${nameOf(message)}: ${[...to].join(', ')}`);
  if (!draft) findings.add('I5', 'an email has no draft', evidence);
  else if (draft.user !== message.user)
    findings.add('I12', 'an email and its draft have different users', evidence);
}

/** `isSettled`: its delivery was proven later, and an email that arrived may still bounce. */
type Known = { copies: Email[]; isSettled: boolean };

function judgeState(message: EmailFactsRow, { copies, isSettled }: Known, findings: Findings): void {
  const there = copies.filter(arrived).length;
  const evidence = `${nameOf(message)}, ${copies.length} at the far end`;
  if (message.state === 'sent' && there === 0)
    findings.add('I5', 'an email is recorded as sent, but never arrived', evidence);
  if (message.state === 'failed' && there > 0 && !isSettled)
    findings.add('I5', 'an email is recorded as failed, but arrived', evidence);
  if ((message.state === 'claimed' || message.state === 'deferred') && there > 0)
    findings.add('I5', 'an email arrived, but is scheduled to be sent again', evidence);
  if (message.attempts === 0 && copies.length > 0)
    findings.add('I5', 'an email was sent before its attempt was recorded', evidence);
}

/** The time within which the sender has checked everything due, on a busy machine. */
const LATE_MS = 60_000;

/** Checks open drafts at the settled point: each waits for review or a later time, or records what holds it. */
function judgeWaiting({ rows, quietAt, acts }: Facts, findings: Findings): void {
  if (quietAt === null) return;
  const paused = pausedAt(acts, quietAt);
  for (const draft of rows.drafts) {
    const evidence = `draft ${draft.id} of project ${draft.project}: ${draft.state} ${draft.reason ?? ''}`;
    if (draft.state === 'held' && draft.reason === null)
      findings.add('I5', 'a draft is held, and does not say why', evidence);
    const isDue = draft.dueAt !== null && draft.dueAt < quietAt - LATE_MS;
    if (isDue && !paused.has(draft.project)) findings.add('I5', 'a draft is due and stays', evidence);
    if (draft.state === 'approved' && draft.dueAt === null)
      findings.add('I5', 'an approved draft is never looked at again', evidence);
  }
}

function pausedAt(acts: Facts['acts'], at: number): Set<string> {
  const paused = new Set<string>();
  for (const one of acts) {
    if (one.at > at) break;
    if (one.act === 'pause') paused.add(one.project);
    if (one.act === 'resume' && one.done !== null) paused.delete(one.project);
  }
  return paused;
}

export function nameOf({ id, project, state, attempts }: EmailFactsRow): string {
  return `email ${id} of project ${project} (${state}, ${attempts} attempts)`;
}
