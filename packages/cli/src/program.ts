import { Command as Parser, CommanderError } from 'commander';
import { completion } from './commands/completion.ts';
import { NOUNS, TOP_LEVEL } from './commands/index.ts';
import { EXIT, Failure, usage } from './failure.ts';
import { addCommand, addNoun } from './framework/program.ts';
import { createOutput } from './output/output.ts';
import type { Shell } from './shell.ts';

const AFTER_HELP = `
On the server's own machine no login is needed: commands use the socket in DATA_DIR. Elsewhere, run beckon login first.
Secrets are never arguments. Use BECKON_API_KEY, BECKON_TOKEN, --key-file, or a profile saved by beckon login.
Environment variables: BECKON_URL, BECKON_PROJECT, BECKON_TOKEN, BECKON_API_KEY, DATA_DIR, NO_COLOR.
Exit codes: 0 success, 1 failed, 2 invalid command or input, 3 not authorized, 4 some records rejected or drafts unchanged, 130 interrupted.

To run a server, use beckon-server.`;

/** Builds the program from the declared commands. */
export function createProgram(shell: Shell): Parser {
  const program = new Parser('beckon')
    .description('Beckon from your shell: projects, users, rules, drafts, emails and webhooks')
    .version(shell.version, '-V, --version', 'Print the version')
    .option('--url <url>', 'Address of the server (default: BECKON_URL, or the profile)')
    .option('--project <project>', 'Project ID or name; not needed if only one is visible')
    .option('--profile <name>', 'Profile saved by beckon login')
    .option('--key-file <file>', 'File that holds the API key; - reads stdin')
    .option('--json', 'Print one JSON value, or one line of JSON for each value of a stream')
    .option('-q, --quiet', 'Print only the result')
    .option('--no-color', 'Print without colors')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  // Before the commands: a command copies the settings of its parent when it is created.
  program.configureOutput({
    writeOut: (text) => void shell.stdout.write(text),
    writeErr: (text) => void shell.stderr.write(text),
    // `runProgram` prints the error, which may have to be JSON.
    outputError: () => {},
    getOutHelpWidth: () => shell.stdout.columns(),
    getErrHelpWidth: () => shell.stderr.columns(),
  });
  for (const command of TOP_LEVEL) addCommand(program, command, shell);
  addCommand(program, completion(program), shell);
  for (const noun of NOUNS) addNoun(program, noun, shell);
  return program;
}

/** Parses the arguments and runs the command. Sets the exit code and throws nothing. */
export async function runProgram(shell: Shell, args: readonly string[]): Promise<void> {
  const program = createProgram(shell);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof Failure) return reject(shell, args, error);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return shell.setExitCode(EXIT.ok);
    // A noun without a verb has shown its help.
    if (error.code === 'commander.help') return shell.setExitCode(EXIT.usage);
    await reject(shell, args, usage(error.message.replace(/^error: /, '')));
  }
}

/** Reports an error that was found before the options were parsed. */
async function reject(shell: Shell, args: readonly string[], failure: Failure): Promise<void> {
  const output = createOutput(shell, { json: args.includes('--json'), color: !args.includes('--no-color') });
  await output.fail(failure);
  shell.setExitCode(failure.exit);
}
