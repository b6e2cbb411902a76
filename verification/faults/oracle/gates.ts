import type { ActEntry } from '../journal.ts';
import type { Facts, MoveRow } from './facts.ts';
import { arrived, nameOf, type Sending } from './emails.ts';
import type { Findings } from './verdict.ts';

/**
 * Checks I6: no email is sent before its deadline without an approval, during quiet hours, or to a suppressed user. None is sent for a
 * skipped draft, while its project is paused, or from an unverified domain.
 *
 * An email that was in flight when a send check began to fail arrives after that. So the send checks are applied to the time at which it
 * was submitted. An email that arrives later than any SMTP conversation can take is a violation by itself.
 */
export function judgeGates(facts: Facts, sendings: Map<string, Sending>, findings: Findings): void {
  const moves = Map.groupBy(facts.rows.moves, ({ project, draft }) => `${project} ${draft}`);
  const shut = shutTimes(facts);
  const worlds = new Map(facts.world.projects.map((one) => [one.id, one]));
  for (const sending of sendings.values()) {
    const { message, copies } = sending;
    const left = leavingOf(sending, moves.get(`${message.project} ${message.draft}`) ?? []);
    judgeMoment(left, findings);
    judgeShut(left, shut, findings);
    judgeEnd(sending, findings);
    const project = worlds.get(message.project);
    for (const { at } of copies)
      if (project && isQuiet(at, project) && isQuiet(Math.max(left.at, at - ON_ITS_WAY_MS), project))
        findings.add('I6', 'an email was sent during quiet hours', `${nameOf(message)} at ${iso(at)}`);
  }
  judgeActs(facts, findings);
}

/** The maximum difference between the clocks of the processes. */
const CLOCKS_MS = 1_000;
/** An SMTP conversation that takes longer is aborted. */
const ON_ITS_WAY_MS = 10 * 60_000;

type Leaving = Sending & {
  /** A lower bound of the last submission, as far as it is known. */
  at: number;
  /** The first arrival at the receiving server, and the last. */
  first: number;
  last: number;
  moves: MoveRow[];
};

function leavingOf(sending: Sending, moves: MoveRow[]): Leaving {
  const { message, copies } = sending;
  const times = copies.map(({ at }) => at);
  const last = Math.max(...times);
  const claims = moves.filter(({ action, at }) => action === 'claim' && at <= last + CLOCKS_MS);
  const claimedAt = Math.max(0, ...claims.map(({ at }) => at));
  const at = message.attempts === 1 && message.firstAt !== null ? message.firstAt : claimedAt;
  return { ...sending, at, first: Math.min(...times), last, moves };
}

const GIVE: readonly string[] = ['approve', 'create_resend'];
const VOID: readonly string[] = ['edit', 'postpone', 'void_approval'];
/** These actions may end an approval or leave it unchanged. The resulting state shows which. */
const MAY_VOID: readonly string[] = ['undo', 'refresh_content', 'resume'];

function judgeMoment(left: Leaving, findings: Findings): void {
  const { message, draft, moves, first } = left;
  if (!draft) return;
  const approved = approvedAt(moves, first);
  const evidence = `${nameOf(message)} at ${iso(first)}`;
  if (approved === null) {
    if (draft.deadlineAt === null)
      findings.add('I6', 'an email was sent without the approval that it requires', evidence);
    else if (first < draft.deadlineAt - CLOCKS_MS)
      findings.add(
        'I6',
        'an email was sent before its deadline',
        `${evidence}, due ${iso(draft.deadlineAt)}`,
      );
  } else if (draft.notBefore !== null && first < draft.notBefore - CLOCKS_MS)
    findings.add('I6', 'an email was sent while its approval could be undone', evidence);
}

/** Checks acknowledged actions: a skipped draft stays skipped unless the skip was undone. */
function approvedAt(moves: MoveRow[], at: number): number | null {
  let approved: number | null = null;
  for (const move of moves) {
    if (move.at > at + CLOCKS_MS) break;
    if (GIVE.includes(move.action)) approved = move.at;
    else if (VOID.includes(move.action)) approved = null;
    else if (MAY_VOID.includes(move.action) && move.to === 'scheduled') approved = null;
  }
  return approved;
}

/** Returns the time of the approval in force at that moment, or null. */
type Shut = Map<string, { from: number; until: number; why: string }[]>;

function shutTimes({ acts, rows }: Facts): Shut {
  const shut: Shut = new Map();
  const add = (place: string, from: number, { until, why }: { until: number; why: string }): void =>
    void (shut.get(place)?.push({ from, until, why }) ?? shut.set(place, [{ from, until, why }]));
  for (const one of acts) {
    if (one.done === null || !isDone(one)) continue;
    const { project, subject, done } = one;
    if (one.act === 'suppress')
      add(`${project} ${subject.toLowerCase()}`, done, {
        until: Infinity,
        why: 'to a suppressed user or address',
      });
    if (one.act === 'pause')
      add(project, done, { until: nextOf(acts, one, 'resume'), why: 'while its project was paused' });
    if (one.act === 'unverify_domain')
      add(project, done, {
        until: nextOf(acts, one, 'verify_domain'),
        why: 'from an unverified domain',
      });
  }
  for (const { project, value, until, createdAt } of rows.suppressions)
    add(`${project} ${value}`, createdAt, {
      until: until ?? Infinity,
      why: 'to a suppressed user or address',
    });
  return shut;
}

function nextOf(acts: ActEntry[], { project, at }: ActEntry, act: ActEntry['act']): number {
  return acts.find((one) => one.project === project && one.act === act && one.at > at)?.at ?? Infinity;
}

const isDone = ({ status }: ActEntry): boolean => status !== null && status >= 200 && status < 300;

function judgeShut({ message, at, copies }: Leaving, shut: Shut, findings: Findings): void {
  const { project, address, user } = message;
  const times = [project, `${project} ${address}`, `${project} ${user}`].flatMap(
    (place) => shut.get(place) ?? [],
  );
  for (const { from, until, why } of times) {
    const submitted = at > from + CLOCKS_MS && at < until;
    const late = copies.find((copy) => copy.at > from + ON_ITS_WAY_MS && copy.at < until);
    if (!submitted && !late) continue;
    const when = `submitted ${iso(at)}, shut since ${iso(from)}`;
    findings.add('I6', `an email was sent ${why}`, `${nameOf(message)}: ${when}`);
  }
}

const LEFT: readonly string[] = ['sending', 'sent', 'failed', 'unknown'];

/** Time spans in which no email of a project, or to an address or a user of it, may have been submitted. */
function judgeEnd({ message, draft, copies }: Sending, findings: Findings): void {
  if (!draft || LEFT.includes(draft.state) || !copies.some(arrived)) return;
  findings.add('I6', `an email was sent for a draft that is ${draft.state}`, nameOf(message));
}

/** A draft that is skipped, canceled or still open was not sent. A deferred one may have been refused before. */
function judgeActs({ acts, rows }: Facts, findings: Findings): void {
  const drafts = new Map(rows.drafts.map((draft) => [`${draft.project} ${draft.id}`, draft]));
  const moves = Map.groupBy(rows.moves, ({ project, draft }) => `${project} ${draft}`);
  for (const one of acts) {
    const action = PERSONS[one.act];
    if (!action || !isDone(one)) continue;
    const place = `${one.project} ${one.subject}`;
    const made = (moves.get(place) ?? []).filter((move) => move.action === action && isPersons(move));
    const evidence = `${one.act} of draft ${one.subject} at ${iso(one.at)}`;
    if (made.length === 0)
      findings.add('I9', 'what somebody did to a draft is not among its moves', evidence);
    if (one.act === 'skip' && drafts.get(place)?.state !== 'skipped' && !hasUndone(moves.get(place) ?? []))
      findings.add('I6', 'what was skipped goes on', evidence);
  }
  judgePersons({ acts, rows }, findings);
}

const PERSONS: Partial<Record<ActEntry['act'], string>> = {
  approve: 'approve',
  skip: 'skip',
  postpone: 'postpone',
};
const isPersons = ({ actor }: MoveRow): boolean => actor !== 'engine';
const hasUndone = (moves: MoveRow[]): boolean => moves.some(({ action }) => action === 'undo');

/** Checks that every recorded approval, skip or postponement matches an action of the run. */
function judgePersons({ acts, rows }: Pick<Facts, 'acts' | 'rows'>, findings: Findings): void {
  const asked = new Set(acts.map(({ act, project, subject }) => `${act} ${project} ${subject}`));
  for (const move of rows.moves) {
    if (!Object.values(PERSONS).includes(move.action) || !isPersons(move)) continue;
    if (!asked.has(`${move.action} ${move.project} ${move.draft}`))
      findings.add(
        'I9',
        'a draft was moved by somebody who did not',
        `${move.action} of draft ${move.draft} by ${move.actor}`,
      );
  }
}

type Hours = { quietHours: string; timeZone: string };

/** Evaluates quiet hours in the time zone of the project. */
function isQuiet(at: number, { quietHours, timeZone }: Hours): boolean {
  const [start, end] = quietHours.split('-');
  if (start === undefined || end === undefined || start === end) return false;
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const now = clock.format(at);
  return start < end ? now >= start && now < end : now >= start || now < end;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
