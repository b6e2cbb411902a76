import { Command } from 'commander';
import { createProgram } from '../../packages/cli/src/program.ts';
import { TOOLS } from '../../packages/cli/src/mcp/tools.ts';
import type { Shell } from '../../packages/cli/src/shell.ts';
import { addCommands } from '../../packages/server/src/main/commands/commands.ts';
import type { Operator } from '../../packages/server/src/main/commands/operator.ts';
import { tableOf } from './table.ts';

/** The command tables of both programs. */
export function serverCommands(): string {
  return asTable(serverProgram());
}

export function commandLineCommands(): string {
  return asTable(commandLine());
}

export function assistantTools(): string {
  const rows = TOOLS.map(({ name, command, scope }) => [`\`${name}\``, command.help, `\`${scope}\``]);
  return tableOf(['Tool', 'Description', 'Scope'], rows);
}

/** `beckon-server` without an installation: an action that opens one throws. */
export function serverProgram(): ProgramLike {
  const program = new Command('beckon-server').exitOverride().configureOutput({ outputError: () => {} });
  addCommands(program, NO_OPERATOR);
  return program;
}

/** `beckon` without a shell: an action that uses one throws. */
export function commandLine(): ProgramLike {
  return createProgram(NO_SHELL);
}

/** Two versions of the same library make the two programs. */
export type ProgramLike = {
  parseAsync(args: string[], options: { from: 'user' }): Promise<unknown>;
  name(): string;
  description(): string;
  readonly commands: readonly ProgramLike[];
  readonly options: readonly OptionLike[];
  readonly registeredArguments: readonly ArgumentLike[];
};
type OptionLike = { flags: string; long?: string | undefined; mandatory: boolean; hidden: boolean };
type ArgumentLike = { name(): string; required: boolean; variadic: boolean };

type Leaf = { path: string[]; command: ProgramLike };

/** Returns each command with an action, and the words before it. Only such a command has options. */
function leavesOf(program: ProgramLike, before: string[] = []): Leaf[] {
  return program.commands
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => {
      const path = [...before, command.name()];
      const self = command.commands.length === 0 || command.options.length > 0 ? [{ path, command }] : [];
      return [...self, ...leavesOf(command, path)];
    });
}

/** Lists commands without a noun first, with their subcommands, then a section for each noun. */
function asTable(program: ProgramLike): string {
  const groups = Map.groupBy(leavesOf(program), ({ path }) => path[0] ?? '');
  const alone = [...groups.values()].filter(([leaf]) => leaf?.path.length === 1).flat();
  const sections = [...groups]
    .filter(([, [leaf]]) => leaf?.path.length !== 1)
    .map(([name, leaves]) => `### ${name}\n\n${rowsOf(leaves)}`);
  return [rowsOf(alone), ...sections].join('\n\n');
}

function rowsOf(leaves: Leaf[]): string {
  const rows = leaves.map(({ path, command }) => [
    `\`${[...path, ...argumentsOf(command), ...neededOf(command)].join(' ')}\``,
    command.description(),
    othersOf(command),
  ]);
  return tableOf(['Command', 'Description', 'Options'], rows);
}

function argumentsOf(command: ProgramLike): string[] {
  return command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
}

function neededOf(command: ProgramLike): string[] {
  return command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
}

/** `--json` is described once for all commands. */
function othersOf(command: ProgramLike): string {
  return command.options
    .filter(({ mandatory, hidden, long }) => !mandatory && !hidden && long !== '--json')
    .map(({ flags }) => `\`${flags}\``)
    .join(', ');
}

const refuse = (): never => {
  throw new Error('This program has no installation');
};

const NO_OPERATOR: Operator = {
  open: refuse,
  migrate: refuse,
  distribute: refuse,
  inspect: refuse,
  backups: refuse,
  serve: refuse,
  onSignal: () => refuse,
  print: () => {},
  printError: () => {},
  setExitCode: () => {},
};

const NO_SINK = { isTerminal: false, columns: () => 80, write: () => Promise.resolve() };
const NO_SHELL: Shell = {
  env: { BECKON_URL: 'http://127.0.0.1:1' },
  cwd: '/',
  home: '/',
  host: 'nowhere',
  platform: 'linux',
  version: '0.0.0',
  now: () => 0,
  wait: refuse,
  stdout: NO_SINK,
  stderr: NO_SINK,
  stdin: { isTerminal: false, chunks: refuse },
  prompts: { confirm: refuse, text: refuse, secret: refuse },
  openBrowser: refuse,
  onInterrupt: () => refuse,
  setExitCode: () => {},
};
