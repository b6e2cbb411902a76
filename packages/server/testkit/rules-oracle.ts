import { ORACLE_RULES, type OracleRule, type OracleStep, type OracleTrigger } from './rules-oracle-rules.ts';
import { beginTime, endRun, newOracleDraft, send } from './rules-oracle-sending.ts';
import {
  note,
  type Oracle,
  type OracleEvent,
  type OraclePerson,
  type OracleRecord,
  type OracleRun,
  type OracleTimer,
  type OracleUser,
} from './rules-oracle-state.ts';

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
    isBusy = digest(oracle, 'live');
    isBusy = digest(oracle, 'bulk') || isBusy;
    isBusy = ring(oracle) || isBusy;
    isBusy = (!oracle.isPaused && send(oracle)) || isBusy;
  }
}

/** Applies all records first, then evaluates the rules in the order of the records. */
function digest(oracle: Oracle, priority: OracleRecord['priority']): boolean {
  const records = oracle.inbox.filter((record) => record.priority === priority);
  oracle.inbox = oracle.inbox.filter((record) => record.priority !== priority);
  const arrived = learnAll(oracle, records);
  for (const who of new Set(records.map((record) => record.who))) {
    const desk = openDesk(oracle, who);
    for (const record of records) if (record.who === who && 'event' in record) hear(desk, record.event);
    closeDesk(desk);
    if (arrived.has(who)) beginTimes(oracle, who);
  }
  return records.length > 0;
}

/** Returns the known users whose address changed. */
function learnAll({ people }: Oracle, records: OracleRecord[]): Set<string> {
  const arrived = new Set<string>();
  for (const record of records) {
    const known = people.get(record.who);
    const person = known ?? { id: record.who, email: null, traits: {}, events: [] };
    people.set(record.who, person);
    if ('event' in record) person.events.push(record.event);
    else if (learn(person, record.user) && known) arrived.add(record.who);
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
  for (const who of new Set([...runs, ...timers].map((one) => one.who))) {
    const desk = openDesk(oracle, who);
    for (const run of runs) if (run.who === who) goOn(desk, run);
    for (const timer of timers.toSorted((a, b) => a.at - b.at))
      if (timer.who === who) consider(desk, { ...timer, isDue: true });
    closeDesk(desk);
  }
  return runs.length + timers.length > 0;
}

/** One user during one update. `emails`: runs that reached a draft by it. */
type Desk = { oracle: Oracle; person: OraclePerson; emails: OracleRun[]; begun: OracleRun[] };

function openDesk(oracle: Oracle, who: string): Desk {
  const person = oracle.people.get(who);
  if (!person) throw new Error(`${who} is not known`);
  return { oracle, person, emails: [], begun: [] };
}

/** Checks goals after all events. A draft whose run has ended by now is not written. */
function closeDesk({ oracle, person, emails, begun }: Desk): void {
  for (const run of runsOf(oracle, person.id)) {
    const { goal } = run.rule;
    const isAwaited = run.convertedAt === null && oracle.now < run.enrolledAt + 14 * 86_400_000;
    if (goal === null || begun.includes(run) || !person.events.some(({ name }) => name === goal)) continue;
    if (isAwaited) run.convertedAt = oracle.now;
    endRun(oracle, run, 'goal');
  }
  for (const run of emails) if (run.end === null) newOracleDraft(oracle, run, person);
}

function runsOf({ runs }: Oracle, who: string): OracleRun[] {
  return runs.filter((run) => run.who === who);
}

/** Active runs may exit on an event, or have waited for it. Then the event may trigger a rule. */
function hear(desk: Desk, event: OracleEvent): void {
  const { oracle, person } = desk;
  for (const run of runsOf(oracle, person.id)) {
    // Events from before the start of a run do not affect it.
    if (run.end !== null || run.anchor === event || event.occurredAt < run.anchor.occurredAt) continue;
    const [step, ...rest] = run.rest;
    const end = endBy(run, event);
    if (end !== null) endRun(oracle, run, end);
    else if (isActive(run) && step?.do === 'wait_for' && step.event === event.name)
      walk(desk, run, [...step.then, ...rest]);
  }
  for (const hook of hooksOf(oracle, event)) consider(desk, { ...hook, anchor: event, isDue: false });
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

function goOn(desk: Desk, run: OracleRun): void {
  if (run.nextAt === null || run.nextAt > desk.oracle.now || run.end !== null) return;
  const [step, ...rest] = run.rest;
  walk(desk, run, step?.do === 'wait_for' ? [...step.otherwise, ...rest] : rest);
}

/** Advances a run to the next step that waits. */
function walk({ oracle, emails }: Pick<Desk, 'oracle' | 'emails'>, run: OracleRun, rest: OracleStep[]): void {
  run.rest = rest;
  const [step] = rest;
  if (!step) return endRun(oracle, run, 'done');
  if (step.do === 'draft') {
    Object.assign(run, { waits: 'draft', nextAt: null });
    emails.push(run);
  } else Object.assign(run, { waits: step.do === 'wait' ? 'time' : 'event', nextAt: oracle.now + step.ms });
}

type Considered = { rule: OracleRule; trigger: OracleTrigger; anchor: OracleEvent; isDue: boolean };

function consider(desk: Desk, considered: Considered): void {
  const { oracle, person } = desk;
  const { rule, trigger, anchor } = considered;
  const key = rule.entry.key(anchor, subjectOf(rule, person));
  const reason = decide(desk, considered, key);
  note(oracle, { who: person.id, rule, key, reason });
  if (reason === 'starts_later')
    arm(oracle, { who: person.id, rule, trigger, anchor, at: trigger.at(anchor) ?? oracle.now });
  const place = entryPlace(person, rule, key);
  if (reason === 'suppressed' && rule.entry.burns && !oracle.entries.has(place))
    oracle.entries.set(place, { at: enrolledAt(oracle, considered), level: 0 });
  if (reason !== 'fired') return;
  oracle.entries.set(place, { at: enrolledAt(oracle, considered), level: rule.entry.again(anchor) ? 1 : 0 });
  const run: OracleRun = {
    who: person.id,
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
  desk.begun.push(run);
  walk(desk, run, rule.steps);
}

/** A user who waited for a timer enrolls when it fires. */
function enrolledAt({ now }: Oracle, { anchor, isDue }: Pick<Considered, 'anchor' | 'isDue'>): number {
  return isDue ? now : anchor.acceptedAt;
}

function entryPlace({ id }: OraclePerson, { name }: OracleRule, key: string): string {
  return `${id} ${name} ${key}`;
}

/** Returns the first reason that refuses the enrollment, or that it fired. */
function decide({ oracle, person }: Desk, considered: Considered, key: string): string {
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
  { oracle, person }: Pick<Desk, 'oracle' | 'person'>,
  { rule, anchor, isDue }: Considered,
  key: string,
): string | null {
  const { entry } = rule;
  const known = oracle.entries.get(entryPlace(person, rule, key));
  const cooldownMs = entry.cooldownMs(key);
  if (entry.single)
    return runsOf(oracle, person.id).some((run) => run.rule === rule && run.end === null)
      ? 'in_progress'
      : null;
  if (!known || cooldownMs === undefined) return null;
  if (cooldownMs === Infinity) return 'already_entered';
  const isOver = known.at <= enrolledAt(oracle, { anchor, isDue }) - cooldownMs;
  return isOver || (entry.again(anchor) && known.level === 0) ? null : 'in_cooldown';
}

/** Returns the decision at the time of the timer, if nothing else happens until then. */
export function foresee(oracle: Oracle, timer: OracleTimer): string {
  const { who, rule, anchor, at } = timer;
  const then = { ...oracle, now: Math.max(oracle.now, at) };
  const desk = openDesk(then, who);
  return decide(desk, { ...timer, isDue: true }, rule.entry.key(anchor, subjectOf(rule, desk.person)));
}

/** Sets a timer. Each user and rule has one: the newer anchor replaces the older. */
function arm(oracle: Oracle, timer: OracleTimer): void {
  const known = oracle.timers.find(({ who, rule }) => who === timer.who && rule === timer.rule);
  if (known && known.anchor.occurredAt > timer.anchor.occurredAt) return;
  oracle.timers = [...oracle.timers.filter((one) => one !== known), timer];
}

/** Starts the deadlines of drafts that waited for an address of this user. */
function beginTimes(oracle: Oracle, who: string): void {
  for (const draft of oracle.drafts) {
    if (draft.run.who === who && draft.end === null && draft.held === 'no_address') beginTime(oracle, draft);
  }
}
