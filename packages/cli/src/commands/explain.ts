import type { Explained, WhyRule } from '@beckon/contract/dashboard';
import { call } from '../framework/declare.ts';
import { count, plain, type Words } from '../output/words.ts';

export const explain = call('GET /projects/:project/users/:user/why', 'explain <user> [rule]', {
  help: 'Explain why a user did or did not get an email, and what would happen now',
  view: (rules, words) =>
    rules.length === 0
      ? 'No rules yet. Create one: beckon rules create --file <file>'
      : rules.map((rule) => ruleLines(rule, words).join('\n')),
});

function ruleLines({ rule, on, would_fire, triggers, decisions, drafts }: WhyRule, words: Words): string[] {
  const state = on ? '' : ' (disabled)';
  return [
    `${rule.name}${state}: would ${would_fire ? '' : 'not '}fire now`,
    ...decisions.map(
      ({ at, sentence, count: times }) =>
        `  ${words.when(at)}  ${sentence}${times > 1 ? ` (${count(times, 'time')})` : ''}`,
    ),
    ...drafts.flatMap((draft) => draftLines(draft, words)),
    ...triggers.flatMap((trigger) => triggerLines(trigger, words)),
  ];
}

function draftLines(
  { id, subject, state, reason, send_check: check }: WhyRule['drafts'][number],
  { when }: Words,
): string[] {
  const why = reason === null ? '' : ` (${plain(reason)})`;
  const until = check?.until ? `, until ${when(check.until)}` : '';
  return [
    `  draft ${id} “${subject}”: ${plain(state)}${why}`,
    ...(check === null ? [] : [`    held: ${check.sentence}${until}`]),
  ];
}

function triggerLines(trigger: WhyRule['triggers'][number], words: Words): string[] {
  const { waits_for, last_seen_at, would_fire, sentence, would_pass_if } = trigger;
  const seen = last_seen_at === null ? 'never seen' : `last seen ${words.when(last_seen_at)}`;
  return [
    `  trigger: ${waits_for} (${seen})`,
    `    ${would_fire ? 'would fire' : `would not fire: ${sentence}`}`,
    ...would_pass_if.flatMap((condition) => conditionLines(condition, words, 3)),
  ];
}

/** A condition and the conditions inside it, each with its result for the user. */
export function conditionLines(condition: Explained, words: Words, depth: number): string[] {
  const { sentence, holds, until, conditions = [] } = condition;
  const certain = until === null ? '' : `  (until ${words.when(until)})`;
  return [
    `${'  '.repeat(depth)}${holds ? 'yes' : 'no '}  ${sentence}${certain}`,
    ...conditions.flatMap((part) => conditionLines(part, words, depth + 1)),
  ];
}
