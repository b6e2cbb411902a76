import type {
  Backtest,
  RuleHint,
  RuleListed,
  RuleShown,
  RuleEnrollmentPreview,
  RuleSwitchPreview,
} from '@beckon/contract/dashboard';
import type { Block, View } from '../output/view.ts';
import { viewOf } from '../output/auto.ts';
import { count, type Words } from '../output/words.ts';

export function ruleRow({ id, name, on, mode, sends_after, open_drafts, priority, ...rule }: RuleListed) {
  return {
    id,
    name,
    state: on ? 'enabled' : 'disabled',
    mode,
    'sent after': sends_after ?? 'approval',
    'open drafts': open_drafts,
    priority,
    warnings: rule.lints.length + (rule.alarm === null ? 0 : 1) || null,
  };
}

export function ruleView(rule: RuleShown, words: Words): View {
  const { lints, alarm, sentence, definition } = rule;
  return [
    { ...ruleRow(rule), version: rule.version, updated: words.when(rule.updated_at) },
    sentence,
    hintLines(alarm === null ? lints : [alarm, ...lints]),
    ...viewOf(rule, words, ['demoted', 'suggestion', 'runs', 'enrollment']),
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
  const { considered, entered, waiting, emails: letters, caps, difference } = found;
  const to = found.cut_at === null ? when(found.to) : `${when(found.cut_at)} (cut: too many events)`;
  return [
    `${found.rule}${found.is_saved ? '' : ' (not saved)'}, from ${when(found.from)} to ${to}`,
    {
      evaluated: count(considered, 'time'),
      enrolled: `${count(entered.users, 'user')} in ${count(entered.runs, 'run')}, ${entered.held_out} in the holdout`,
      waiting: waiting === 0 ? null : `${count(waiting, 'user')} until a later time`,
      emails: `${letters.written} (${letters.canceled} canceled before sending, ${letters.without_address} without an address)`,
      'frequency caps': `${caps.held} held, and ${caps.displaced} other emails displaced`,
      'compared with': difference && differenceText(difference),
    },
    {
      title: `Enrolled${found.entries.length > ENTRIES_SHOWN ? ` (first ${ENTRIES_SHOWN})` : ''}`,
      rows: found.entries
        .slice(0, ENTRIES_SHOWN)
        .map(({ external_user_id, at, by }) => ({ user: external_user_id, time: when(at), by })),
      empty: 'No users.',
    },
    {
      title: 'Not enrolled',
      rows: found.refused.map(({ sentence, count: times }) => ({ times, reason: sentence })),
    },
    { title: 'Emails per day', rows: letters.per_day.map((day) => ({ day: day.day, emails: day.emails })) },
    ...found.samples.map(
      ({ external_user_id, at, subject, body }) =>
        `Sample for ${external_user_id}, ${when(at)}: ${subject}\n\n${body.replaceAll(/^/gm, '    ')}`,
    ),
    `Assumptions:\n${found.assumptions.map((one) => `- ${one}`).join('\n')}`,
  ];
}

function differenceText({
  version,
  added,
  removed,
  emails: letters,
}: NonNullable<Backtest['difference']>): string {
  const sign = letters < 0 ? '' : '+';
  return `saved version ${version}: ${added.users} users more, ${removed.users} fewer, ${sign}${letters} emails`;
}
