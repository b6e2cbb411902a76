import { type NewEvent, type ChangedPerson, personKey, type Person } from '../../users/index.ts';
import type { EnrollmentFacts, TriggerMatch } from '../definitions/decide.ts';
import type { Anchor } from '../definitions/rule.ts';
import { dateIn, type Timer } from '../definitions/timers.ts';
import type { Run } from '../runs/run.ts';
import type { Model } from '../project-model.ts';

/** The events and changes of one user, in order, as far as they can concern a rule or a run of the user. */
export type PersonActivity = {
  person: Person;
  model: Model;
  items: Item[];
  /** True if an open run may depend on it. */
  isWatched: boolean;
};

/** The record that caused a change. `seq` is null if time caused it, because time has no place in the order of acceptance. */
export type Cause = { seq: number | null; acceptedAt: number };

type Origin = 'record' | 'bulk';

export type Item =
  | { kind: 'event'; event: NewEvent }
  | { kind: 'move'; audienceId: string; move: 'joined' | 'left'; by: Origin; cause: Cause }
  | { kind: 'trait'; trait: string; by: Origin; cause: Cause }
  | { kind: 'timer'; timer: Timer }
  | { kind: 'run'; run: Run }
  | EnrollmentItem;

/** A user who is in an audience already is enrolled in this rule, as if they joined at `at`. */
export type EnrollmentItem = {
  kind: 'enrollment';
  ruleId: string;
  audienceId: string;
  enrollment: EnrollmentFacts;
  at: number;
};

export type MembershipChange = {
  projectId: number;
  userId: string;
  audienceId: string;
  move: 'joined' | 'left';
};

type Batch = {
  people: Iterable<ChangedPerson>;
  events: NewEvent[];
  moves: MembershipChange[];
  models: Map<number, Model>;
  priority: 'live' | 'bulk';
  /** In the order of acceptance. */
  records: { person: string; seq: number; acceptedAt: number }[];
};

/**
 * Returns everything in a batch that can concern a rule. Most records concern none and cost one map lookup.
 *
 * A bulk batch of users may cause a join, a leave or a date. It starts nothing at once, unless the user has an event in the batch.
 */
export function activitiesIn(batch: Batch): PersonActivity[] {
  const found = new Map<string, PersonActivity>();
  const people = new Map<string, ChangedPerson>();
  for (const changed of batch.people) people.set(personKey(changed.person), changed);
  const of = (key: string): PersonActivity | undefined => {
    const existing = found.get(key);
    const person = people.get(key)?.person;
    const model = person && batch.models.get(person.projectId);
    if (existing || !person || !model) return existing;
    const fresh = { person, model, items: [], isWatched: false };
    found.set(key, fresh);
    return fresh;
  };
  const active = addEvents(batch, of);
  const causeOf = causesIn(batch);
  const originOf = (key: string): Origin =>
    batch.priority === 'bulk' && !active.has(key) ? 'bulk' : 'record';
  for (const { projectId, userId, audienceId, move } of batch.moves) {
    const rules = batch.models.get(projectId)?.rules;
    const isWatched = rules?.watches.audiences.has(audienceId) ?? false;
    if (!isWatched && !rules?.onMove(audienceId, move).length) continue;
    const key = personKey({ projectId, userId });
    add(of(key), { kind: 'move', audienceId, move, by: originOf(key), cause: causeOf(key) }, isWatched);
  }
  for (const [key, changed] of people)
    addChange(changed, { batch, findActivity: () => of(key), cause: () => causeOf(key), by: originOf(key) });
  return [...found.values()];
}

type ActivityFinder = (key: string) => PersonActivity | undefined;

/**
 * Returns the first record of a user in the batch as the cause of their changes. The batch does not remember which of several records made
 * the user join an audience or wrote a trait last. With the first one, a change by a suppressed record starts nothing, even if a later
 * event of the batch lifts the suppression.
 */
function causesIn({ records }: Batch): (key: string) => Cause {
  let first: Map<string, Cause> | null = null;
  return function causeOf(key) {
    if (!first) {
      first = new Map();
      for (const { person, seq, acceptedAt } of records)
        if (!first.has(person)) first.set(person, { seq, acceptedAt });
    }
    const cause = first.get(key);
    if (!cause) throw new Error('a user changed without a record');
    return cause;
  };
}

/** Adds the events, and returns the users who have any. */
function addEvents({ events, models }: Batch, of: ActivityFinder): Set<string> {
  const active = new Set<string>();
  for (const event of events) {
    const key = personKey(event);
    active.add(key);
    const rules = models.get(event.projectId)?.rules;
    const isWatched = rules?.watches.events.has(event.name) ?? false;
    if (isWatched || rules?.onEvent(event.name).length) add(of(key), { kind: 'event', event }, isWatched);
  }
  return active;
}

type ChangeContext = {
  batch: Batch;
  findActivity: () => PersonActivity | undefined;
  cause: () => Cause;
  by: Origin;
};

function addChange(
  { person, change }: ChangedPerson,
  { batch, findActivity, cause, by }: ChangeContext,
): void {
  const rules = batch.models.get(person.projectId)?.rules;
  if (!rules) return;
  for (const trait of change.before.keys()) {
    const isWatched = rules.watches.traits.has(trait);
    if (isWatched || rules.onTrait(trait).length > 0)
      add(findActivity(), { kind: 'trait', trait, by, cause: cause() }, isWatched);
  }
  const isWatched = change.emailChanged && rules.watches.email;
  const activity = isWatched || mayUnblockDraft(change, batch) ? findActivity() : undefined;
  if (activity) activity.isWatched ||= isWatched;
}

/**
 * Returns true if a draft of the user may wait for an address or a value that changed. New users have no drafts. Traits in a bulk batch are
 * not checked for each user: their drafts are checked when they fall due.
 */
function mayUnblockDraft(
  { isNew, emailChanged, before }: ChangedPerson['change'],
  { priority }: Batch,
): boolean {
  return !isNew && (emailChanged || (priority === 'live' && before.size > 0));
}

function add(activity: PersonActivity | undefined, item: Item, isWatched: boolean): void {
  if (!activity) return;
  activity.items.push(item);
  activity.isWatched ||= isWatched;
}

export function originOf(item: Item): TriggerMatch['by'] {
  if (item.kind === 'enrollment') return 'enrollment';
  if (item.kind === 'timer') return 'due';
  return item.kind === 'move' || item.kind === 'trait' ? item.by : 'record';
}

/** Returns null for an item that starts nothing: a run that continues, or a trait without a date. */
export function anchorOf({ person }: PersonActivity, item: Item): Anchor | null {
  switch (item.kind) {
    case 'event': {
      const { id, name, properties, occurredAt, acceptedAt, seq } = item.event;
      return { kind: 'event', id, name, properties, occurredAt, acceptedAt, seq };
    }
    case 'move':
      return moveAnchor(item.audienceId, item.cause);
    case 'enrollment':
      return moveAnchor(item.audienceId, { seq: null, acceptedAt: item.at });
    case 'trait': {
      const { trait, cause } = item;
      const occurredAt = dateIn(person.traits.get(trait));
      if (occurredAt === null) return null;
      return { kind: 'date', id: trait, name: trait, properties: {}, occurredAt, ...cause };
    }
    case 'timer':
      return item.timer.anchor;
    case 'run':
      return null;
    default:
      return item satisfies never;
  }
}

/** Returns the anchor of a join, a leave or an enrollment. */
export function moveAnchor(audienceId: string, cause: Cause): Anchor {
  const ids = { id: audienceId, name: audienceId };
  return { kind: 'audience', ...ids, properties: {}, occurredAt: cause.acceptedAt, ...cause };
}
