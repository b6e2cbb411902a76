import { CATALOGUE, type SettingName } from '../../packages/server/src/features/projects/settings.ts';
import { VARIABLES } from '../../packages/server/src/main/variables.ts';
import { tableOf } from './table.ts';

/** Everything that the environment may say, from the list that the server itself is held to. */
export function settings(): string {
  const groups = Map.groupBy(VARIABLES, ({ group }) => group);
  return [...groups]
    .map(([group, some]) => {
      const rows = some.map(({ name, unset, example, about, secret, generate }) => [
        secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``,
        unset === null ? '' : asCode(unset),
        asCode(example),
        generate === undefined ? about : `${about} \`${generate}\` makes one.`,
      ]);
      return `## ${group}\n\n${tableOf(['variable', 'if not set', 'such as', ''], rows)}`;
    })
    .join('\n\n');
}

/** What a project decides for itself, with what it takes. A setting of which nothing is told here does not compile. */
export function projectSettings(): string {
  const names = Object.keys(ABOUT) as SettingName[];
  const rows = names.map((name) => {
    const { fallback, syntax } = CATALOGUE[name];
    return [`\`${name}\``, fallback === '' ? '' : `\`${fallback}\``, syntax, ABOUT[name]];
  });
  return tableOf(['setting', 'if not set', 'takes', ''], rows);
}

const ABOUT: Record<SettingName, string> = {
  quiet_hours: 'When nothing leaves, by the clock of whoever it is for.',
  frequency_cap: 'How many letters one person gets.',
  throttle: 'How fast letters leave.',
  autopilot: 'How long after its making a letter that nobody touched leaves by itself.',
  drafting: 'Whether [a model](emails.md) may reword letters, where the installation has one.',
  time_zone: 'Of the project, and of everybody whose own is not known.',
  paused: 'Nothing leaves; everything else goes on.',
  keep_events: 'Not below the longest window that an audience asks about.',
  keep_stream: 'What the stream shows beside events.',
  keep_dead: 'Records that could not be applied.',
  keep_letters: 'Letters as they left, and answers.',
  from_name: 'As whom the project writes.',
  from_address: 'Its domain is one of the project’s [sending domains](../how-to/domains.md).',
  reply_to: 'Where answers go that Beckon does not hear.',
  postal_address: 'At the foot of each letter.',
  footer: 'One more line there.',
  reply_forward_to: 'Where [answers](../how-to/receive-bounces-and-replies.md#replies) go on to.',
  topics: 'What letters can be about, for whoever wants [some of them](email-preferences.md).',
  tracking: 'Whether [opens and clicks](tracking.md) are seen.',
  team_addresses: 'Who is told what waits.',
  sandbox: 'Whether there is a [sandbox](test-clock.md) beside it.',
};

/** A value that is told in words, with code of its own, is no code as a whole. */
function asCode(value: string): string {
  return /[`:] |`$/.test(value) ? value : `\`${value}\``;
}
