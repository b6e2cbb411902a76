import type { SettingTexts } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, type Noun } from '../framework/declare.ts';

export const settings: Noun = {
  name: 'settings',
  help: 'Show and change the settings of a project',
  commands: [
    call('GET /projects/:project/settings', 'show', {
      help: 'Show all settings of a project, their defaults and what they accept',
      view: ({ settings: all }) => ({
        rows: all.map(({ name, text, fallback, syntax }) => ({
          setting: name,
          value: text,
          default: fallback,
          accepts: syntax,
        })),
      }),
    }),
    call('PATCH /projects/:project/settings', 'set <settings...>', {
      help: 'Set one or more settings of a project',
      args: { settings: 'Settings as name=value, such as quiet_hours=21:00-08:00 autopilot=2h' },
      body: ({ settings: pairs }) => ({ settings: settingTexts(pairs) }),
      view: ({ settings: all }, _words, { input }) => {
        const names = Object.keys(settingTexts(input.settings));
        return Object.fromEntries(
          all.filter(({ name }) => names.includes(name)).map(({ name, text }) => [name, text]),
        );
      },
    }),
    call('GET /projects/:project/sending', 'sender', {
      help: 'Show the sender of emails, and what keeps emails from being sent',
      view: ({ sender, with_relay, domains, replies, throttle, warmup, has_model }, { when }) => [
        {
          from: sender.name === '' ? sender.address : `${sender.name} <${sender.address}>`,
          'reply to': sender.reply_to,
          sending: senderText(sender),
          'with a relay': sender.test_inbox && with_relay !== null ? `held: ${with_relay.detail}` : null,
          domain: sender.domain && `${sender.domain.name}: ${sender.domain.paused ?? sender.domain.state}`,
          throttle: throttle.remaining === null ? 'off' : `${throttle.remaining} emails left now`,
          'next email': when(throttle.next_at),
          'warm-up':
            warmup.off === null
              ? `day ${warmup.day}: ${warmup.remaining} of ${warmup.emails} emails left, until ${when(warmup.ends_at)}`
              : 'none',
          replies: replies.captured
            ? 'received and forwarded'
            : `not received: ${replies.missing} is not set`,
          'AI drafting': has_model ? 'on' : 'off',
        },
        {
          title: 'Domains',
          rows: domains.map((domain) => ({
            domain: domain.name,
            state: domain.paused === null ? domain.state : `paused: ${domain.paused}`,
            throttle: domain.throttle,
          })),
        },
      ],
    }),
  ],
};

function senderText({
  test_inbox: testInbox,
  problem,
}: {
  test_inbox: boolean;
  problem: { detail: string } | null;
}): string {
  if (testInbox) return 'to the test inbox of this server; SMTP_URL is not set';
  return problem === null ? 'on' : `held: ${problem.detail}`;
}

/** Reads `name=value`, as many as there are. */
export function settingTexts(pairs: readonly string[]): SettingTexts {
  const texts = pairs.map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
    throw usage(`Write name=value, such as quiet_hours=21:00-08:00, not ${pair}`, 'settings');
  });
  return Object.fromEntries(texts);
}
