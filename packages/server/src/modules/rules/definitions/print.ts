import { printDuration } from '../../../platform/time/time-text.ts';
import { predicateDocument, propertyTestDocument } from '../../../platform/predicate/document.ts';
import type { PropertyTest } from '../../../platform/predicate/predicate.ts';
import { WEEKDAYS } from './parse-steps.ts';
import type { WholeRule } from './load-rules.ts';
import type { Definition, EnrollmentLimit, Step, Trigger } from './rule.ts';

/**
 * Returns the normalized document of a definition, as it is stored. It includes the defaults, so that a later change of a default does not
 * change old versions. `parseDefinition` reads it back unchanged.
 */
export function documentOf(definition: Definition): object {
  const { about, onlyIf, exits, goal } = definition;
  return {
    when: definition.when.map(triggerDocument),
    ...(about && { about }),
    ...(onlyIf && { only_if: predicateDocument(onlyIf) }),
    enrollment: entryDocument(definition.entry),
    exits: {
      events: exits.events,
      ...(exits.when && { when: predicateDocument(exits.when) }),
      on_reply: exits.onReply,
    },
    ...(goal && { goal: predicateDocument(goal) }),
    max_event_age: printDuration(definition.maxEventAgeMs),
    priority: definition.priority,
    holdout: definition.holdoutPercent,
    counts: definition.counts,
    ...(definition.topic !== null && { topic: definition.topic }),
    tracking: definition.tracking,
    expires_after: printDuration(definition.expiresAfterMs),
    steps: definition.steps.map(stepDocument),
  };
}

/** Returns the whole document of a rule, as a member writes it. */
export function wholeDocumentOf({
  name,
  mode,
  deadlineMs,
  definition,
}: Pick<WholeRule, 'name' | 'mode' | 'deadlineMs' | 'definition'>): Record<string, unknown> {
  const deadline = deadlineMs === null ? {} : { deadline: printDuration(deadlineMs) };
  return { name, mode, ...deadline, ...documentOf(definition) };
}

function triggerDocument(trigger: Trigger): object {
  switch (trigger.kind) {
    case 'event': {
      const { event, where, endsInDays } = trigger;
      return { event, ...whereDocument(where), ...(endsInDays !== null && { ends_in_days: endsInDays }) };
    }
    case 'audience':
      return { audience: trigger.audienceId, move: trigger.move };
    case 'relative': {
      const { event, where, plusDays, side, ms } = trigger;
      const plus = plusDays !== null && { plus_days: plusDays };
      return { relative_to: { event, ...whereDocument(where), ...plus }, [side]: printDuration(ms) };
    }
    case 'date':
      return { relative_to: { trait: trigger.trait }, [trigger.side]: printDuration(trigger.ms) };
    case 'absence': {
      const { of, since, where, ms } = trigger;
      return {
        absence_of: of,
        since: { event: since, ...whereDocument(where) },
        for: printDuration(ms),
      };
    }
    default:
      return trigger satisfies never;
  }
}

function whereDocument(where: PropertyTest[]): object {
  return where.length === 0 ? {} : { where: where.map(propertyTestDocument) };
}

function entryDocument(entry: EnrollmentLimit): string | object {
  switch (entry.kind) {
    case 'once':
    case 'one_at_a_time':
      return entry.kind;
    case 'once_per':
      return { once_per: entry.properties };
    case 'once_per_about':
      return { once_per: 'about', otherwise: printDuration(entry.otherwiseMs) };
    case 'cooldown':
      return {
        cooldown: printDuration(entry.ms),
        per: entry.properties,
        ...(entry.again && { again: propertyTestDocument(entry.again) }),
      };
    default:
      return entry satisfies never;
  }
}

function stepDocument(step: Step): object {
  switch (step.kind) {
    case 'draft':
      return { draft: 'name' in step.email ? step.email.name : step.email };
    case 'wait':
      return { wait: printDuration(step.ms) };
    case 'wait_until':
      return {
        wait_until: { weekdays: step.weekdays.flatMap((day) => WEEKDAYS[day - 1] ?? []), at: step.at },
      };
    case 'wait_for':
      return {
        wait_for: {
          event: step.event,
          ...whereDocument(step.where),
          within: printDuration(step.timeoutMs),
        },
        ...branchesDocument(step),
      };
    case 'branch':
      return { branch: { if: predicateDocument(step.if) }, ...branchesDocument(step) };
    case 'end':
      return { end: true };
    default:
      return step satisfies never;
  }
}

function branchesDocument({ then, otherwise }: { then: Step[]; otherwise: Step[] }): object {
  return { then: then.map(stepDocument), else: otherwise.map(stepDocument) };
}
