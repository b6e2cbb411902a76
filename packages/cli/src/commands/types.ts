import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { declareEvents, WRITTEN_BY } from '../declare-events.ts';
import { Failure, usage } from '../failure.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';

type PullOptions = { out: string; force?: true };

export function addTypes(program: Command, shell: Shell): void {
  const types = program.command('types').description('TypeScript types of what your project is told');
  types
    .command('pull')
    .description(
      'write the events of the project, with the properties that came, as types for @beckon/client',
    )
    .option('--out <file>', 'where to; - prints it', 'beckon-events.d.ts')
    .option('--force', 'replace a file that this command did not write')
    .action(action<PullOptions>(shell, pull));
}

async function pull({ inProject, output, options, shell }: Running<PullOptions>): Promise<void> {
  const { dashboard, project } = await inProject();
  const { data } = await dashboard.call('GET /projects/:project/events', { params: { project: project.id } });
  const { text, events } = declareEvents(data);
  if (options.out === '-') return output.plain(text);
  const path = resolve(shell.cwd, options.out);
  await requireOurs(path, options.force ?? false);
  await writeFile(path, text).catch((error: Error) => {
    throw new Failure('file_unwritable', `${path} cannot be written: ${error.message}`, { cause: error });
  });
  await output.one({ path, events }, () => `${events} events of your own are typed in ${options.out}.`);
}

/** What somebody wrote by hand is not lost by a command that was meant for another folder. */
async function requireOurs(path: string, isForced: boolean): Promise<void> {
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Failure('file_unreadable', `${path} cannot be read: ${error.message}`, { cause: error });
  });
  if (before === null || isForced || before.startsWith(WRITTEN_BY)) return;
  throw usage(`${path} was not written by this command: choose another file, or say --force`, '--out');
}
