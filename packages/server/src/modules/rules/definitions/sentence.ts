import {
  type AudienceNames,
  audienceWords,
  durationWords,
  eventWords,
  quoted,
  testWords,
  userClauseOf,
  word,
} from '../../../platform/predicate/sentence.ts';
import { listOf } from '../../../platform/predicate/place.ts';
import { DEFAULTS } from './parse.ts';
import type { Definition, EnrollmentLimit, StepEmail, Step, Trigger } from './rule.ts';

/** Describes a rule in plain English. Defaults are left out. */
export function ruleSentence(definition: Definition, names: AudienceNames): string {
  const { when, about, onlyIf, entry, steps, goal } = definition;
  const triggers = when.map((trigger) => triggerSentence(trigger, names)).join('. Also starts ');
  return [
    `Starts ${triggers}.`,
    ...(onlyIf ? [`Applies only if ${userClauseOf(onlyIf, names)}.`] : []),
    `Enrolls each user ${entryWords(entry, about)}.`,
    `Steps: ${steps.map((step) => stepWords(step, names)).join('. Then ')}.`,
    ...(about ? [aboutWords(about)] : []),
    ...exitsWords(definition.exits, names),
    ...(goal ? [`Goal, which also ends the run: ${userClauseOf(goal, names)}.`] : []),
    ...boundsWords(definition),
  ].join(' ');
}

/** Describes a trigger as a clause that follows "starts". */
export function triggerSentence(trigger: Trigger, names: AudienceNames): string {
  switch (trigger.kind) {
    case 'event': {
      const tests = trigger.where.map(({ property, test }) =>
        testWords(`its ${word(property)}`, test, false),
      );
      const happens = [`when ${word(trigger.event)} happens`, ...tests].join(' and ');
      if (trigger.endsInDays === null) return happens;
      return `${happens}; no email is sent more than ${word(trigger.endsInDays)} days later`;
    }
    case 'audience': {
      const move = trigger.move === 'joined' ? 'joins' : 'leaves';
      return `when a user ${move} ${audienceWords(names(trigger.audienceId))}`;
    }
    case 'relative': {
      const event = eventWords(trigger.event, trigger.where);
      const from =
        trigger.plusDays === null
          ? event
          : `the end of a period of ${word(trigger.plusDays)} days that begins with ${event}`;
      return `${durationWords(trigger.ms)} ${trigger.side} ${from}`;
    }
    case 'date':
      return `${durationWords(trigger.ms)} ${trigger.side} the user’s ${word(trigger.trait)}`;
    case 'absence': {
      const since = eventWords(trigger.since, trigger.where);
      return `${durationWords(trigger.ms)} after ${since} if ${absentWords(trigger.of)}`;
    }
    default:
      return trigger satisfies never;
  }
}

function absentWords(events: string[]): string {
  const [first = '', second] = events.map(word);
  if (second === undefined) return `${first} has not happened since`;
  if (events.length === 2) return `neither ${first} nor ${second} has happened since`;
  return `none of ${listOf(events.map(word))} has happened since`;
}

function entryWords(entry: EnrollmentLimit, about: Definition['about']): string {
  switch (entry.kind) {
    case 'once':
      return 'once';
    case 'once_per':
      return `once ${eachWords(entry.properties)}`;
    case 'once_per_about':
      return `once for each ${word(about?.event ?? '')}; without one, ${atMostOnce(entry.otherwiseMs)}`;
    case 'one_at_a_time':
      return 'any number of times, but in one run at a time';
    case 'cooldown': {
      const each = entry.properties.length === 0 ? '' : ` ${eachWords(entry.properties)}`;
      const again = entry.again
        ? `, and once more in that time when ${testWords(word(entry.again.property), entry.again.test, false)}`
        : '';
      return `${atMostOnce(entry.ms)}${each}${again}`;
    }
    default:
      return entry satisfies never;
  }
}

function atMostOnce(ms: number): string {
  return `at most once every ${durationWords(ms).replace(/^1 /, '')}`;
}

function eachWords(properties: string[]): string {
  const names = listOf(properties.map(word), 'and');
  return properties.length === 1 ? `for each ${names}` : `for each combination of ${names}`;
}

function aboutWords({ event, until }: NonNullable<Definition['about']>): string {
  const over = until.length === 0 ? '' : ` with no later ${listOf(until.map(word))}`;
  return `Each run is about the user’s newest ${word(event)}${over}.`;
}

function exitsWords({ events, when, onReply }: Definition['exits'], names: AudienceNames): string[] {
  const ends = [
    ...(events.length === 0 ? [] : [`${listOf(events.map(word))} happens`]),
    ...(when ? [userClauseOf(when, names)] : []),
    ...(onReply ? ['the user replies'] : []),
  ];
  return [
    ...(ends.length === 0 ? [] : [`Ends early when ${ends.join(', or when ')}.`]),
    ...(onReply ? [] : ['A reply does not end the run.']),
  ];
}

function boundsWords(definition: Definition): string[] {
  const { maxEventAgeMs, priority, holdoutPercent, counts, topic, tracking, expiresAfterMs } = definition;
  const sentences: [boolean, string][] = [
    [
      maxEventAgeMs !== DEFAULTS.maxEventAgeMs,
      `Events older than ${durationWords(maxEventAgeMs)} start nothing.`,
    ],
    [priority !== DEFAULTS.priority, `Priority: ${priority}.`],
    [holdoutPercent > 0, `Holdout: ${holdoutPercent}% of users get no email, for comparison.`],
    [!counts, 'Its emails do not count toward the frequency cap.'],
    [topic !== null, `Topic: ${topic}.`],
    [!tracking, 'Opens and clicks are not tracked.'],
    [
      expiresAfterMs !== DEFAULTS.expiresAfterMs,
      `Drafts expire ${durationWords(expiresAfterMs)} after their deadline.`,
    ],
  ];
  return sentences.flatMap(([applies, words]) => (applies ? [words] : []));
}

/** Describes the steps of a branch. Branches within it are in parentheses, so that each "otherwise" has one possible "if". */
function stepsWords(steps: Step[], names: AudienceNames): string {
  return steps
    .map((step) => {
      const words = stepWords(step, names);
      return 'then' in step && step.then.length + step.otherwise.length > 0 ? `(${words})` : words;
    })
    .join(', then ');
}

function stepWords(step: Step, names: AudienceNames): string {
  switch (step.kind) {
    case 'draft':
      return emailWords(step.email);
    case 'wait':
      return `wait ${durationWords(step.ms)}`;
    case 'wait_until':
      return `wait until ${step.at}${weekdayWords(step.weekdays)}`;
    case 'wait_for': {
      const wait = `wait up to ${durationWords(step.timeoutMs)} for ${eventWords(step.event, step.where)}`;
      const branches = branchWords(step, { yes: 'if it happens', no: 'if it does not happen' }, names);
      return branches === '' ? wait : `${wait}; ${branches}`;
    }
    case 'branch': {
      const condition = userClauseOf(step.if, names);
      const branches = branchWords(step, { yes: `if ${condition}`, no: `unless ${condition}` }, names);
      return branches === '' ? `check whether ${condition}` : branches;
    }
    case 'end':
      return 'end the run';
    default:
      return step satisfies never;
  }
}

/** Describes one step without its branches. */
export function stepLabel(step: Step, names: AudienceNames): string {
  const alone = 'then' in step ? { ...step, then: [], otherwise: [] } : step;
  return stepWords(alone, names);
}

function branchWords(
  { then, otherwise }: { then: Step[]; otherwise: Step[] },
  { yes, no }: { yes: string; no: string },
  names: AudienceNames,
): string {
  const [first, second] = [stepsWords(then, names), stepsWords(otherwise, names)];
  if (first === '') return second === '' ? '' : `${no}, ${second}`;
  return second === '' ? `${yes}, ${first}` : `${yes}, ${first}; otherwise, ${second}`;
}

function emailWords(email: StepEmail): string {
  return 'name' in email
    ? `draft the email ${quoted(email.name)}`
    : `draft an email with the subject ${quoted(email.subject)}`;
}

const WEEKDAY_NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

function weekdayWords(weekdays: number[]): string {
  if (weekdays.length === WEEKDAY_NAMES.length) return '';
  return ` on ${listOf(weekdays.flatMap((day) => WEEKDAY_NAMES[day - 1] ?? []))}`;
}
