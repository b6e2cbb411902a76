import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { runProgram } from '../src/program.ts';
import type { Shell, Sink } from '../src/shell.ts';

export type Ran = {
  code: number | null;
  out: string;
  err: string;
  /** Each line of stdout, of which each is JSON. */
  lines: unknown[];
};

export type Typed = {
  /** Where people sit; a pipe otherwise. */
  terminal?: boolean;
  stdin?: string;
  env?: Record<string, string>;
  /** What the person answers, question by question. */
  answers?: (string | boolean | null)[];
  now?: number;
  /** Instead of waiting. */
  wait?: (ms: number) => Promise<void>;
};

/** A command that goes on: what it said so far can be waited for, and it can be interrupted. */
export type Going = {
  /** Resolves once stdout or stderr has this in it. */
  said: (text: string | RegExp) => Promise<string>;
  interrupt: () => void;
  ended: Promise<Ran>;
};

export type TestShell = {
  /** A folder of its own, which is the person's home, too. */
  folder: string;
  opened: string[];
  asked: string[];
  type: (args: string[], typed?: Typed) => Promise<Ran>;
  begin: (args: string[], typed?: Typed) => Going;
};

/** The program as somebody types it, without a process around it. */
export function testShell(env: Record<string, string> = {}): TestShell {
  const folder = mkdtempSync(join(tmpdir(), 'beckon-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const opened: string[] = [];
  const asked: string[] = [];

  function begin(args: string[], typed: Typed = {}): Going {
    const said = { out: '', err: '' };
    const listeners = new Set<() => void>();
    const heard = new Set<() => void>();
    const answers = [...(typed.answers ?? [])];
    let code: number | null = null;
    const sink = (name: 'out' | 'err'): Sink => ({
      isTerminal: typed.terminal ?? false,
      columns: () => 120,
      write: async (text) => {
        said[name] += text;
        for (const hear of heard) hear();
      },
    });
    const answer = async (question: string): Promise<never> => {
      asked.push(question);
      return (answers.shift() ?? null) as never;
    };
    const shell: Shell = {
      env: { ...env, ...typed.env },
      cwd: folder,
      home: folder,
      host: 'laptop',
      platform: 'linux',
      version: '0.1.0',
      now: () => typed.now ?? Date.now(),
      wait: (ms, signal) => typed.wait?.(ms) ?? setTimeout(ms, undefined, { signal }),
      stdout: sink('out'),
      stderr: sink('err'),
      stdin: {
        isTerminal: (typed.terminal ?? false) && typed.stdin === undefined,
        async *chunks() {
          yield Buffer.from(typed.stdin ?? '');
        },
      },
      ask: { confirm: answer, text: answer, secret: answer },
      openBrowser: async (url) => opened.push(url) > 0,
      onInterrupt(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      setExitCode: (set) => void (code = set),
    };
    const ended = runProgram(shell, args).then(() => ({
      code,
      ...said,
      lines: jsonLines(said.out),
    }));
    return {
      said(text) {
        return new Promise((resolve, reject) => {
          const look = (): void => {
            const all = said.out + said.err;
            const isThere = typeof text === 'string' ? all.includes(text) : text.test(all);
            if (isThere) resolve(all);
          };
          heard.add(look);
          ended.then(
            ({ out, err }) => reject(new Error(`it ended without saying ${String(text)}: ${out}${err}`)),
            reject,
          );
          look();
        });
      },
      interrupt() {
        for (const listener of listeners) listener();
      },
      ended,
    };
  }
  return { folder, opened, asked, begin, type: (args, typed) => begin(args, typed).ended };
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
