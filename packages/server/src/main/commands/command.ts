import type { Command } from 'commander';
import { EXIT_FAILED, type OpenInstallation, type Operator } from './operator.ts';
import { Fault } from '../../platform/fault.ts';

type CommandSpec<Options, Result> = {
  name: string;
  /** An imperative with an object, as in `beckon`. */
  help: string;
  /** Adds arguments and options. Their descriptions name the defaults. */
  options?: (command: Command) => Command;
  work: (options: Options, args: string[]) => Promise<Result>;
  /** The result as text; with `--json` it is printed as it is. */
  text: (result: Result) => string;
};

export const JSON_OPTION = ['--json', 'Print one JSON value and nothing else'] as const;

/** Adds a command. It prints its result to stdout. A failure goes to stderr, with exit code 1. */
export function addCommand<Options extends object, Result>(
  parent: Command,
  operator: Operator,
  { name, help, options = (command) => command, work, text }: CommandSpec<Options, Result>,
): Command {
  return options(parent.command(name).description(help))
    .option(...JSON_OPTION)
    .action(async (...received: unknown[]) => {
      const command = received.at(-1) as Command;
      // Commander gives an option that a command shares with its subcommand to the upper one.
      const options = command.optsWithGlobals<Options & { json?: boolean }>();
      try {
        const result = await work(options, command.args);
        operator.print(options.json ? JSON.stringify(result) : text(result));
      } catch (error) {
        operator.printError(describeError(error, options.json ?? false));
        operator.setExitCode(EXIT_FAILED);
      }
    });
}

/** Opens the installation for the time of this work. */
export async function withInstallation<T>(
  operator: Operator,
  work: (installation: OpenInstallation) => Promise<T>,
): Promise<T> {
  const installation = await operator.open();
  try {
    return await work(installation);
  } finally {
    await installation.close();
  }
}

export function describeError(error: unknown, json: boolean): string {
  const message = messageOf(error);
  const field = error instanceof Fault ? error.details[0]?.field : undefined;
  return json ? JSON.stringify({ error: { code: codeOf(error), message, field } }) : message;
}

export function messageOf(error: unknown): string {
  if (error instanceof Fault && error.details.length > 0)
    return error.details.map((detail) => detail.message).join('\n');
  // A refused connection to a name with several addresses is an AggregateError, whose own message is empty.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('\n');
  return error instanceof Error ? error.message : String(error);
}

/** The error's own code: one of Beckon, PostgreSQL or the system, which does not change with the message. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
}

/** Formats rows below their column names. `empty` is printed if there are no rows. */
export function table(rows: Record<string, unknown>[], empty: string): string {
  const [first] = rows;
  if (!first) return empty;
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => names.map((name) => cellText(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  // Control characters of a stored text could move the cursor of the terminal.
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/\p{Cc}/gu, '\u{FFFD}');
}
