import type { Command } from 'commander';
import { EXIT_FAILED, type Operator, type Served } from './operator.ts';
import { describeError, JSON_OPTION, type OutputOptions } from './run.ts';

/** How long requests under way may take to end; what is not answered by then was never acknowledged. */
export const DRAIN_MAX_MS = 10_000;

export function addServeCommand(program: Command, operator: Operator): void {
  program
    .command('serve')
    .description('run the server until SIGTERM or SIGINT')
    .option(...JSON_OPTION)
    .action((options: OutputOptions) => serve(operator, options));
}

/** A signal that comes while the server still starts is obeyed as soon as it has started; a second one skips nothing. */
async function serve(operator: Operator, options: OutputOptions): Promise<void> {
  const signalled = Promise.withResolvers<string>();
  const stopListening = operator.onSignal(signalled.resolve);
  try {
    const served = await operator.serve({ logTo: options.json ? 'stderr' : 'stdout' });
    for (const warning of served.warnings) operator.complain(`Warning: ${warning}`);
    operator.print(options.json ? JSON.stringify(toJson(served)) : toWords(served));
    await signalled.promise;
    await drain(operator, served);
  } catch (error) {
    operator.complain(describeError(error, options.json ?? false));
    operator.setExitCode(EXIT_FAILED);
  } finally {
    stopListening();
  }
}

function toJson({ url, setUpUrl }: Served): { url: string; setup_url?: string } {
  return setUpUrl === null ? { url } : { url, setup_url: setUpUrl };
}

function toWords({ url, setUpUrl }: Served): string {
  const ready = `Beckon is ready at ${url}`;
  return setUpUrl === null
    ? ready
    : `${ready}\n\nNobody has an account yet. Set up here, once and within 24 hours:\n${setUpUrl}\n`;
}

async function drain(operator: Operator, served: Served): Promise<void> {
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => late.resolve('late'), DRAIN_MAX_MS);
  const outcome = await Promise.race([served.stop(), late.promise]);
  clearTimeout(timer);
  if (outcome !== 'late') return;
  operator.complain(`Not everything came to its end within ${DRAIN_MAX_MS / 1_000} s; stopping all the same`);
  operator.setExitCode(EXIT_FAILED);
}
