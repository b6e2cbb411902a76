import type { Command } from 'commander';
import { Beckon, type BeckonOptions } from '@beckon/client';
import { createDashboard, type Dashboard } from './api/dashboard.ts';
import { findProject, type Project } from './api/project.ts';
import { toFailure } from './api/refusal.ts';
import { EXIT, type ExitCode } from './failure.ts';
import { createOutput, type Output, type OutputOptions } from './output/output.ts';
import { type Connection, type ConnectionOptions, openConnection } from './profiles/connection.ts';
import type { Shell } from './shell.ts';

export type ClientOptions = Pick<BeckonOptions, 'retry' | 'timeoutMs'>;

/** Somebody sits and waits. */
const IMPATIENT = { attempts: 3, totalMs: 20_000 };

export type GlobalOptions = OutputOptions & ConnectionOptions;

/** What a command works with. Nothing is asked, read or opened before it is needed. */
export type Running<Options extends object> = {
  shell: Shell;
  output: Output;
  options: GlobalOptions & Options;
  /** Ends with Ctrl-C. */
  signal: AbortSignal;
  connection: () => Promise<Connection>;
  /** To write with, by API key. */
  client: (options?: ClientOptions) => Promise<Beckon>;
  /** To read and decide with, by personal token. */
  dashboard: () => Promise<Dashboard>;
  inProject: () => Promise<{ dashboard: Dashboard; project: Project }>;
};

/** An exit code where it is not 0 although nothing failed. */
type Work<Options extends object> = (
  running: Running<Options>,
  ...args: string[]
) => Promise<ExitCode | void>;

export type RunOptions = { endsByInterrupt?: boolean };

/**
 * Makes the action of a command. What it throws is told in one place and decides the exit code. Ctrl-C ends it without a word;
 * where that is the only end that there is, it is a good one.
 */
export function action<Options extends object = object>(
  shell: Shell,
  work: Work<Options>,
  { endsByInterrupt = false }: RunOptions = {},
): (...given: unknown[]) => Promise<void> {
  return (...given) => {
    const args = given.slice(0, -2).flat() as string[];
    const command = given.at(-1) as Command;
    return perform<Options>(shell, command, { work: (running) => work(running, ...args), endsByInterrupt });
  };
}

type Performed<Options extends object> = RunOptions & {
  work: (running: Running<Options>) => Promise<ExitCode | void>;
};

export async function perform<Options extends object = object>(
  shell: Shell,
  command: Command,
  { work, endsByInterrupt = false }: Performed<Options>,
): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions & Options>();
  const output = createOutput(shell, options);
  const interrupted = new AbortController();
  const letGo = shell.onInterrupt(() => interrupted.abort());
  const { signal } = interrupted;
  // Whoever reads no further ends the process in the middle of it.
  shell.setExitCode(endsByInterrupt ? EXIT.ok : EXIT.failed);
  try {
    const exit = await work(createRunning({ shell, output, options, signal }));
    shell.setExitCode(signal.aborted && !endsByInterrupt ? EXIT.interrupted : (exit ?? EXIT.ok));
  } catch (error) {
    const failure = toFailure(error, signal);
    if (failure) await output.fail(failure);
    shell.setExitCode(failure?.exit ?? (endsByInterrupt ? EXIT.ok : EXIT.interrupted));
  } finally {
    await output.progress('');
    letGo();
  }
}

type Base<Options extends object> = Pick<Running<Options>, 'shell' | 'output' | 'options' | 'signal'>;

function createRunning<Options extends object>(base: Base<Options>): Running<Options> {
  const { shell, signal, options } = base;
  let opened: Promise<Connection> | null = null;
  const connection = (): Promise<Connection> => (opened ??= openConnection(base, options));

  async function dashboard(): Promise<Dashboard> {
    const { url, token } = await connection();
    return createDashboard({ url, token: token(), version: shell.version, signal });
  }
  return {
    ...base,
    connection,
    dashboard,
    async client(options = {}) {
      const { url, apiKey } = await connection();
      const userAgent = `beckon-cli/${shell.version}`;
      return new Beckon({ url, apiKey: await apiKey(), userAgent, retry: IMPATIENT, ...options });
    },
    async inProject() {
      const asked = await dashboard();
      return { dashboard: asked, project: await findProject(asked, (await connection()).project) };
    },
  };
}
