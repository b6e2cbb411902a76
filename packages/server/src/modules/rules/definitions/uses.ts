import { mentionsOf } from '../../../platform/predicate/mentions.ts';
import type { Predicate, PropertyTest } from '../../../platform/predicate/predicate.ts';
import type { Definition, EnrollmentLimit, Step, Trigger } from './rule.ts';

/** An event that a rule refers to, and the properties that it reads. */
export type EventUse = {
  event: string;
  properties: string[];
  /** It can start the rule. */
  starts: boolean;
  /** These properties may be missing, because that counts as a value. */
  mayLack: boolean;
};

/** Returns all events that a definition names, one item per place. */
export function usesOf(definition: Definition): EventUse[] {
  const { when, about, entry, exits } = definition;
  const starting = when.flatMap(usesOfTrigger);
  return [
    ...starting,
    ...starting.flatMap(({ event }) => usesOfEntry(entry, event)),
    ...(about ? [about.event, ...about.until].map(plainUse) : []),
    ...exits.events.map(plainUse),
    ...when.flatMap((trigger) => (trigger.kind === 'absence' ? trigger.of.map(plainUse) : [])),
    ...[definition.onlyIf, exits.when, definition.goal].flatMap((predicate) =>
      predicate ? usesOfPredicate(predicate) : [],
    ),
    ...usesOfSteps(definition.steps),
  ];
}

function plainUse(event: string): EventUse {
  return { event, properties: [], starts: false, mayLack: false };
}

function usesOfTrigger(trigger: Trigger): EventUse[] {
  const reads = { starts: true, mayLack: false };
  switch (trigger.kind) {
    case 'event':
      return [
        {
          ...reads,
          event: trigger.event,
          properties: [...named(trigger.where), ...optionalProperty(trigger.endsInDays)],
        },
      ];
    case 'relative':
      return [
        {
          ...reads,
          event: trigger.event,
          properties: [...named(trigger.where), ...optionalProperty(trigger.plusDays)],
        },
      ];
    case 'absence':
      return [{ ...reads, event: trigger.since, properties: named(trigger.where) }];
    case 'audience':
    case 'date':
      return [];
    default:
      return trigger satisfies never;
  }
}

function named(where: PropertyTest[]): string[] {
  return where.map(({ property }) => property);
}

function optionalProperty(property: string | null): string[] {
  return property === null ? [] : [property];
}

function usesOfEntry(entry: EnrollmentLimit, event: string): EventUse[] {
  if (entry.kind !== 'once_per' && entry.kind !== 'cooldown') return [];
  const key: EventUse = { ...plainUse(event), properties: entry.properties, mayLack: true };
  if (entry.kind === 'once_per' || entry.again === null) return [key];
  return [key, { ...plainUse(event), properties: [entry.again.property] }];
}

function usesOfPredicate(predicate: Predicate): EventUse[] {
  const { events, queries } = mentionsOf(predicate);
  return [
    ...[...events].map(plainUse),
    ...[...queries.values()].map((query) => ({
      ...plainUse(query.event),
      properties: [...named(query.window.where), ...(query.kind === 'sum' ? [query.property] : [])],
    })),
  ];
}

function usesOfSteps(steps: Step[]): EventUse[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'wait_for' && step.kind !== 'branch') return [];
    const stepUses =
      step.kind === 'branch'
        ? usesOfPredicate(step.if)
        : [{ ...plainUse(step.event), properties: named(step.where) }];
    return [...stepUses, ...usesOfSteps(step.then), ...usesOfSteps(step.otherwise)];
  });
}
