import {
  CATALOGUE,
  type SettingName,
} from '../../packages/server/src/modules/workspace/projects/settings.ts';
import { VARIABLES } from '../../packages/server/src/main/variables.ts';
import { tableOf } from './table.ts';

/** Every environment variable, from the list that the server is tested against. */
export function settings(): string {
  const groups = Map.groupBy(VARIABLES, ({ group }) => group);
  return [...groups]
    .map(([group, variables]) => {
      const rows = variables.map(({ name, unset, example, about, secret, generate }) => [
        secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``,
        unset === null ? '' : asCode(unset),
        asCode(example),
        generate === undefined ? about : `${about} Create one with \`${generate}\`.`,
      ]);
      return `### ${group}\n\n${tableOf(['Variable', 'Default', 'Example', 'Meaning'], rows)}`;
    })
    .join('\n\n');
}

/** Every project setting with its accepted values. A setting without a description does not compile. */
export function projectSettings(): string {
  const names = Object.keys(ABOUT) as SettingName[];
  const rows = names.map((name) => {
    const { fallback, syntax } = CATALOGUE[name];
    return [`\`${name}\``, fallback === '' ? '' : `\`${fallback}\``, syntax, ABOUT[name]];
  });
  return tableOf(['Setting', 'Default', 'Accepts', 'Meaning'], rows);
}

const ABOUT: Record<SettingName, string> = {
  quiet_hours:
    'No email is sent in these hours of the user’s time zone. Without a relay, the default holds no email; quiet hours that you set do.',
  frequency_cap: 'How many emails a user gets at most.',
  throttle: 'How fast emails are sent.',
  autopilot: 'How long after its creation an untouched draft is sent automatically.',
  drafting: '[AI drafting](emails.md#ai-drafting) for the project, if the installation has a model.',
  time_zone: 'The time zone of the project, and of users without one.',
  language:
    'The [language of emails](emails.md#language-dates-and-numbers) to users who have no valid trait `locale`.',
  paused: 'No email is sent. Everything else continues.',
  keep_events: 'Not shorter than the longest window of an audience.',
  keep_stream: 'Activity stream entries other than events.',
  keep_dead: 'Dead-lettered records.',
  keep_emails: 'Sent messages and replies.',
  from_name: 'The sender name of the project.',
  from_address: 'Its domain is one of the project’s [sending domains](../how-to/domains.md).',
  reply_to: 'The address for replies, unless Beckon forwards them to `reply_forward_to`.',
  postal_address: 'In the footer of each email.',
  footer: 'An additional line in the footer.',
  reply_forward_to:
    'The address to which [replies](../how-to/receive-bounces-and-replies.md#replies) are forwarded.',
  reply_plus_addressing:
    'Adds a token to Reply-To, for a [reply source](../how-to/receive-replies-without-port-25.md).',
  topics: 'The [topics](email-preferences.md#topics) that users can choose.',
  tracking: 'Tracking of [opens and clicks](tracking.md).',
  team_addresses: 'Recipients of the summary of waiting drafts.',
  sandbox: 'A [sandbox](test-clock.md) beside the project.',
};

/** Formats a value as code, except a value in words that contains code itself. */
function asCode(value: string): string {
  return /[`:] |`$/.test(value) ? value : `\`${value}\``;
}
