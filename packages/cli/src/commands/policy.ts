import type { PolicyEffect, PolicyQuery } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, type Noun } from '../framework/declare.ts';
import { type Column, fields, tableOf, viewOf } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import { forecastWords } from './draft-views.ts';
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

const EFFECT = fields(
  'sent_without_a_decision=drafts truncated earlier later unchanged newly_expire stop_sending current proposed',
);
const DIFFERENCE: Column<PolicyEffect['differences'][number]>[] = [
  ...fields('draft=id rule external_user_id'),
  ['current', ({ current }, words) => forecastWords(current, words)],
  ['proposed', ({ proposed }, words) => forecastWords(proposed, words)],
];

function effectView(effect: PolicyEffect): View {
  const head = { title: 'Changed drafts', empty: 'No draft changes.' };
  return [viewOf(effect, EFFECT), tableOf(head, effect.differences, DIFFERENCE)];
}
