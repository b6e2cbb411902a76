import type { Command } from 'commander';
import { unauthorised, usage } from '../failure.ts';
import { readDuration } from '../output/when.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';

const ADVANCE_MAX_MS = 366 * 86_400_000;
/** A year of a project with many people takes its time. */
const ADVANCE_TIMEOUT_MS = 10 * 60_000;

export function addClock(program: Command, shell: Shell): void {
  const clock = program.command('clock').description('the clock of a sandbox; needs an sk_test_ key');
  clock
    .command('now')
    .description('what time it is in the sandbox')
    .action(
      action(shell, async (running) => {
        const now = (await (await sandbox(running)).clock.now()).toISOString();
        await running.output.one({ now }, () => now);
      }),
    );
  clock
    .command('advance')
    .description('let time go by, and do all that is due on the way')
    .argument('<duration>', 'such as 90m, 12h or 7d; at most 366d')
    .action(
      action(shell, async (running, duration = '') => {
        const ms = readDuration(duration);
        if (ms === null || ms === 0 || ms > ADVANCE_MAX_MS)
          throw usage(`${duration} is no time to go by: write 90m, 12h or 7d, at most 366d`, 'duration');
        const advanced = await (await sandbox(running)).clock.advance(duration);
        await running.output.one(
          advanced,
          ({ now, drafts, letters }) =>
            `It is ${now} now. Drafts written on the way: ${drafts}; letters that left: ${letters}.`,
        );
      }),
    );
}

async function sandbox(running: Running<object>) {
  const { apiKey } = await running.connection();
  if ((await apiKey()).startsWith('sk_test_')) return running.client({ timeoutMs: ADVANCE_TIMEOUT_MS });
  throw unauthorised('forbidden', 'Only a sandbox has a clock of its own: use an sk_test_ key');
}
