import type { Command } from 'commander';
import type { UserInput } from '@beckon/contract';
import { importCommand } from '../import/command.ts';
import { usage } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { collect, readProperties } from '../read-properties.ts';
import { action, perform, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';

type UpsertOptions = { email?: string; trait: string[]; data?: string };

export function addUsers(program: Command, shell: Shell): void {
  const users = program.command('users').description('tell who your users are');
  users
    .command('upsert')
    .description('make a user known, or add to what is known')
    .argument('<user>', 'the external_user_id')
    .option('--email <address>', 'where letters go')
    .option('-t, --trait <key=value>', 'a trait; numbers and other JSON are read as such', collect, [])
    .option('--data <file>', 'a JSON object of traits; - reads it from stdin')
    .action(action<UpsertOptions>(shell, upsert));
  users.addCommand(importer('users', shell));
}

export function addEvents(program: Command, shell: Shell): void {
  const events = program.command('events').description('tell what your users did');
  events.addCommand(importer('events', shell));
}

async function upsert(running: Running<UpsertOptions>, id = ''): Promise<void> {
  const { options, output, signal, shell } = running;
  const { email, trait, data: file } = options;
  if (file === '-' && options.keyFile === '-')
    throw usage('--data and --key-file cannot both be read from stdin');
  const traits = await readProperties(shell, { pairs: trait, option: '--trait', file });
  const user: UserInput = {
    external_user_id: id,
    ...(email === undefined ? {} : { email }),
    ...(Object.keys(traits).length === 0 ? {} : { traits }),
  };
  await (await running.client()).users.upsert(user, { signal });
  await output.one({ accepted: true, user }, () => `Accepted: ${printable(id)}`);
}

/** Nobody sits beside an import for its whole time: a server that is restarted meanwhile ends none. */
const PATIENT = { attempts: 20, totalMs: 15 * 60_000 };

function importer(kind: 'users' | 'events', shell: Shell): Command {
  return importCommand(kind, (asked, command) =>
    perform(shell, command, {
      async work({ client, output, signal, options }) {
        if (asked.file === '-' && options.keyFile === '-')
          throw usage('The file and --key-file cannot both be read from stdin');
        const isWatched = shell.stdin.isTerminal && shell.stderr.isTerminal && options.json !== true;
        // What only imports need is read by them alone.
        const { runImport } = await import('../import/index.ts');
        return runImport(asked, {
          client: asked.dryRun ? null : await client({ retry: PATIENT }),
          output,
          shell,
          askText: isWatched ? shell.ask.text : null,
          signal,
        });
      },
    }),
  );
}
