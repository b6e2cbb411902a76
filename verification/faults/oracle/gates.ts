import { isQuietTime } from '../../../packages/server/testing/oracles/quiet-hours.ts';
import type { ActionEntry } from '../journal.ts';
import type { Facts, MoveRow } from './facts.ts';
import { hasArrived, describeEmail, type EmailTrace } from './emails.ts';
import type { Findings } from './findings.ts';

/**
 * Checks I6: no email is sent before its deadline without an approval, during quiet hours, or to a suppressed user. None is sent for a
 * skipped draft, while its project is paused, or from an unverified domain.
 *
 * An email that was in flight when a send check began to fail arrives after that. So the send checks are applied to the time at which it
 * was submitted. An email that arrives later than any SMTP conversation can take is a violation by itself.
 */
export function checkGates(facts: Facts, traces: Map<string, EmailTrace>, findings: Findings): void {
  const moves = Map.groupBy(facts.rows.moves, ({ project, draft }) => `${project} ${draft}`);
  const blocks = blocksOf(facts);
  const projects = new Map(facts.world.projects.map((project) => [project.id, project]));
  for (const trace of traces.values()) {
    const { email, copies } = trace;
    const submission = submissionOf(trace, moves.get(`${email.project} ${email.draft}`) ?? []);
    checkTime(submission, findings);
    checkBlocks(submission, blocks, findings);
    checkEnd(trace, findings);
    const project = projects.get(email.project);
    for (const { at } of copies)
      if (project && isQuiet(at, project) && isQuiet(Math.max(submission.at, at - IN_FLIGHT_MAX_MS), project))
        findings.add('I6', 'an email was sent during quiet hours', `${describeEmail(email)} at ${iso(at)}`);
  }
  checkActions(facts, findings);
}

/** The maximum difference between the clocks of the processes. */
const CLOCK_SKEW_MS = 1_000;
/** An SMTP conversation that takes longer is aborted. */
const IN_FLIGHT_MAX_MS = 10 * 60_000;

type Submission = EmailTrace & {
  /** A lower bound of the last submission, as far as it is known. */
  at: number;
  /** The first arrival at the receiving server, and the last. */
  first: number;
  last: number;
  moves: MoveRow[];
};

function submissionOf(trace: EmailTrace, moves: MoveRow[]): Submission {
  const { email, copies } = trace;
  const times = copies.map(({ at }) => at);
  const last = Math.max(...times);
  const before = moves.filter(({ at }) => at <= last + CLOCK_SKEW_MS);
  const asked = before.filter(({ action }) => action === 'ask_again');
  const claims = before.filter(({ action }) => action === 'claim');
  const claimedAt = Math.max(0, ...[...claims, ...asked].map(({ at }) => at));
  // A relay that is asked again may get the email only then, so the checks apply to the question.
  const isFirst = email.attempts === 1 && asked.length === 0;
  const at = isFirst && email.firstAt !== null ? email.firstAt : claimedAt;
  return { ...trace, at, first: Math.min(...times), last, moves };
}

const APPROVING: readonly string[] = ['approve', 'create_resend'];
const VOIDING: readonly string[] = ['edit', 'postpone', 'void_approval'];
/** These actions may end an approval or leave it unchanged. The resulting state shows which. */
const MAY_VOID: readonly string[] = ['undo', 'refresh_content', 'resume'];

function checkTime(submission: Submission, findings: Findings): void {
  const { email, draft, moves, first } = submission;
  if (!draft) return;
  const approval = approvalTime(moves, first);
  const evidence = `${describeEmail(email)} at ${iso(first)}`;
  if (approval === null) {
    if (draft.deadlineAt === null)
      findings.add('I6', 'an email was sent without the approval that it requires', evidence);
    else if (first < draft.deadlineAt - CLOCK_SKEW_MS)
      findings.add(
        'I6',
        'an email was sent before its deadline',
        `${evidence}, due ${iso(draft.deadlineAt)}`,
      );
  } else if (draft.notBefore !== null && first < draft.notBefore - CLOCK_SKEW_MS)
    findings.add('I6', 'an email was sent while its approval could be undone', evidence);
}

/** Returns the time of the approval in force at that moment, or null. */
function approvalTime(moves: MoveRow[], at: number): number | null {
  let approval: number | null = null;
  for (const move of moves) {
    if (move.at > at + CLOCK_SKEW_MS) break;
    if (APPROVING.includes(move.action)) approval = move.at;
    else if (VOIDING.includes(move.action)) approval = null;
    else if (MAY_VOID.includes(move.action) && move.to === 'scheduled') approval = null;
  }
  return approval;
}

/** Time spans in which no email of a project, or to an address or a user of it, may have been submitted. */
type Blocks = Map<string, { from: number; until: number; reason: string }[]>;

function blocksOf({ actions, rows }: Facts): Blocks {
  const blocks: Blocks = new Map();
  const add = (blockKey: string, from: number, { until, reason }: { until: number; reason: string }): void =>
    void (
      blocks.get(blockKey)?.push({ from, until, reason }) ?? blocks.set(blockKey, [{ from, until, reason }])
    );
  for (const action of actions) {
    if (action.endedAt === null || !isSuccessful(action)) continue;
    const { project, subject, endedAt } = action;
    if (action.action === 'suppress')
      add(`${project} ${subject.toLowerCase()}`, endedAt, {
        until: Infinity,
        reason: 'to a suppressed user or address',
      });
    if (action.action === 'pause')
      add(project, endedAt, {
        until: nextOf(actions, action, 'resume'),
        reason: 'while its project was paused',
      });
    if (action.action === 'unverify_domain')
      add(project, endedAt, {
        until: nextOf(actions, action, 'verify_domain'),
        reason: 'from an unverified domain',
      });
  }
  for (const { project, value, until, createdAt } of rows.suppressions)
    add(`${project} ${value}`, createdAt, {
      until: until ?? Infinity,
      reason: 'to a suppressed user or address',
    });
  return blocks;
}

function nextOf(actions: ActionEntry[], { project, at }: ActionEntry, name: ActionEntry['action']): number {
  return (
    actions.find((action) => action.project === project && action.action === name && action.at > at)?.at ??
    Infinity
  );
}

const isSuccessful = ({ status }: ActionEntry): boolean => status !== null && status >= 200 && status < 300;

function checkBlocks({ email, at, copies }: Submission, blocks: Blocks, findings: Findings): void {
  const { project, address, user } = email;
  const times = [project, `${project} ${address}`, `${project} ${user}`].flatMap(
    (blockKey) => blocks.get(blockKey) ?? [],
  );
  for (const { from, until, reason } of times) {
    const wasSubmitted = at > from + CLOCK_SKEW_MS && at < until;
    const late = copies.find((copy) => copy.at > from + IN_FLIGHT_MAX_MS && copy.at < until);
    if (!wasSubmitted && !late) continue;
    const when = `submitted ${iso(at)}, blocked since ${iso(from)}`;
    findings.add('I6', `an email was sent ${reason}`, `${describeEmail(email)}: ${when}`);
  }
}

const SUBMITTED_STATES: readonly string[] = ['sending', 'sent', 'failed', 'unknown'];

/** A draft that is skipped, canceled or still open was not sent. A deferred one may have been refused before. */
function checkEnd({ email, draft, copies }: EmailTrace, findings: Findings): void {
  if (!draft || SUBMITTED_STATES.includes(draft.state) || !copies.some(hasArrived)) return;
  findings.add('I6', `an email was sent for a draft that is ${draft.state}`, describeEmail(email));
}

/** Checks acknowledged actions: a skipped draft stays skipped unless the skip was undone. */
function checkActions({ actions, rows }: Facts, findings: Findings): void {
  const drafts = new Map(rows.drafts.map((draft) => [`${draft.project} ${draft.id}`, draft]));
  const moves = Map.groupBy(rows.moves, ({ project, draft }) => `${project} ${draft}`);
  for (const action of actions) {
    const moveAction = MEMBER_ACTIONS[action.action];
    if (!moveAction || !isSuccessful(action)) continue;
    const draftKey = `${action.project} ${action.subject}`;
    const memberMoves = (moves.get(draftKey) ?? []).filter(
      (move) => move.action === moveAction && isMemberMove(move),
    );
    const evidence = `${action.action} of draft ${action.subject} at ${iso(action.at)}`;
    if (memberMoves.length === 0)
      findings.add('I9', 'the action of a member is not among the moves of the draft', evidence);
    if (
      action.action === 'skip' &&
      drafts.get(draftKey)?.state !== 'skipped' &&
      !wasUndone(moves.get(draftKey) ?? [])
    )
      findings.add('I6', 'a skipped draft was continued', evidence);
  }
  checkMemberMoves({ actions, rows }, findings);
}

const MEMBER_ACTIONS: Partial<Record<ActionEntry['action'], string>> = {
  approve: 'approve',
  skip: 'skip',
  postpone: 'postpone',
};
const isMemberMove = ({ actor }: MoveRow): boolean => actor !== 'engine';
const wasUndone = (moves: MoveRow[]): boolean => moves.some(({ action }) => action === 'undo');

/** Checks that every recorded approval, skip or postponement matches an action of the run. */
function checkMemberMoves({ actions, rows }: Pick<Facts, 'actions' | 'rows'>, findings: Findings): void {
  const actionKeys = new Set(
    actions.map(({ action, project, subject }) => `${action} ${project} ${subject}`),
  );
  for (const move of rows.moves) {
    if (!Object.values(MEMBER_ACTIONS).includes(move.action) || !isMemberMove(move)) continue;
    if (!actionKeys.has(`${move.action} ${move.project} ${move.draft}`))
      findings.add(
        'I9',
        'a move has no matching action of a member',
        `${move.action} of draft ${move.draft} by ${move.actor}`,
      );
  }
}

type Hours = { quietHours: string; timeZone: string };

/** Evaluates quiet hours in the time zone of the project. */
function isQuiet(at: number, { quietHours, timeZone }: Hours): boolean {
  const [start, end] = quietHours.split('-');
  if (start === undefined || end === undefined) return false;
  return isQuietTime(at, { start, end, timeZone });
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
