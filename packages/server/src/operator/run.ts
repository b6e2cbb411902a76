import { Fault } from '../base/fault.ts';
import { findProject } from '../features/projects/index.ts';
import { inTimeOf } from '../flows/project-time.ts';
import { EXIT_FAILED, type Opened, type Operator } from './operator.ts';

export type OutputOptions = { json?: boolean };
export type Output<T> = { work: () => Promise<T>; show: (value: T) => string };

export const PROJECT_OPTION = ['--project <project>', 'its id or, where only one has it, its name'] as const;
export const ORGANIZATION_OPTION = [
  '--org <organization>',
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

type OpenedOutput<T> = { work: (opened: Opened) => Promise<T>; show: (value: T) => string };

/** The same, with the installation open as long as the work lasts, and in the time of the project that the options name. */
export function runOpened<T>(
  operator: Operator,
  options: OutputOptions & OfProject,
  { work, show }: OpenedOutput<T>,
): Promise<void> {
  const inTime = async (opened: Opened): Promise<T> => work(await inProjectTime(opened, options));
  return runInRealTime(operator, options, { work: inTime, show });
}

/** Of keys, limits, queues, domains and endpoints, which know no other time. */
export function runInRealTime<T>(
  operator: Operator,
  options: OutputOptions,
  output: OpenedOutput<T>,
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

type OfProject = { project?: string };

/** What is done in a sandbox is done by the clock of that. */
export async function inProjectTime(opened: Opened, { project }: OfProject): Promise<Opened> {
  return project === undefined ? opened : inTimeOf(opened, (await findProject(opened.db, project)).id);
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
