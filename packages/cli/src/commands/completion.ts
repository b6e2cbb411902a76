import { Argument, type Command } from 'commander';
import { type CompletedShell, completionFor, SHELLS } from '../completion.ts';
import { action } from '../run.ts';
import type { Shell } from '../shell.ts';

export function addCompletion(program: Command, shell: Shell): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'for which').choices(SHELLS))
    .action(
      action(shell, ({ output }, name) => output.plain(completionFor(name as CompletedShell, program))),
    );
}
