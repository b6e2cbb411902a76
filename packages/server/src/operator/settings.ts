import type { Command } from 'commander';
import { Fault } from '../base/fault.ts';
import { findProject, getSettings, type SettingName } from '../features/projects/index.ts';
import { setSettings } from '../flows/set-settings.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';

type OfProject = { project: string } & OutputOptions;
type Texts = Record<SettingName, string>;

export function addSettingsCommands(program: Command, operator: Operator): void {
  const settings = program.command('settings').description("read and change a project's settings");
  settings
    .command('get')
    .description('show all settings')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((options: OfProject) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { texts } = await getSettings(db, (await findProject(db, options.project)).id);
          return toShown(texts);
        },
        show,
      }),
    );
  settings
    .command('set')
    .description('change some, such as quiet_hours=21:00-08:00 autopilot=2h paused=true')
    .argument('<key=value...>')
    .requiredOption(...PROJECT_OPTION)
    .option(...JSON_OPTION)
    .action((pairs: string[], options: OfProject) =>
      runOpened(operator, options, {
        work: async ({ db }) => {
          const { id } = await findProject(db, options.project);
          return toShown(await setSettings(db, id, readPairs(pairs)));
        },
        show,
      }),
    );
}

/** As typed, except that a truth is one in JSON too. */
function toShown({ paused, ...texts }: Texts) {
  return { ...texts, paused: paused === 'true' };
}

function show(settings: ReturnType<typeof toShown>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** `name=value`, as many as there are. */
export function readPairs(pairs: string[]): Record<string, string> {
  const read = pairs.map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)];
    const message = `${JSON.stringify(pair)} must be name=value, such as quiet_hours=21:00-08:00`;
    throw new Fault('validation_failed', { details: [{ message }] });
  });
  return Object.fromEntries(read);
}
