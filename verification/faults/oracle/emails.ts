import type { DraftRow, Facts, ReceivedEmail, EmailRow } from './facts.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I5: a draft reaches the receiving server at most once, and an email recorded as sent has arrived. A due draft that was not sent
 * has a reason. A `failed` email was refused there. An `unknown` email may have arrived once or not at all.
 */
export function checkEmails(facts: Facts, findings: Findings): Map<string, EmailTrace> {
  const { emails, drafts } = facts.rows;
  const byId = new Map(emails.map((email) => [email.id, email]));
  const draftOf = new Map(drafts.map((draft) => [`${draft.project} ${draft.id}`, draft]));
  const traces = new Map<string, EmailTrace>();
  for (const [id, copies] of Map.groupBy(facts.receivedEmails, emailIdOf)) {
    const email = byId.get(id);
    if (email) traces.set(id, { email, copies, draft: draftOf.get(`${email.project} ${email.draft}`) });
    else
      findings.add('I5', 'an email has no row in the database', `${id} to ${copies[0]?.to.join(', ') ?? ''}`);
  }
  for (const trace of traces.values()) checkCopies(trace, findings);
  const resolvedDrafts = new Set(
    facts.rows.moves.filter(({ action }) => action === 'resolve').map(({ draft }) => draft),
  );
  for (const email of emails) {
    const copies = traces.get(email.id)?.copies ?? [];
    checkState(email, { copies, isResolved: resolvedDrafts.has(email.draft) }, findings);
  }
  checkWaiting(facts, findings);
  checkReports(facts, findings);
  return traces;
}

/** An email, all its copies at the receiving server, and its draft. */
export type EmailTrace = { email: EmailRow; copies: ReceivedEmail[]; draft: DraftRow | undefined };

const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

function emailIdOf({ messageId }: ReceivedEmail): string {
  return ID.exec(messageId)?.[0] ?? messageId;
}

/** Returns whether the receiving server has it or may have it: it accepted it, or it read all of it and hung up. */
export function hasArrived({ replyStatus }: ReceivedEmail): boolean {
  return replyStatus === null || (replyStatus >= 200 && replyStatus < 300);
}

/** A provider gets the parts of an email and not its bytes, so only copies of one route are compared. */
function checkCopies({ email, copies, draft }: EmailTrace, findings: Findings): void {
  const arrivedCopies = copies.filter(hasArrived);
  const evidence = `${describeEmail(email)}, ${arrivedCopies.map(({ at }) => new Date(at).toISOString()).join(', ')}`;
  if (arrivedCopies.length > 1) findings.add('I5', 'an email arrived twice', evidence);
  const byRoute = Map.groupBy(copies, ({ from }) => (from.includes('@') ? 'smtp' : from));
  const differ = [...byRoute.values()].some((group) => new Set(group.map(({ digest }) => digest)).size > 1);
  if (differ) findings.add('I5', 'an email has different bytes when it is retried', evidence);
  const to = new Set(copies.flatMap((copy) => copy.to.map((address) => address.toLowerCase())));
  if (to.size !== 1 || !to.has(email.address))
    findings.add('I12', 'an email went to another address', `${describeEmail(email)}: ${[...to].join(', ')}`);
  if (!draft) findings.add('I5', 'an email has no draft', evidence);
  else if (draft.user !== email.user)
    findings.add('I12', 'an email and its draft have different users', evidence);
}

/** `isResolved`: its delivery was proven later, and an email that arrived may still bounce. */
type CopyFacts = { copies: ReceivedEmail[]; isResolved: boolean };

function checkState(email: EmailRow, { copies, isResolved }: CopyFacts, findings: Findings): void {
  const arrivalCount = copies.filter(hasArrived).length;
  const evidence = `${describeEmail(email)}, ${copies.length} at the receiving server`;
  if (email.state === 'sent' && arrivalCount === 0)
    findings.add('I5', 'an email is recorded as sent, but never arrived', evidence);
  if (email.state === 'failed' && arrivalCount > 0 && !isResolved)
    findings.add('I5', 'an email is recorded as failed, but arrived', evidence);
  if ((email.state === 'claimed' || email.state === 'deferred') && arrivalCount > 0)
    findings.add('I5', 'an email arrived, but is scheduled to be sent again', evidence);
  if (email.attempts === 0 && copies.length > 0)
    findings.add('I5', 'an email was sent before its attempt was recorded', evidence);
}

/** The time within which the sender has checked everything due, on a busy machine. */
const LATE_MS = 60_000;

/** Checks open drafts at the settled point: each waits for review or a later time, or records what holds it. */
function checkWaiting({ rows, quietAt, actions }: Facts, findings: Findings): void {
  if (quietAt === null) return;
  const paused = pausedProjects(actions, quietAt);
  for (const draft of rows.drafts) {
    const evidence = `draft ${draft.id} of project ${draft.project}: ${draft.state} ${draft.reason ?? ''}`;
    if (draft.state === 'held' && draft.reason === null)
      findings.add('I5', 'a held draft has no reason', evidence);
    const isDue = draft.dueAt !== null && draft.dueAt < quietAt - LATE_MS;
    if (isDue && !paused.has(draft.project)) findings.add('I5', 'a due draft was not processed', evidence);
    if (draft.state === 'approved' && draft.dueAt === null)
      findings.add('I5', 'an approved draft has no due time', evidence);
  }
}

/** Checks reports of providers: an acknowledged bounce is recorded once, and an acknowledged delivery settles its email. */
function checkReports({ reports, acknowledged, rows, quietAt }: Facts, findings: Findings): void {
  if (quietAt === null) return;
  const emails = new Map(rows.emails.map((email) => [email.id, email]));
  const bounces = Map.groupBy(
    rows.outcomes.filter(({ type, class: kind }) => type === 'email.bounced' && kind === ''),
    ({ email }) => email,
  );
  for (const { id, email: emailId, outcome } of reports) {
    const email = emails.get(emailId);
    if (!email || !acknowledged.has(id)) continue;
    const recorded = bounces.get(emailId)?.length ?? 0;
    const evidence = `${describeEmail(email)}: ${outcome}, ${recorded} bounces`;
    if (outcome === 'bounced' && recorded !== 1)
      findings.add('I5', 'a bounce that a provider reported is not recorded once', evidence);
    if (email.state === 'unknown')
      findings.add('I5', 'an email is unknown although its provider reported it', evidence);
  }
}

function pausedProjects(actions: Facts['actions'], at: number): Set<string> {
  const paused = new Set<string>();
  for (const action of actions) {
    if (action.at > at) break;
    if (action.action === 'pause') paused.add(action.project);
    if (action.action === 'resume' && action.endedAt !== null) paused.delete(action.project);
  }
  return paused;
}

export function describeEmail({ id, project, state, attempts }: EmailRow): string {
  return `email ${id} of project ${project} (${state}, ${attempts} attempts)`;
}
