import type { Command } from 'commander';
import { action } from '../run.ts';
import type { Shell } from '../shell.ts';

export function addMcp(program: Command, shell: Shell): void {
  program
    .command('mcp')
    .description(
      'serve the Model Context Protocol over stdin and stdout, for assistants; by the token of beckon login',
    )
    .action(
      action(
        shell,
        async ({ inProject, signal, shell: { version } }) => {
          const found = await inProject();
          // What only this command needs is read by this command alone.
          const { serveMcp } = await import('../mcp/serve.ts');
          await serveMcp({ ...found, version, signal });
        },
        { endsByInterrupt: true },
      ),
    );
}
