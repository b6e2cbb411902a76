import { ORACLE_RULES, type OracleRule, type OracleStep, type OracleTrigger } from './rules.ts';
import { beginTime, endRun, newOracleDraft, send } from './sending.ts';
import {
  note,
  type Oracle,
  type OracleEvent,
  type OraclePerson,
  type OracleRecord,
  type OracleRun,
  type OracleTimer,
  type OracleUser,
} from './state.ts';

/**
 * Replays the rules of a project one step after the other, in the plainest form of the engine's specification. It shares no code with the
 * product. It holds everything in memory and searches all of it for every question.
 */

/** Moves to each moment with something to do, and does all of it there. */
export function replay(oracle: Oracle, ms: number): void {
  const until = oracle.now + ms;
  for (;;) {
    settle(oracle);
    const next = Math.min(...moments(oracle));
    if (next > until) break;
    oracle.now = Math.max(oracle.now, next);
  }
  oracle.now = until;
  settle(oracle);
}

function moments({ timers, runs, drafts, isPaused }: Oracle): number[] {
  const ofRuns = runs.flatMap((run) => (isActive(run) ? (run.nextAt ?? []) : []));
  const ofDrafts = isPaused ? [] : drafts.flatMap(({ due }) => due ?? []);
  return [...timers.map(({ at }) => at), ...ofRuns, ...ofDrafts];
}

function isActive({ isFrozen, end }: OracleRun): boolean {
  return !isFrozen && end === null;
}

function settle(oracle: Oracle): void {
  for (let isBusy = true; isBusy;) {
    isBusy = processRecords(oracle, 'live');
    isBusy = processRecords(oracle, 'bulk') || isBusy;
    isBusy = ring(oracle) || isBusy;
    isBusy = (!oracle.isPaused && send(oracle)) || isBusy;
  }
}

/** Applies all records first, then evaluates the rules in the order of the records. */
function processRecords(oracle: Oracle, priority: OracleRecord['priority']): boolean {
  const records = oracle.queue.filter((record) => record.priority === priority);
  oracle.queue = oracle.queue.filter((record) => record.priority !== priority);
  const arrived = learnAll(oracle, records);
  for (const userId of new Set(records.map((record) => record.userId))) {
    const context = openContext(oracle, userId);
    for (const record of records)
      if (record.userId === userId && 'event' in record) applyEvent(context, record.event);
    closeContext(context);
    if (arrived.has(userId)) beginTimes(oracle, userId);
  }
  return records.length > 0;
}

/** Returns the known users whose address changed. */
function learnAll({ people }: Oracle, records: OracleRecord[]): Set<string> {
  const arrived = new Set<string>();
  for (const record of records) {
    const existing = people.get(record.userId);
    const person = existing ?? { id: record.userId, email: null, traits: {}, events: [] };
    people.set(record.userId, person);
    if ('event' in record) person.events.push(record.event);
    else if (learn(person, record.user) && existing) arrived.add(record.userId);
  }
  return arrived;
}

/** Returns whether the address changed. */
function learn(person: OraclePerson, { email, traits }: OracleUser): boolean {
  Object.assign(person.traits, traits);
  if (email === undefined || email === person.email) return false;
  person.email = email;
  return true;
}

function isOn(oracle: Oracle, rule: OracleRule): boolean {
  return oracle.enabledAt.get(rule) !== null;
}

/** Advances due runs and timers: for each user the runs first. */
function ring(oracle: Oracle): boolean {
  const { now } = oracle;
  const runs = oracle.runs.filter((run) => isActive(run) && run.nextAt !== null && run.nextAt <= now);
  const timers = oracle.timers.filter(({ at }) => at <= now);
  oracle.timers = oracle.timers.filter(({ at }) => at > now);
  for (const userId of new Set([...runs, ...timers].map((entry) => entry.userId))) {
    const context = openContext(oracle, userId);
    for (const run of runs) if (run.userId === userId) continueRun(context, run);
    for (const timer of timers.toSorted((a, b) => a.at - b.at))
      if (timer.userId === userId) consider(context, { ...timer, isDue: true });
    closeContext(context);
  }
  return runs.length + timers.length > 0;
}

/** One user during one update. `emails`: runs that reached a draft by it. */
type UpdateContext = { oracle: Oracle; person: OraclePerson; emails: OracleRun[]; begun: OracleRun[] };

function openContext(oracle: Oracle, userId: string): UpdateContext {
  const person = oracle.people.get(userId);
  if (!person) throw new Error(`${userId} is not known`);
  return { oracle, person, emails: [], begun: [] };
}

/** Checks goals after all events. A draft whose run has ended by now is not written. */
function closeContext({ oracle, person, emails, begun }: UpdateContext): void {
  for (const run of runsOf(oracle, person.id)) {
    const { goal } = run.rule;
    const isAwaited = run.convertedAt === null && oracle.now < run.enrolledAt + 14 * 86_400_000;
    if (goal === null || begun.includes(run) || !person.events.some(({ name }) => name === goal)) continue;
    if (isAwaited) run.convertedAt = oracle.now;
    endRun(oracle, run, 'goal');
  }
  for (const run of emails) if (run.end === null) newOracleDraft(oracle, run, person);
}

function runsOf({ runs }: Oracle, userId: string): OracleRun[] {
  return runs.filter((run) => run.userId === userId);
}

/** Active runs may exit on an event, or have waited for it. Then the event may trigger a rule. */
function applyEvent(context: UpdateContext, event: OracleEvent): void {
  const { oracle, person } = context;
  for (const run of runsOf(oracle, person.id)) {
    // Events from before the start of a run do not affect it.
    if (run.end !== null || run.anchor === event || event.occurredAt < run.anchor.occurredAt) continue;
    const [step, ...rest] = run.rest;
    const end = endBy(run, event);
    if (end !== null) endRun(oracle, run, end);
    else if (isActive(run) && step?.do === 'wait_for' && step.event === event.name)
      advance(context, run, [...step.then, ...rest]);
  }
  for (const hook of hooksOf(oracle, event)) consider(context, { ...hook, anchor: event, isDue: false });
}

/** Disabled rules are not evaluated. */
function hooksOf({ enabledAt }: Oracle, { name }: OracleEvent): Pick<Considered, 'rule' | 'trigger'>[] {
  const on = ORACLE_RULES.filter((rule) => enabledAt.get(rule) !== null);
  return on.flatMap((rule) =>
    rule.triggers.filter((trigger) => trigger.event === name).map((trigger) => ({ rule, trigger })),
  );
}

function endBy({ rule, key }: OracleRun, { id, name }: OracleEvent): string | null {
  if (rule.exits.includes(name)) return 'exit_event';
  return rule.about?.event === name && id !== key ? 'replaced' : null;
}

function continueRun(context: UpdateContext, run: OracleRun): void {
  if (run.nextAt === null || run.nextAt > context.oracle.now || run.end !== null) return;
  const [step, ...rest] = run.rest;
  advance(context, run, step?.do === 'wait_for' ? [...step.otherwise, ...rest] : rest);
}

/** Advances a run to the next step that waits. */
function advance(
  { oracle, emails }: Pick<UpdateContext, 'oracle' | 'emails'>,
  run: OracleRun,
  rest: OracleStep[],
): void {
  run.rest = rest;
  const [step] = rest;
  if (!step) return endRun(oracle, run, 'done');
  if (step.do === 'draft') {
    Object.assign(run, { waits: 'draft', nextAt: null });
    emails.push(run);
  } else Object.assign(run, { waits: step.do === 'wait' ? 'time' : 'event', nextAt: oracle.now + step.ms });
}

type Considered = { rule: OracleRule; trigger: OracleTrigger; anchor: OracleEvent; isDue: boolean };

function consider(context: UpdateContext, considered: Considered): void {
  const { oracle, person } = context;
  const { rule, trigger, anchor } = considered;
  const key = rule.entry.key(anchor, subjectOf(rule, person));
  const reason = decide(context, considered, key);
  note(oracle, { userId: person.id, rule, key, reason });
  if (reason === 'starts_later')
    setTimer(oracle, { userId: person.id, rule, trigger, anchor, at: trigger.at(anchor) ?? oracle.now });
  const storedKey = entryKey(person, rule, key);
  if (reason === 'suppressed' && rule.entry.burns && !oracle.entries.has(storedKey))
    oracle.entries.set(storedKey, { at: enrolledAt(oracle, considered), level: 0 });
  if (reason !== 'fired') return;
  oracle.entries.set(storedKey, {
    at: enrolledAt(oracle, considered),
    level: rule.entry.again(anchor) ? 1 : 0,
  });
  const run: OracleRun = {
    userId: person.id,
    rule,
    key,
    anchor,
    enrolledAt: oracle.now,
    endsAt: trigger.endsAt(anchor),
    rest: rule.steps,
    waits: null,
    nextAt: null,
    isFrozen: false,
    end: null,
    convertedAt: null,
  };
  oracle.runs.push(run);
  context.begun.push(run);
  advance(context, run, rule.steps);
}

/** A user who waited for a timer enrolls when it fires. */
function enrolledAt({ now }: Oracle, { anchor, isDue }: Pick<Considered, 'anchor' | 'isDue'>): number {
  return isDue ? now : anchor.acceptedAt;
}

function entryKey({ id }: OraclePerson, { name }: OracleRule, key: string): string {
  return `${id} ${name} ${key}`;
}

/** Returns the first reason that refuses the enrollment, or that it fired. */
function decide({ oracle, person }: UpdateContext, considered: Considered, key: string): string {
  const { rule, trigger, anchor, isDue } = considered;
  const { now } = oracle;
  const at = trigger.at(anchor);
  const end = trigger.endsAt(anchor);
  const isTimed = at !== null;
  const gates: [string, () => boolean][] = [
    ['rule_off', () => !isOn(oracle, rule)],
    ['filter', () => at === undefined || (!isDue && !trigger.matches(anchor.properties))],
    ['suppressed', () => isSuppressed(person) || anchor.seq <= lastSuppressed(person)],
    ['before_enable', () => anchor.acceptedAt < (oracle.enabledAt.get(rule) ?? 0)],
    [
      'superseded',
      () => isTimed && rule.about?.event === anchor.name && subjectOf(rule, person)?.id !== anchor.id,
    ],
    ['date_passed', () => isTimed && end !== null && now >= end],
    ['starts_later', () => isTimed && at !== undefined && at > now],
    ['too_old', () => !isDue && anchor.occurredAt < anchor.acceptedAt - rule.maxAgeMs],
    ['not_absent', () => trigger.absent.some((name) => hasHappened(person, name, anchor))],
    ['only_if', () => !rule.onlyIf(person)],
    ['exit_condition', () => rule.goal !== null && person.events.some(({ name }) => name === rule.goal)],
  ];
  for (const [reason, refuses] of gates) if (refuses()) return reason;
  return refusedEntry({ oracle, person }, considered, key) ?? 'fired';
}

/** Returns the highest sequence of a suppressed event. `isSuppressed` returns whether it is above every normal one. */
function lastSuppressed({ events }: OraclePerson): number {
  return Math.max(0, ...events.filter(({ suppressed }) => suppressed).map(({ seq }) => seq));
}

function isSuppressed(person: OraclePerson): boolean {
  const normal = person.events.filter(({ suppressed }) => !suppressed).map(({ seq }) => seq);
  return lastSuppressed(person) > Math.max(0, ...normal);
}

function newest({ events }: OraclePerson, name: string): OracleEvent | undefined {
  return events
    .filter((event) => event.name === name)
    .toSorted((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq)
    .at(-1);
}

/** Returns the newest event that the rule is about, if no later event ends it. */
function subjectOf({ about }: OracleRule, person: OraclePerson): OracleEvent | null {
  const subject = about ? newest(person, about.event) : undefined;
  if (!about || !subject) return null;
  const isOver = person.events.some(
    ({ name, occurredAt }) => about.until.includes(name) && occurredAt >= subject.occurredAt,
  );
  return isOver ? null : subject;
}

function hasHappened({ events }: OraclePerson, name: string, { id, occurredAt }: OracleEvent): boolean {
  return events.some((event) => event.name === name && event.occurredAt >= occurredAt && event.id !== id);
}

function refusedEntry(
  { oracle, person }: Pick<UpdateContext, 'oracle' | 'person'>,
  { rule, anchor, isDue }: Considered,
  key: string,
): string | null {
  const { entry } = rule;
  const earlier = oracle.entries.get(entryKey(person, rule, key));
  const cooldownMs = entry.cooldownMs(key);
  if (entry.single)
    return runsOf(oracle, person.id).some((run) => run.rule === rule && run.end === null)
      ? 'in_progress'
      : null;
  if (!earlier || cooldownMs === undefined) return null;
  if (cooldownMs === Infinity) return 'already_entered';
  const isOver = earlier.at <= enrolledAt(oracle, { anchor, isDue }) - cooldownMs;
  return isOver || (entry.again(anchor) && earlier.level === 0) ? null : 'in_cooldown';
}

/** Returns the decision at the time of the timer, if nothing else happens until then. */
export function foresee(oracle: Oracle, timer: OracleTimer): string {
  const { userId, rule, anchor, at } = timer;
  const then = { ...oracle, now: Math.max(oracle.now, at) };
  const context = openContext(then, userId);
  return decide(context, { ...timer, isDue: true }, rule.entry.key(anchor, subjectOf(rule, context.person)));
}

/** Sets a timer. Each user and rule has one: the newer anchor replaces the older. */
function setTimer(oracle: Oracle, timer: OracleTimer): void {
  const existing = oracle.timers.find(({ userId, rule }) => userId === timer.userId && rule === timer.rule);
  if (existing && existing.anchor.occurredAt > timer.anchor.occurredAt) return;
  oracle.timers = [...oracle.timers.filter((other) => other !== existing), timer];
}

/** Starts the deadlines of drafts that waited for an address of this user. */
function beginTimes(oracle: Oracle, userId: string): void {
  for (const draft of oracle.drafts) {
    if (draft.run.userId === userId && draft.end === null && draft.held === 'no_address')
      beginTime(oracle, draft);
  }
}
