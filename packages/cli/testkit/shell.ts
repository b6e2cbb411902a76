import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { runProgram } from '../src/program.ts';
import type { Shell, Sink } from '../src/shell.ts';

export type Result = {
  code: number | null;
  out: string;
  err: string;
  /** The lines of stdout, if each is JSON. With `--json` there is one; streams print more. */
  lines: unknown[];
  /** The bytes of stdout. */
  bytes: Buffer;
};

export type RunOptions = {
  /** All three streams are terminals; pipes otherwise. */
  terminal?: boolean;
  stdin?: string;
  env?: Record<string, string>;
  /** The answers of the user, in the order of the questions. */
  answers?: (string | boolean | null)[];
  now?: number;
  /** Called instead of waiting. */
  wait?: (ms: number) => Promise<void>;
};

/** A running command: its output can be waited for, and it can be interrupted. */
export type RunningCommand = {
  /** Resolves with the output so far, once it contains this. */
  waitFor: (text: string | RegExp) => Promise<string>;
  interrupt: () => void;
  ended: Promise<Result>;
};

export type TestShell = {
  /** Working directory and home folder. */
  folder: string;
  /** URLs opened in the browser, and questions asked. */
  opened: string[];
  questions: string[];
  /** The environment of every command. */
  env: Record<string, string>;
  run: (args: string[], options?: RunOptions) => Promise<Result>;
  /** Runs with `--json` and returns the value; fails the test if the command fails. */
  json: (args: string[], options?: RunOptions) => Promise<unknown>;
  start: (args: string[], options?: RunOptions) => RunningCommand;
};

/** The program without a process around it. */
export function testShell(env: Record<string, string> = {}): TestShell {
  const folder = mkdtempSync(join(tmpdir(), 'beckon-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const opened: string[] = [];
  const questions: string[] = [];

  function start(args: string[], options: RunOptions = {}): RunningCommand {
    const text = { out: '', err: '' };
    const written: Uint8Array[] = [];
    const interrupts = new Set<() => void>();
    const onText = new Set<() => void>();
    const answers = [...(options.answers ?? [])];
    let code: number | null = null;
    const sink = (name: 'out' | 'err'): Sink => ({
      isTerminal: options.terminal ?? false,
      columns: () => 160,
      write: async (more) => {
        if (name === 'out') written.push(Buffer.from(more));
        text[name] += typeof more === 'string' ? more : Buffer.from(more).toString();
        for (const listener of onText) listener();
      },
    });
    const answer = async (question: string): Promise<never> => {
      questions.push(question);
      return (answers.shift() ?? null) as never;
    };
    const shell: Shell = {
      env: { ...env, ...options.env },
      cwd: folder,
      home: folder,
      host: 'laptop',
      platform: 'linux',
      version: '0.1.0',
      now: () => options.now ?? Date.now(),
      wait: (ms, signal) => options.wait?.(ms) ?? setTimeout(ms, undefined, { signal }),
      stdout: sink('out'),
      stderr: sink('err'),
      stdin: {
        isTerminal: (options.terminal ?? false) && options.stdin === undefined,
        async *chunks() {
          yield Buffer.from(options.stdin ?? '');
        },
      },
      prompts: { confirm: answer, text: answer, secret: answer },
      openBrowser: async (url) => opened.push(url) > 0,
      onInterrupt(listener) {
        interrupts.add(listener);
        return () => void interrupts.delete(listener);
      },
      setExitCode: (set) => void (code = set),
    };
    const ended = runProgram(shell, args).then(() => ({
      code,
      ...text,
      lines: jsonLines(text.out),
      bytes: Buffer.concat(written),
    }));
    return {
      waitFor(expected) {
        return new Promise((resolve, reject) => {
          const look = (): void => {
            const all = text.out + text.err;
            const isThere = typeof expected === 'string' ? all.includes(expected) : expected.test(all);
            if (isThere) resolve(all);
          };
          onText.add(look);
          ended.then(
            ({ out, err }) => reject(new Error(`ended without ${String(expected)}: ${out}${err}`)),
            reject,
          );
          look();
        });
      },
      interrupt() {
        for (const listener of interrupts) listener();
      },
      ended,
    };
  }
  const run: TestShell['run'] = (args, options) => start(args, options).ended;
  return {
    folder,
    opened,
    questions,
    env,
    start,
    run,
    async json(args, options) {
      const { code, out, err } = await run([...args, '--json'], options);
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`);
      return JSON.parse(out) as unknown;
    },
  };
}

function jsonLines(text: string): unknown[] {
  try {
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line));
  } catch {
    return [];
  }
}
