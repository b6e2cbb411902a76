import type { SettingTexts } from '@beckon/contract/dashboard';
import { call, type Noun } from '../framework/declare.ts';
import { pairOf } from '../framework/options.ts';
import { fields, tableOf } from '../output/auto.ts';

export const settings: Noun = {
  name: 'settings',
  help: 'Show and change the settings of a project',
  commands: [
    call('GET /projects/:project/settings', 'show', {
      help: 'Show all settings of a project, their defaults and what they accept',
      view: ({ settings: all }) => tableOf('Settings', all, fields('setting=name value default format')),
    }),
    call('PATCH /projects/:project/settings', 'set <settings...>', {
      help: 'Set one or more settings of a project',
      args: { settings: 'Settings as name=value, such as quiet_hours=21:00-08:00 autopilot=2h' },
      body: ({ settings: pairs }) => ({ settings: settingTexts(pairs) }),
      view: ({ settings: all }, _words, { input }) => {
        const names = Object.keys(settingTexts(input.settings));
        return Object.fromEntries(
          all.filter(({ name }) => names.includes(name)).map(({ name, value }) => [name, value]),
        );
      },
    }),
    call('GET /projects/:project/sending', 'sender', {
      help: 'Show the sender of emails, and what keeps emails from being sent',
      view: fields('sender with_relay domains replies throttle warmup ai_drafting=has_model'),
    }),
  ],
};

/** Reads `name=value`, as many as there are. */
export function settingTexts(pairs: readonly string[]): SettingTexts {
  const form = 'name=value, such as quiet_hours=21:00-08:00';
  return Object.fromEntries(pairs.map((pair) => pairOf(pair, 'settings', form)));
}
