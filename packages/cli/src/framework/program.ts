import { Command as Parser, Argument as ParserArgument, Option as ParserOption } from 'commander';
import { toFailure } from '../api/refusal.ts';
import { EXIT } from '../failure.ts';
import { createOutput } from '../output/output.ts';
import type { Shell } from '../shell.ts';
import { createContext, type GlobalOptions } from './context.ts';
import type { Command, Noun } from './declare.ts';
import type { Options } from './options.ts';

/** Adds the commands of a noun to the program. */
export function addNoun(program: Parser, noun: Noun, shell: Shell): void {
  const parent = program.command(noun.name).description(noun.help);
  for (const command of noun.commands) addCommand(parent, command, shell);
}

export function addCommand(parent: Parser, command: Command, shell: Shell): Parser {
  const [name = '', ...words] = command.usage.split(' ');
  const parser = parent.command(name).description(command.help);
  for (const word of words) {
    const about = command.args[/\w+/.exec(word)?.[0] ?? ''] ?? '';
    parser.addArgument(new ParserArgument(word, about));
    // A filter term that excludes begins with a minus, and would be taken for an option.
    if (word === '[filter...]') parser.allowUnknownOption();
  }
  for (const option of Object.values(command.options)) parser.addOption(parserOption(option));
  if (command.details !== undefined) parser.addHelpText('after', `\n${command.details}`);
  return parser.action((...positional: unknown[]) => perform(shell, { command, parser, positional }));
}

function parserOption({ flags, help, isRequired, choices, isMany }: Options[string]): ParserOption {
  const option = new ParserOption(flags, help);
  if (choices) option.choices(choices);
  if (isRequired) option.makeOptionMandatory();
  if (isMany) option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

type Invocation = { command: Command; parser: Parser; positional: unknown[] };

/** Runs a command. Every error ends here and decides the exit code; Ctrl-C ends a command without a message. */
async function perform(shell: Shell, { command, parser, positional }: Invocation): Promise<void> {
  const options = parser.optsWithGlobals<GlobalOptions>();
  const output = createOutput(shell, options);
  const interrupted = new AbortController();
  const removeListener = shell.onInterrupt(() => interrupted.abort());
  const { signal } = interrupted;
  const ifInterrupted = command.isStream ? EXIT.ok : EXIT.interrupted;
  // A reader that closes the pipe ends the process in the middle of the command.
  shell.setExitCode(command.isStream ? EXIT.ok : EXIT.failed);
  try {
    const input = await readInput(shell, { command, parser, positional });
    const exit = await command.run(createContext({ shell, output, options, signal }), input as never);
    shell.setExitCode(signal.aborted ? ifInterrupted : (exit ?? EXIT.ok));
  } catch (error) {
    const failure = toFailure(error, signal);
    if (failure) await output.fail(failure);
    shell.setExitCode(failure?.exit ?? ifInterrupted);
  } finally {
    await output.progress('');
    removeListener();
  }
}

async function readInput(shell: Shell, { command, parser, positional }: Invocation): Promise<object> {
  const args = Object.keys(command.args).map((name, at): [string, unknown] => [name, positional[at]]);
  const values = parser.opts<Record<string, unknown>>();
  const options: [string, unknown][] = [];
  for (const [name, { flags, read }] of Object.entries(command.options)) {
    const raw = values[new ParserOption(flags).attributeName()];
    options.push([name, await read(raw as never, { shell, flags })]);
  }
  return Object.fromEntries([...args, ...options].filter(([, value]) => value !== undefined));
}
