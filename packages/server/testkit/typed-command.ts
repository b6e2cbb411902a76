import { Command, CommanderError } from 'commander';
import { expect } from 'vitest';
import { addCommands } from '../src/operator/index.ts';
import type { Opened, Operator } from '../src/operator/operator.ts';
import { testMail } from './mailroom.ts';

/** `json`: of what was printed, where that is JSON. */
export type Ran = { out: string; err: string; code: number; json: unknown };

const never = (): never => {
  throw new Error('not in this test');
};

/** A command as it is typed, on this database; whatever it opens it has to give back. */
export async function typed(
  given: Pick<Opened, 'db'> & Partial<Opened>,
  args: string[],
  onSignal: Operator['onSignal'] = () => () => {},
): Promise<Ran> {
  const ran = { out: '', err: '', code: 0 };
  let open = 0;
  const operator: Operator = {
    async open() {
      open += 1;
      const close = async (): Promise<void> => void (open -= 1);
      return { ...testMail(), pepper: { current: Buffer.alloc(32, 1), previous: null }, ...given, close };
    },
    migrate: never,
    distribute: never,
    inspect: never,
    backups: never,
    serve: never,
    onSignal,
    print: (text) => (ran.out += `${text}\n`),
    complain: (text) => (ran.err += `${text}\n`),
    setExitCode: (code) => (ran.code = code),
  };
  const program = new Command('beckon')
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} });
  addCommands(program, operator);
  try {
    await program.parseAsync(['node', 'beckon', ...args]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    ran.code = 2;
  }
  expect(open).toBe(0);
  const isJson = ran.out.startsWith('{') || ran.out.startsWith('[');
  return { ...ran, json: isJson ? JSON.parse(ran.out) : undefined };
}
