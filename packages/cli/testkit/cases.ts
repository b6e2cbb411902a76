import { expect, test } from 'vitest';
import type { TestShell } from './shell.ts';

/** One command as a user types it, and what it prints. `shows` runs it on a terminal, `json` with `--json`. */
export type Case = {
  /** As typed, with single quotes around an argument with spaces; a function when it needs an id from an earlier case. */
  run: string | (() => string);
  shows?: RegExp;
  /** Compared by `toMatchObject`. Each element of a list must occur in the value; `[]` means an empty list. */
  json?: unknown;
  /** Reads what later cases need from the JSON value. */
  keep?: (value: never) => void;
  /** The exit code and the error message of a command that fails. */
  fails?: [code: number, message: RegExp];
  answers?: (boolean | string)[];
};

/** Runs the cases in order, one test each. */
export function testCases(shell: TestShell, cases: readonly Case[]): void {
  for (const { run, shows, json, keep, fails, answers = [] } of cases) {
    const name = typeof run === 'string' ? run : String(run).replaceAll(/^\(\) => |`/g, '');
    test(`${name}${fails ? ' fails' : ''}`, async () => {
      const typed = typeof run === 'string' ? run : run();
      const args = (typed.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
      if (fails) {
        const { code, out, err } = await shell.run(args);
        expect([code, out, err]).toEqual([fails[0], '', expect.stringMatching(fails[1])]);
        return;
      }
      if (shows) {
        const { code, out, err } = await shell.run(args, { terminal: true, answers });
        expect([code, withoutColors(out), err]).toEqual([0, expect.stringMatching(shows), expect.anything()]);
      }
      if (json === undefined && keep === undefined) return;
      const value = await shell.json(args);
      if (json !== undefined) expect(value).toEqual(matching(json));
      keep?.(value as never);
    });
  }
}

function matching(json: unknown): unknown {
  if (Array.isArray(json)) return json.length === 0 ? [] : expect.arrayContaining(json.map(matching));
  const isPlain =
    typeof json === 'object' && json !== null && Object.getPrototypeOf(json) === Object.prototype;
  if (!isPlain) return json;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(json).map(([name, value]) => [name, matching(value)])),
  );
}

function withoutColors(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001B\[\d+m/g, '');
}
