import type { Command } from 'commander';
import { describeError, JSON_OPTION } from './command.ts';
import { EXIT_FAILED, type Operator, type OperatorServer } from './operator.ts';

/** How long requests in progress may take to end. Requests without a response by then were never acknowledged. */
export const DRAIN_MAX_MS = 10_000;

export function addServeCommand(program: Command, operator: Operator): void {
  program
    .command('serve')
    .description('Run the server until SIGTERM or SIGINT')
    .option(...JSON_OPTION)
    .action(({ json = false }: { json?: boolean }) => serve(operator, json));
}

/** A signal during the start stops the server once it has started. A second signal does not shorten the shutdown. */
async function serve(operator: Operator, json: boolean): Promise<void> {
  const signal = Promise.withResolvers<string>();
  const stopListening = operator.onSignal(signal.resolve);
  try {
    const server = await operator.serve({ logTo: json ? 'stderr' : 'stdout' });
    for (const warning of server.warnings) operator.printError(`Warning: ${warning}`);
    operator.print(json ? JSON.stringify(readyJson(server)) : readyText(server));
    await signal.promise;
    await drain(operator, server);
  } catch (error) {
    operator.printError(describeError(error, json));
    operator.setExitCode(EXIT_FAILED);
  } finally {
    stopListening();
  }
}

function readyJson({ url, setUpUrl }: OperatorServer): { url: string; setup_url?: string } {
  return setUpUrl === null ? { url } : { url, setup_url: setUpUrl };
}

function readyText({ url, setUpUrl }: OperatorServer): string {
  const ready = `Beckon is ready at ${url}`;
  return setUpUrl === null
    ? ready
    : `${ready}\n\nNo account exists yet. Create the first one with this link, once and within 24 hours:\n${setUpUrl}\n`;
}

async function drain(operator: Operator, server: OperatorServer): Promise<void> {
  const timeout = Promise.withResolvers<'timeout'>();
  const timer = setTimeout(() => timeout.resolve('timeout'), DRAIN_MAX_MS);
  const outcome = await Promise.race([server.stop(), timeout.promise]);
  clearTimeout(timer);
  if (outcome !== 'timeout') return;
  operator.printError(`Some work did not end within ${DRAIN_MAX_MS / 1_000} s. Stopping anyway.`);
  operator.setExitCode(EXIT_FAILED);
}
