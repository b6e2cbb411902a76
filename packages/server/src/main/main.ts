import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addCommands, EXIT_USAGE, type Operator } from '../operator/index.ts';
import { type Config, ConfigFaults, loadConfig } from './config.ts';
import { inPlainWords, lastWords } from './last-words.ts';
import { readRelease } from './release.ts';

/**
 * The door of the program. It imports little: what only some commands need (the database, HTTP) they load themselves,
 * so that making a key does not wait for a web server to be read.
 */
const program = new Command('beckon')
  .description('Beckon, run by its operator')
  .addHelpText(
    'after',
    '\nThose who use Beckon have a command line of their own: npx @beckon/cli --help (here npm run cli -- --help)',
  )
  .version(readRelease().version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(wantsJson() ? usageAsJson(text) : text) });

// Whoever reads no further (`… | head`) has had enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
lastWords((error) => complain(inPlainWords(error)));
addCommands(program, createOperator());
await program.parseAsync().catch(endAsUsage);
// A pipe is written to bit by bit: of what nobody has read yet the end of the process would drop the rest.
await Promise.all([written(process.stdout), written(process.stderr)]);
// Whatever still holds the event loop now (a connection that does not close) gets a moment, then the process ends.
setTimeout(() => process.exit(), 100).unref();

function createOperator(): Operator {
  return {
    async open() {
      const { openForCommand } = await import('./prepare.ts');
      return openForCommand(readConfig(), { print: complain, version: readRelease().version });
    },
    async migrate() {
      const { migrateForCommand } = await import('./prepare.ts');
      return migrateForCommand(readConfig(), complain);
    },
    async distribute() {
      const { distributeForCommand } = await import('./prepare.ts');
      return distributeForCommand(readConfig(), complain);
    },
    async inspect() {
      const { inspect } = await import('./inspect.ts');
      return inspect(tryConfig(), complain);
    },
    async backups() {
      const { openBackups } = await import('./backups.ts');
      return openBackups(readConfig(), { print: complain, version: readRelease().version });
    },
    async serve({ logTo }) {
      const config = readConfig();
      const { serve } = await import('./serve.ts');
      return serve(config, { logTo, print: logTo === 'stdout' ? print : complain, release: readRelease() });
    },
    onSignal,
    print,
    complain,
    setExitCode(code) {
      process.exitCode = code;
    },
  };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // Of one that was closed by its reader, and has nothing to say, it is not asked.
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
  // A process that only works in the background has nothing that keeps Node from ending.
  const alive = setInterval(() => {}, 2 ** 30);
  return () => {
    clearInterval(alive);
    for (const signal of signals) process.off(signal, listener);
  };
}

/** Commander has said by now what was not understood; asking for help is no mistake. */
function endAsUsage(error: unknown): void {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode !== 0) process.exitCode = EXIT_USAGE;
}

function wantsJson(): boolean {
  return process.argv.includes('--json');
}

function usageAsJson(text: string): string {
  const message = text.trim().replace(/^error: /, '');
  return `${JSON.stringify({ error: { message, code: 'usage' } })}\n`;
}
