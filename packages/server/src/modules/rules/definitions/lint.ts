import { CANONICAL_EVENTS } from '@beckon/contract';
import { type EventUse, usesOf } from './uses.ts';
import type { Definition } from './rule.ts';

export type Lint = { code: LintCode; message: string };
type LintCode =
  | 'topic_unknown'
  | 'event_never_seen'
  | 'property_never_seen'
  | 'days_left'
  | 'goal_already_reached'
  | 'usage_is_fraction';

/** A property that an event has had so far, according to the catalog. */
export type Seen = { name: string; property: string; type: string };

export type LintMore = {
  /** Events that were received, including events without properties. */
  events?: Iterable<string>;
  /** No event was received yet: then the absence of one event says nothing. */
  isNewProject?: boolean;
  /** The topics of the project. */
  topics?: readonly { id: string }[];
  /** Every `usagePercent` received so far was 1 or less. */
  isUsageFraction?: boolean;
};

/** Reports what a rule uses but will probably not find, judged by the events of the project. It rejects nothing. */
export function lintRule(definition: Definition, catalogue: readonly Seen[], more: LintMore = {}): Lint[] {
  const seen = seenOf(catalogue, more.events ?? []);
  const uses = usesOf(definition);
  const lints = [
    ...uses.map((use) => lintEvent(use, seen)),
    lintTriggers(definition, uses, seen),
    ...uses.flatMap((use) => use.properties.map((property) => lintProperty(use, property, seen))),
    lintGoal(definition),
    more.isUsageFraction ? lintUsage(uses) : null,
    more.topics ? lintTopic(definition, more.topics) : null,
  ];
  const relevant = lints.filter((lint) => more.isNewProject !== true || lint?.code !== 'event_never_seen');
  const byMessage = new Map(relevant.flatMap((lint) => (lint ? [[lint.message, lint]] : [])));
  return [...byMessage.values()];
}

/** The properties of each event that was received. */
type SeenEvents = Map<string, Set<string>>;

function seenOf(catalogue: readonly Seen[], events: Iterable<string>): SeenEvents {
  const seen: SeenEvents = new Map();
  for (const name of events) seen.set(name, new Set());
  for (const { name, property } of catalogue) {
    const properties = seen.get(name);
    if (properties) properties.add(property);
    else seen.set(name, new Set([property]));
  }
  return seen;
}

/** A canonical name is not a typo, so it is reported only if the rule has no other trigger; see `lintTriggers`. */
function lintEvent({ event }: EventUse, seen: SeenEvents): Lint | null {
  if (seen.has(event) || Object.hasOwn(CANONICAL_EVENTS, event)) return null;
  return { code: 'event_never_seen', message: `${event} was never received. Check its name` };
}

function lintTriggers({ when }: Definition, uses: EventUse[], seen: SeenEvents): Lint | null {
  const starting = uses.filter(({ starts }) => starts);
  const isStarted = when.some(({ kind }) => kind === 'audience' || kind === 'date');
  const canonical = starting.find(({ event }) => Object.hasOwn(CANONICAL_EVENTS, event));
  if (isStarted || !canonical || starting.some(({ event }) => seen.has(event))) return null;
  return {
    code: 'event_never_seen',
    message: `${canonical.event} was never received, and this rule has no other trigger`,
  };
}

/** A user who has reached the goal is not enrolled. A goal that is also a condition therefore excludes every user. */
function lintGoal({ goal, onlyIf }: Definition): Lint | null {
  if (goal === null || onlyIf === null) return null;
  const conditions = onlyIf.kind === 'all' ? [onlyIf, ...onlyIf.of] : [onlyIf];
  if (!conditions.some((condition) => JSON.stringify(condition) === JSON.stringify(goal))) return null;
  const message = 'The goal is also a condition, so every user who matches has already reached it';
  return { code: 'goal_already_reached', message: `${message}, and the rule enrolls no users` };
}

const RENAMED = { from: 'daysLeft', to: 'trialDays' } as const;

function lintProperty({ event, mayLack }: EventUse, property: string, seen: SeenEvents): Lint | null {
  const properties = seen.get(event);
  const renamed = lintDaysLeft(event, property, properties);
  if (renamed || !properties || properties.has(property)) return renamed;
  const isOptional = mayLack && Object.hasOwn(CANONICAL_EVENTS[event] ?? {}, property);
  if (isOptional) return null;
  return {
    code: 'property_never_seen',
    message: `${event} never had ${property}, which this rule uses`,
  };
}

function lintDaysLeft(event: string, property: string, properties: Set<string> | undefined): Lint | null {
  if (property === RENAMED.from && properties?.has(RENAMED.to)) {
    const message = `${event} has ${RENAMED.to}, but this rule uses its old name ${RENAMED.from}`;
    return { code: 'days_left', message };
  }
  if (property !== RENAMED.to || !properties?.has(RENAMED.from) || properties.has(RENAMED.to)) return null;
  const message = `${event} has ${RENAMED.from}, which is ignored. Send it as ${RENAMED.to}`;
  return { code: 'days_left', message };
}

/** Emails of an unknown topic go to every user, because no one can unsubscribe from it. */
function lintTopic({ topic }: Definition, topics: readonly { id: string }[]): Lint | null {
  if (topic === null || topics.some(({ id }) => id === topic)) return null;
  const ids = topics.map(({ id }) => id).join(', ') || 'none yet';
  const message = `The project has no topic ${topic}, so users cannot unsubscribe from it. The setting topics has ${ids}`;
  return { code: 'topic_unknown', message };
}

const USAGE = { event: 'usage_threshold_reached', property: 'usagePercent' } as const;

function lintUsage(uses: EventUse[]): Lint | null {
  const isRead = uses.some(
    ({ event, properties }) => event === USAGE.event && properties.includes(USAGE.property),
  );
  if (!isRead) return null;
  return {
    code: 'usage_is_fraction',
    message: `Every ${USAGE.property} so far was 1 or less. Send eighty percent as 80, not as 0.8`,
  };
}
