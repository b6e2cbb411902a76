import { Command, CommanderError } from 'commander';
import { COMMANDS } from './commands/index.ts';
import { EXIT, Failure, usage } from './failure.ts';
import { createOutput } from './output/output.ts';
import type { Shell } from './shell.ts';

const AFTER_HELP = `
Secrets are never arguments: BECKON_API_KEY, BECKON_TOKEN, --key-file or the profile that beckon login keeps.
Also read: BECKON_URL, BECKON_PROJECT, NO_COLOR.
Ends with 0 where all went well, 1 where it failed, 2 where the command or what it says is not valid, 3 where the key or the
token does not open this, 4 where some records were rejected.

This is the command line for those who use Beckon. Who runs a Beckon server has commands of its own beside the server:
npm run beckon -- --help, or beckon-server --help in the image.`;

/** The program as it is typed: one command a file, the same options for all. */
export function createProgram(shell: Shell): Command {
  const program = new Command('beckon')
    .description('Beckon from your shell: send users and events, look at drafts, listen to webhooks')
    .version(shell.version, '-V, --version', 'print the version')
    .option('--url <url>', 'where Beckon is; BECKON_URL, else the profile, else http://localhost:8080')
    .option('--project <project>', 'its id or its name; not needed where the token opens one only')
    .option('--profile <name>', 'the profile to use, of those that login made')
    .option('--key-file <file>', 'a file that holds the API key; - reads it from stdin')
    .option('--json', 'print JSON: one value, or a line for each of a stream')
    .option('-q, --quiet', 'say nothing but the answer')
    .option('--no-color', 'no colours')
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const unfinished = { text: '' };
  program.configureOutput({
    writeOut: (text) => void shell.stdout.write(text),
    writeErr: (text) => void shell.stderr.write(text),
    outputError: (text) => void (unfinished.text = text),
    getOutHelpWidth: () => shell.stdout.columns(),
    getErrHelpWidth: () => shell.stderr.columns(),
  });
  for (const make of COMMANDS) make(program, shell);
  inherit(program);
  faults.set(program, unfinished);
  return program;
}

/** Reads the arguments and does what they say; the exit code is set at the end, and nothing is thrown. */
export async function runProgram(shell: Shell, args: readonly string[]): Promise<void> {
  const program = createProgram(shell);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof Failure) return refuse(shell, args, error);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return shell.setExitCode(EXIT.ok);
    // A group of commands without one has shown its help by now.
    if (error.code === 'commander.help') return shell.setExitCode(EXIT.usage);
    const said = faults.get(program)?.text ?? error.message;
    await refuse(shell, args, usage(said.trim().replace(/^error: /, '')));
  }
}

/** What is found before a command begins, and so before its options are read. */
async function refuse(shell: Shell, args: readonly string[], failure: Failure): Promise<void> {
  const output = createOutput(shell, { json: args.includes('--json'), color: !args.includes('--no-color') });
  await output.fail(failure);
  shell.setExitCode(failure.exit);
}

const faults = new WeakMap<Command, { text: string }>();

/** What holds for the program holds for commands that were made elsewhere. */
function inherit(command: Command): void {
  for (const one of command.commands) {
    one.copyInheritedSettings(command);
    inherit(one);
  }
}
