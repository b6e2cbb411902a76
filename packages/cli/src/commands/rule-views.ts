import type {
  Backtest,
  RuleHint,
  RuleListed,
  RuleEnrollment,
  RuleEnrollmentPreview,
  RuleDetails,
  RuleSwitchPreview,
} from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import type { Block, View } from '../output/view.ts';
import { type Column, fields, rowOf, tableOf, viewOf } from '../output/auto.ts';
import { count, type Words } from '../output/words.ts';

export const RULE_ROW: Column<RuleListed>[] = [
  'id',
  'name',
  ['state', ({ on }) => (on ? 'enabled' : 'disabled')],
  'mode',
  ['sent after', ({ sends_after }) => sends_after ?? 'approval'],
  'open_drafts',
  'users',
  'priority',
  ['warnings', ({ warnings, alarm }) => warnings.length + (alarm === null ? 0 : 1) || null],
];

export function ruleView(rule: RuleDetails): View {
  const { warnings, alarm, sentence, definition } = rule;
  return [
    (words) => rowOf(rule, [...RULE_ROW, 'version', 'updated_at'], words),
    sentence,
    hintLines(alarm === null ? warnings : [alarm, ...warnings]),
    viewOf(rule, ['demoted', 'suggestion', 'runs', 'enrollment']),
    JSON.stringify(definition, null, 2),
  ];
}

export function hintLines(hints: readonly RuleHint[]): Block {
  return hints.length === 0 ? null : hints.map(({ message }) => `Warning: ${message}`).join('\n');
}

export function disableQuestion(rule: string, { drafts, runs, sending }: RuleSwitchPreview): string | null {
  if (drafts + runs + sending === 0) return null;
  const now = sending === 0 ? '' : ` ${count(sending, 'email')} being sent now cannot be stopped.`;
  return `${count(drafts, 'draft')} and ${count(runs, 'run')} of ${rule} will be held.${now} Disable it?`;
}

export function enableQuestion(rule: string, held: number, preview?: RuleEnrollmentPreview): string | null {
  const drafts = held === 0 ? [] : [`${rule} has ${count(held, 'draft')} held for more than a day.`];
  if (preview) return [...drafts, enrollmentText(rule, preview), 'Enable it and enroll them?'].join('\n');
  return held === 0 ? null : [...drafts, 'Enable it?'].join('\n');
}

/** How many users an enrollment would enroll, the first of them, and how many it excludes for each reason. */
export function enrollmentText(rule: string, preview: RuleEnrollmentPreview): string {
  const { audiences, members, evaluated, would_enroll: enrolled, first, excluded } = preview;
  const building = audiences.find(({ ready }) => !ready)?.name;
  if (building !== undefined)
    throw new Failure('conflict', `The audience ${building} is still being built. Try again later.`);
  if (audiences.length === 0)
    throw new Failure('conflict', `Users cannot be enrolled in ${rule}: no audience starts the rule.`);
  const names = first.map(({ external_user_id: id, name }) => (name === null ? id : `${name} (${id})`));
  const more = enrolled > names.length ? `, and ${enrolled - names.length} more` : '';
  return [
    `${enrolled} of ${evaluated < members ? `the first ${evaluated} of ` : ''}${count(members, 'user')} would be enrolled in ${rule}.`,
    ...(names.length === 0 ? [] : [`First users: ${names.join(', ')}${more}`]),
    ...excluded.map(({ count: users, sentence }) => `Not enrolled: ${users} (${sentence})`),
  ].join('\n');
}

export function enrollmentStarted(rule: string, { members }: RuleEnrollment): string {
  const argument = /^[\w.-]+$/.test(rule) ? rule : JSON.stringify(rule);
  return `Started the enrollment: ${count(members, 'user')} to evaluate. Show its progress: beckon rules show ${argument}`;
}

const ENTRIES_SHOWN = 20;

export function backtestView(found: Backtest, { when }: Words): View {
  const { per_day, ...emails } = found.emails;
  const to = found.stopped_at === null ? when(found.to) : `${when(found.stopped_at)} (cut: too many events)`;
  return [
    `${found.rule}${found.is_saved ? '' : ' (not saved)'}, from ${when(found.from)} to ${to}`,
    viewOf({ ...found, emails }, fields('evaluated enrolled waiting emails frequency_caps comparison')),
    tableOf(
      `Enrolled${found.enrollments.length > ENTRIES_SHOWN ? ` (first ${ENTRIES_SHOWN})` : ''}`,
      found.enrollments.slice(0, ENTRIES_SHOWN),
      fields('external_user_id at trigger'),
    ),
    tableOf('Not enrolled', found.excluded, fields('times=count reason=sentence')),
    tableOf('Emails per day', per_day, fields('day emails')),
    ...found.samples.map(
      ({ external_user_id, at, subject, body }) =>
        `Sample for ${external_user_id}, ${when(at)}: ${subject}\n\n${body.replaceAll(/^/gm, '    ')}`,
    ),
    `Assumptions:\n${found.assumptions.map((assumption) => `- ${assumption}`).join('\n')}`,
  ];
}
