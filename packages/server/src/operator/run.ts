import { Fault } from '../base/fault.ts';
import { EXIT_FAILED, type Opened, type Operator } from './operator.ts';

export type OutputOptions = { json?: boolean };
export type Output<T> = { work: () => Promise<T>; show: (value: T) => string };

export const PROJECT_OPTION = ['--project <project>', 'its id or, where only one has it, its name'] as const;
export const ORGANISATION_OPTION = [
  '--org <organisation>',
  'its name or id; the first one where it is left out',
] as const;
export const JSON_OPTION = ['--json', 'print one JSON value and nothing else'] as const;

/** One command: its value on stdout, as JSON or for people; or what went wrong on stderr, and the exit code 1. */
export async function run<T>(operator: Operator, options: OutputOptions, output: Output<T>): Promise<void> {
  try {
    const value = await output.work();
    operator.print(options.json ? JSON.stringify(value) : output.show(value));
  } catch (error) {
    operator.complain(describeError(error, options.json ?? false));
    operator.setExitCode(EXIT_FAILED);
  }
}

/** The same, with the installation open as long as the work lasts. */
export function runOpened<T>(
  operator: Operator,
  options: OutputOptions,
  output: { work: (opened: Opened) => Promise<T>; show: (value: T) => string },
): Promise<void> {
  async function work(): Promise<T> {
    const opened = await operator.open();
    try {
      return await output.work(opened);
    } finally {
      await opened.close();
    }
  }
  return run(operator, options, { work, show: output.show });
}

export function describeError(error: unknown, json: boolean): string {
  const message = messageOf(error);
  return json ? JSON.stringify({ error: { message, code: codeOf(error) } }) : message;
}

export function messageOf(error: unknown): string {
  if (error instanceof Fault && error.details.length > 0)
    return error.details.map((detail) => detail.message).join('\n');
  // A refused connection to a name of several addresses is an AggregateError, whose own message is empty.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('\n');
  return error instanceof Error ? error.message : String(error);
}

/** Ours, PostgreSQL's or the system's: whatever gave the error a name that does not change with its wording. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
