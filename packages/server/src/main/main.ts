#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addCommands } from './commands/commands.ts';
import { EXIT_USAGE, type Operator } from './commands/operator.ts';
import { type Config, ConfigFaults, loadConfig } from './config.ts';
import { describeCrash, reportCrash } from './crash-report.ts';
import { readRelease } from './release.ts';

/**
 * The entry point of `beckon-server`. It imports little: each command loads what it needs, such as the database or HTTP. So a short command
 * does not wait for a web server to load.
 */
const AFTER_HELP = `
Commands read the same environment variables as the server.
Exit codes: 0 success, 1 failed, 2 invalid command or option.

For projects, keys, users, rules, drafts and emails, use beckon.`;
const program = new Command('beckon-server')
  .description('Run and maintain a Beckon server on this machine')
  .version(readRelease().version, '-V, --version', 'Print the version')
  .helpOption('-h, --help', 'Show help')
  .helpCommand('help [command]', 'Show help for a command')
  .addHelpText('after', AFTER_HELP)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(wantsJson() ? usageAsJson(text) : text) });

// A closed pipe (`… | head`) ends the program without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
reportCrash((error) => printError(describeCrash(error)));
addCommands(program, createOperator());
await program.parseAsync().catch(endAsUsage);
// The end of the process would drop what is not yet written to a pipe.
await Promise.all([written(process.stdout), written(process.stderr)]);
// A connection that does not close may keep the event loop alive. It gets 100 ms.
setTimeout(() => process.exit(), 100).unref();

function createOperator(): Operator {
  return {
    async open() {
      const { openForCommand } = await import('./prepare.ts');
      return openForCommand(readConfig(), { print: printError, version: readRelease().version });
    },
    async migrate() {
      const { migrateForCommand } = await import('./prepare.ts');
      return migrateForCommand(readConfig(), printError);
    },
    async distribute() {
      const { distributeForCommand } = await import('./prepare.ts');
      return distributeForCommand(readConfig(), printError);
    },
    async inspect() {
      const { inspect } = await import('./inspect.ts');
      return inspect(tryConfig(), printError);
    },
    async backups() {
      const { openBackups } = await import('./backups.ts');
      return openBackups(readConfig(), { print: printError, version: readRelease().version });
    },
    async serve({ logTo }) {
      const config = readConfig();
      const { serve } = await import('./serve.ts');
      return serve(config, { logTo, print: logTo === 'stdout' ? print : printError, release: readRelease() });
    },
    onSignal,
    print,
    printError,
    setExitCode(code) {
      process.exitCode = code;
    },
  };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // A stream that its reader closed never calls back.
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

function readConfig(): Config {
  return loadConfig(process.env, (path) => readFileSync(path, 'utf8'));
}

function tryConfig(): Config | ConfigFaults {
  try {
    return readConfig();
  } catch (error) {
    if (error instanceof ConfigFaults) return error;
    throw error;
  }
}

function onSignal(listener: (signal: string) => void): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, listener);
  // A process with background work alone has nothing else that keeps Node.js running.
  const alive = setInterval(() => {}, 2 ** 30);
  return () => {
    clearInterval(alive);
    for (const signal of signals) process.off(signal, listener);
  };
}

/** Commander printed the message already. Help is not an error. */
function endAsUsage(error: unknown): void {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode !== 0) process.exitCode = EXIT_USAGE;
}

function wantsJson(): boolean {
  return process.argv.includes('--json');
}

function usageAsJson(text: string): string {
  const message = text.trim().replace(/^error: /, '');
  return `${JSON.stringify({ error: { code: 'usage', message } })}\n`;
}
