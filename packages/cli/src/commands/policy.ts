import type { PolicyEffect, PolicyFate, PolicyQuery, PolicyTotals } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, type Noun } from '../framework/declare.ts';
import type { View } from '../output/view.ts';
import { count, plain, type Words } from '../output/words.ts';
import { settingTexts } from './settings.ts';

const NAMES = ['quiet_hours', 'frequency_cap', 'throttle', 'time_zone', 'paused', 'autopilot'];
const TIMEOUT_MS = 2 * 60_000;

export const policy: Noun = {
  name: 'policy',
  help: 'Simulate settings that decide when emails are sent',
  commands: [
    call('GET /projects/:project/policy/simulate', 'simulate <settings...>', {
      help: 'Simulate what changed settings would do to waiting drafts. Changes nothing.',
      details: `Settings: ${NAMES.join(', ')}. The only value of autopilot is draft.`,
      args: { settings: 'Settings as name=value, such as quiet_hours=off frequency_cap=2/7d' },
      query: ({ settings }) => policyOf(settings),
      timeoutMs: TIMEOUT_MS,
      view: effectView,
    }),
  ],
};

function policyOf(pairs: readonly string[]): PolicyQuery {
  const texts = settingTexts(pairs);
  const unknown = Object.keys(texts).find((name) => !NAMES.includes(name));
  if (unknown === undefined) return texts;
  throw usage(`${unknown} is not one of ${NAMES.join(', ')}`, 'settings');
}

function effectView(effect: PolicyEffect, words: Words): View {
  const { drafts, is_cut, today, changed, earlier, later, same, stop_sending, newly_expire } = effect;
  return [
    `${count(drafts, 'draft')} would be sent without a decision${is_cut ? '; more were not simulated' : ''}.`,
    { rows: [totalsRow('today', today, words), totalsRow('changed', changed, words)] },
    [
      `${count(earlier, 'draft')} would be sent earlier, ${later} later, ${same} at the same time.`,
      ...(newly_expire > 0 ? [`${count(newly_expire, 'draft')} would expire instead.`] : []),
      ...(stop_sending > 0
        ? [`${count(stop_sending, 'draft')} would wait for approval instead of being sent.`]
        : []),
    ].join('\n'),
    {
      rows: effect.differences.map((draft) => ({
        draft: draft.id,
        rule: draft.rule,
        user: draft.external_user_id,
        today: fateText(draft.today, words),
        changed: fateText(draft.changed, words),
      })),
      empty: 'No draft changes.',
    },
  ];
}

function totalsRow(name: string, totals: PolicyTotals, { when }: Words) {
  const held = Object.entries(totals.held).map(([reason, drafts]) => `${plain(reason)} ${drafts}`);
  return {
    settings: name,
    sent: totals.sends,
    'sent immediately': totals.sends_immediately,
    held: held.join(', ') || 0,
    expired: totals.expires,
    'median time': when(totals.median_send_at),
    'last email': when(totals.last_send_at),
  };
}

const FATES: Record<PolicyFate['becomes'], string> = { sends: 'sent', held: 'held', expires: 'expires' };

function fateText({ becomes, at, reason }: PolicyFate, { when }: Words): string {
  const moment = when(at);
  const until = moment === null ? '' : ` ${becomes === 'held' ? 'until ' : ''}${moment}`;
  return `${FATES[becomes]}${until}${reason === null ? '' : ` (${plain(reason)})`}`;
}
