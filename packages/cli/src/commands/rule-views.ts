import type {
  Backtest,
  RuleHint,
  RuleListed,
  RuleShown,
  RuleEnrollmentPreview,
  RuleSwitchPreview,
} from '@beckon/contract/dashboard';
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
  'priority',
  ['warnings', ({ warnings, alarm }) => warnings.length + (alarm === null ? 0 : 1) || null],
];

export function ruleView(rule: RuleShown): View {
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

export function switchQuestion(rule: string, { drafts, runs, sending }: RuleSwitchPreview): string | null {
  if (drafts + runs + sending === 0) return null;
  const now = sending === 0 ? '' : ` ${count(sending, 'email')} being sent now cannot be stopped.`;
  return `${count(drafts, 'draft')} and ${count(runs, 'run')} of ${rule} will be held.${now} Disable it?`;
}

/**
 * How many users an enrollment would enroll and who is first, and how many it excludes with the reason of each. Null where no
 * audience starts the rule: the server refuses that.
 */
export function enrollmentQuestion(rule: string, preview: RuleEnrollmentPreview): string | null {
  if (preview.audiences.length === 0) return null;
  const { would_enroll, members, evaluated, first, excluded } = preview;
  const of = evaluated < members ? `the first ${evaluated} of ${members}` : `${members}`;
  const names = first.map(({ external_user_id: id, name }) => (name === null ? id : `${name} (${id})`));
  const who = names.length === 0 ? '' : ` First: ${names.join(', ')}.`;
  const reasons = excluded.map(({ count: users, sentence }) => ` Excluded: ${users} (${sentence}).`);
  return `${would_enroll} of ${of} members would be enrolled in ${rule}.${who}${reasons.join('')} Enroll them?`;
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
    `Assumptions:\n${found.assumptions.map((one) => `- ${one}`).join('\n')}`,
  ];
}
