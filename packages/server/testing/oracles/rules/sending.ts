import { createHash } from 'node:crypto';
import { HOUR, MINUTE } from '../../factories/drafts.ts';
import { note, type Oracle, type OracleDraft, type OraclePerson, type OracleRun } from './state.ts';

/** The oracle's model of drafts and their send checks. */
const DAY = 24 * HOUR;
const GRACE_MS = 15 * MINUTE;
const SPREAD_MS = 30 * MINUTE;
const CONTEND_MS = 2 * HOUR;
const YIELDS_MS = 5 * MINUTE;
const CAPS = [
  { emails: 1, ms: DAY },
  { emails: 3, ms: 7 * DAY },
];
const QUIET = { start: '21:00', end: '08:00' };

export function newOracleDraft(oracle: Oracle, run: OracleRun, person: OraclePerson): void {
  const draft: OracleDraft = {
    run,
    ordinal: oracle.drafts.filter((other) => other.run === run).length,
    state: person.email === null ? 'held' : 'scheduled',
    resume: 'scheduled',
    held: person.email === null ? 'no_address' : null,
    end: null,
    deadline: null,
    notBefore: null,
    due: null,
    expires: null,
    facts: factsOf(run, person),
    isEdited: false,
    isForced: false,
  };
  oracle.drafts.push(draft);
  if (person.email !== null) {
    setFirstTimes(oracle, draft);
    draft.due = dueOfScheduled(draft);
  }
}

function factsOf({ rest, rule }: OracleRun, person: OraclePerson): Record<string, unknown> {
  const step = rest[0] ?? rule.steps[0];
  const names = step?.do === 'draft' ? step.facts : [];
  return Object.fromEntries(
    names.map((name) => [name, name === 'zone' ? zoneOf(person) : (person.traits[name] ?? null)]),
  );
}

/** An invalid time zone falls back to the default. */
export function zoneOf({ traits: { timezone } }: Pick<OraclePerson, 'traits'>): string {
  try {
    return Temporal.Now.zonedDateTimeISO(typeof timezone === 'string' ? timezone : 'UTC').timeZoneId;
  } catch {
    return 'UTC';
  }
}

function setFirstTimes({ now }: Oracle, draft: OracleDraft): void {
  const { rule, endsAt } = draft.run;
  if (rule.deadlineMs === null) return;
  draft.deadline = beforeEnd(now + rule.deadlineMs, { now, endsAt });
  draft.expires = Math.min(draft.deadline + rule.expiresMs, endsAt ?? Infinity);
}

/** Limits a time to a quarter of an hour before the end of the run's subject. */
export function beforeEnd(time: number, { now, endsAt }: { now: number; endsAt: number | null }): number {
  return Math.max(now, Math.min(time, (endsAt ?? Infinity) - GRACE_MS));
}

/** Returns when the draft is sent if nothing holds it. */
function leavesAt(draft: OracleDraft): number | null {
  return isApproved(draft) ? draft.notBefore : draft.deadline;
}

export function isApproved({ state, resume }: OracleDraft): boolean {
  return state === 'approved' || (state === 'held' && resume === 'approved');
}

/** A draft that is due right at its expiry gets another quarter of an hour. The end of its subject is never extended. */
export function expiryOf(draft: OracleDraft): number {
  const end = draft.run.endsAt ?? Infinity;
  if (draft.expires === null) return end;
  return Math.min(Math.max(draft.expires, (leavesAt(draft) ?? 0) + GRACE_MS), end);
}

export function dueOfScheduled(draft: OracleDraft): number | null {
  const expiry = expiryOf({ ...draft, state: 'scheduled' });
  return draft.deadline ?? (expiry === Infinity ? null : expiry);
}

/** Starts the deadline of a draft whose user had no address until now. */
export function beginTime(oracle: Oracle, draft: OracleDraft): void {
  if (draft.deadline === null) setFirstTimes(oracle, draft);
  goOn(oracle, draft);
}

/** Resumes a held draft in its previous state, unless it has expired. */
export function goOn(oracle: Oracle, draft: OracleDraft): void {
  const { now } = oracle;
  if (now >= expiryOf(draft)) return cancelDraft(oracle, draft, 'expired');
  const leaves = leavesAt(draft);
  const due = leaves !== null && leaves <= now ? now : leaves;
  draft.state = draft.resume;
  draft.held = null;
  if (draft.state === 'scheduled') draft.notBefore = null;
  draft.due = draft.state === 'approved' ? (due ?? now) : (due ?? dueOfScheduled(draft));
}

/** Ends a run and cancels all its open drafts, whatever a member did to them. */
export function endRun(oracle: Oracle, run: OracleRun, reason: string): void {
  if (run.end !== null) return;
  Object.assign(run, { end: reason, waits: null, nextAt: null });
  if (reason === 'done') return;
  for (const draft of oracle.drafts)
    if (draft.run === run && draft.end === null) cancelDraft(oracle, draft, reason);
}

/** The run of an expired draft continues. Runs canceled for another reason have ended, or continue as well. */
export function cancelDraft(oracle: Oracle, draft: OracleDraft, reason: string): void {
  endDraft(oracle, draft, `canceled ${reason}`);
}

function endDraft({ now }: Oracle, draft: OracleDraft, end: string): void {
  Object.assign(draft, { end, due: null, held: null });
  wake(draft.run, now);
}

export function wake(run: OracleRun, at: number): void {
  if (run.end === null && run.waits === 'draft') Object.assign(run, { waits: 'time', nextAt: at });
}

/** Returns the number in the first eight hex digits of the hash of its id. */
function hashOf(oracle: Oracle, draft: OracleDraft): number {
  return Number.parseInt(createHash('sha256').update(oracle.idOf(draft)).digest('hex').slice(0, 8), 16);
}

export function spreadOf(oracle: Oracle, draft: OracleDraft): number {
  return hashOf(oracle, draft) % SPREAD_MS;
}

/** Checks everything that is due now, in order, and claims or holds it. Then the claimed drafts are submitted. */
export function send(oracle: Oracle): boolean {
  const { now } = oracle;
  const due = oracle.drafts
    .filter((draft) => draft.end === null && draft.due !== null && draft.due <= now)
    .map((draft) => ({ draft, id: oracle.idOf(draft) }))
    .toSorted((a, b) => (a.draft.due ?? 0) - (b.draft.due ?? 0) || (a.id < b.id ? -1 : 1))
    .map(({ draft }) => draft);
  const rivals = rivalsNow(oracle);
  for (const draft of due) {
    if (now >= expiryOf(draft)) {
      cancelDraft(oracle, draft, 'expired');
      noteReason(oracle, draft, 'expired');
    } else if (isReady(oracle, draft)) leave(oracle, draft, rivals);
    else {
      goOn(oracle, draft);
      noteReason(oracle, draft, draft.state);
    }
  }
  for (const draft of due) if (draft.state === 'sending' && draft.end === null) finish(oracle, draft);
  return due.length > 0;
}

function noteReason(oracle: Oracle, { run: { userId, rule, key } }: OracleDraft, reason: string): void {
  note(oracle, { userId, rule, key, reason });
}

function isReady({ now }: Oracle, draft: OracleDraft): boolean {
  const leaves = leavesAt(draft);
  return draft.held !== 'postponed' && leaves !== null && leaves <= now;
}

/** Reasons of drafts that wait only for time, and count. */
const WAITS_FOR_TIME = new Set([null, 'quiet_hours', 'frequency_cap', 'frequency_cap_yielded', 'suppressed']);

function contends(draft: OracleDraft): boolean {
  const { end, due, held, state, run } = draft;
  const waits = end === null && state !== 'sending' && due !== null && WAITS_FOR_TIME.has(held);
  return waits && run.rule.counts && (isApproved(draft) || draft.deadline !== null);
}

type Rival = { draft: OracleDraft; due: number };

/** Returns the rivals at the moment when the first due draft is checked. */
function rivalsNow({ drafts }: Oracle): Rival[] {
  return drafts.filter(contends).map((draft) => ({ draft, due: draft.due ?? 0 }));
}

/** Returns what would hold the draft if it were sent now. */
export function gateNow(oracle: Oracle, draft: OracleDraft): No | null {
  return gate(oracle, draft, rivalsNow(oracle));
}

function leave(oracle: Oracle, draft: OracleDraft, rivals: Rival[]): void {
  const { run } = draft;
  const person = personOf(oracle, run.userId);
  if (!run.rule.onlyIf(person) && !draft.isForced) return holdsNoMore(oracle, draft);
  if (follow(oracle, draft)) return noteReason(oracle, draft, 'facts_changed');
  const no = gate(oracle, draft, rivals);
  if (no) return stay(oracle, draft, no);
  const { now } = oracle;
  noteReason(oracle, draft, 'claimed');
  draft.state = 'sending';
  const { counts } = run.rule;
  oracle.claims.push({ draft, address: addressOf(person), at: now, counts, isFailed: false });
}

export function personOf({ people }: Oracle, userId: string): OraclePerson {
  const person = people.get(userId);
  if (!person) throw new Error(`${userId} is not known`);
  return person;
}

export function addressOf({ email }: OraclePerson): string {
  return (email ?? '').toLowerCase();
}

/** An edited draft is kept for review. */
function holdsNoMore(oracle: Oracle, draft: OracleDraft): void {
  if (draft.isEdited) {
    hold(draft, { reason: 'needs_review', until: null });
    return noteReason(oracle, draft, 'needs_review');
  }
  cancelDraft(oracle, draft, 'rule_no_longer_holds');
  noteReason(oracle, draft, 'rule_no_longer_holds');
}

/** Refreshes the facts of a draft. An approval covered the old facts, so an approved draft gets a whole new period. */
export function follow(oracle: Oracle, draft: OracleDraft): boolean {
  const { now } = oracle;
  const { rule, endsAt, userId } = draft.run;
  const facts = factsOf(draft.run, personOf(oracle, userId));
  if (JSON.stringify(facts) === JSON.stringify(draft.facts)) return false;
  if (isApproved(draft))
    draft.deadline = rule.deadlineMs === null ? null : beforeEnd(now + rule.deadlineMs, { now, endsAt });
  const notBefore = draft.held === 'postponed' ? draft.notBefore : null;
  Object.assign(draft, { facts, resume: 'scheduled', notBefore });
  if (draft.state !== 'held') Object.assign(draft, { state: 'scheduled', due: dueOfScheduled(draft) });
  return true;
}

/** Holds the draft. A permanent suppression ends its run instead. */
function stay(oracle: Oracle, draft: OracleDraft, no: No): void {
  if (no.reason === 'suppressed' && no.until === null) endRun(oracle, draft.run, 'suppressed');
  else hold(draft, no);
  // Reasons that enrollments and emails share get different names.
  const isEntrys = no.reason === 'suppressed' || no.reason === 'rule_off';
  noteReason(oracle, draft, isEntrys ? `email_${no.reason}` : no.reason);
}

type No = { reason: string; until: number | null };

export function hold(draft: OracleDraft, { reason, until }: No): void {
  const resume = isApproved(draft) ? 'approved' : 'scheduled';
  const due = until === null ? null : Math.min(until, expiryOf(draft));
  Object.assign(draft, { state: 'held', resume, held: reason, due });
}

function gate(oracle: Oracle, draft: OracleDraft, rivals: Rival[]): No | null {
  const no =
    (oracle.isPaused ? { reason: 'paused', until: null } : null) ??
    ruleGate(oracle, draft) ??
    suppressionGate(oracle, draft) ??
    quietGate(oracle, draft) ??
    capGate(oracle, draft) ??
    yieldGate(oracle, draft, rivals);
  return no && { ...no, until: no.until === null ? null : Math.max(no.until, oracle.now + 1) };
}

function ruleGate({ enabledAt }: Oracle, { run }: OracleDraft): No | null {
  return enabledAt.get(run.rule) === null ? { reason: 'rule_off', until: null } : null;
}

/** The suppression that lasts longest counts. A missing address is checked after suppressions. */
function suppressionGate(oracle: Oracle, { run }: OracleDraft): No | null {
  const person = personOf(oracle, run.userId);
  const ends = oracle.suppressions
    .filter(({ kind, value }) => value === (kind === 'user' ? person.id : addressOf(person)))
    .map(({ until }) => until ?? Infinity)
    .filter((until) => until > oracle.now);
  const end = Math.max(0, ...ends);
  if (end > 0) return { reason: 'suppressed', until: end === Infinity ? null : end };
  return person.email === null ? { reason: 'no_address', until: null } : null;
}

function quietGate(oracle: Oracle, draft: OracleDraft): No | null {
  const zone = zoneOf(personOf(oracle, draft.run.userId));
  const end = quietEnd(oracle.now, zone);
  if (end === null) return null;
  return { reason: 'quiet_hours', until: end + Math.floor((hashOf(oracle, draft) / 2 ** 32) * SPREAD_MS) };
}

/** Returns the end of the current quiet hours, or null outside of quiet hours. */
export function quietEnd(now: number, zone: string): number | null {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate();
  for (const days of [-1, 0]) {
    const at = (date: Temporal.PlainDate, time: string): number =>
      date.toPlainDateTime(time).toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds;
    const evening = today.add({ days });
    const end = at(evening.add({ days: 1 }), QUIET.end);
    if (at(evening, QUIET.start) <= now && now < end) return end;
  }
  return null;
}

/** Returns the times of emails to the address that use a cap slot, newest first. */
function claimedFor(oracle: Oracle, draft: OracleDraft): number[] {
  const address = addressOf(personOf(oracle, draft.run.userId));
  return oracle.claims
    .filter((claim) => claim.address === address && claim.counts && !claim.isFailed)
    .map(({ at }) => at)
    .toSorted((a, b) => b - a);
}

function capGate(oracle: Oracle, draft: OracleDraft): No | null {
  if (!draft.run.rule.counts) return null;
  const claimed = claimedFor(oracle, draft);
  const frees = CAPS.flatMap(({ emails, ms }) => {
    const oldest = claimed[emails - 1];
    return oldest !== undefined && oldest + ms > oracle.now ? [oldest + ms] : [];
  });
  return frees.length > 0 ? { reason: 'frequency_cap', until: Math.max(...frees) } : null;
}

/** Ranks drafts for one address that are due within two hours: by priority, then due time, then id. */
function yieldGate(oracle: Oracle, draft: OracleDraft, rivals: Rival[]): No | null {
  const { now } = oracle;
  if (!draft.run.rule.counts) return null;
  const address = addressOf(personOf(oracle, draft.run.userId));
  const claimed = claimedFor(oracle, draft);
  const slots = Math.min(
    ...CAPS.map(({ emails, ms }) => emails - claimed.filter((at) => at + ms > now).length),
  );
  const inOrder = rivals
    .filter((rival) => rival.draft.state !== 'sending' && rival.due <= now + CONTEND_MS)
    .filter((rival) => addressOf(personOf(oracle, rival.draft.run.userId)) === address)
    .toSorted(
      (a, b) =>
        b.draft.run.rule.priority - a.draft.run.rule.priority ||
        a.due - b.due ||
        (oracle.idOf(a.draft) < oracle.idOf(b.draft) ? -1 : 1),
    );
  const last = inOrder[slots - 1];
  const rank = inOrder.findIndex((rival) => rival.draft === draft);
  if (!last || rank < slots) return null;
  return { reason: 'frequency_cap_yielded', until: Math.max(last.due, now + YIELDS_MS) };
}

/** Returns the result that the transport of the histories gives. The world uses the same function. */
export function resultOf(draftId: string): 'sent' | 'failed' | 'unknown' {
  const last = draftId.at(-1);
  return last === '0' ? 'failed' : last === '1' ? 'unknown' : 'sent';
}

/** An email with unknown delivery may have arrived, so it counts as sent. */
function finish(oracle: Oracle, draft: OracleDraft): void {
  const result = resultOf(oracle.idOf(draft));
  for (const claim of oracle.claims) if (claim.draft === draft) claim.isFailed = result === 'failed';
  endDraft(oracle, draft, result);
}
