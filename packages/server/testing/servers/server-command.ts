import { Command, CommanderError } from 'commander';
import { expect } from 'vitest';
import { addCommands } from '../../src/main/commands/commands.ts';
import type { OpenInstallation, Operator } from '../../src/main/commands/operator.ts';
import { testMail } from '../factories/send-services.ts';

/** `json`: the output, if it is JSON. */
export type Ran = { out: string; err: string; code: number; json: unknown };

const notUsed = (): never => {
  throw new Error('not used in this test');
};

/** Runs a command of `beckon-server` on this database. The command must close everything that it opens. */
export async function serverCommand(
  overrides: Partial<OpenInstallation>,
  args: string[],
  changed: Partial<Operator> = {},
): Promise<Ran> {
  const ran = { out: '', err: '', code: 0 };
  let open = 0;
  const operator: Operator = {
    async open() {
      open += 1;
      return { ...testInstallation(), ...overrides, close: async () => void (open -= 1) };
    },
    migrate: notUsed,
    distribute: notUsed,
    inspect: notUsed,
    backups: notUsed,
    serve: notUsed,
    onSignal: notUsed,
    print: (text) => void (ran.out += `${text}\n`),
    printError: (text) => void (ran.err += `${text}\n`),
    setExitCode: (code) => void (ran.code = code),
    ...changed,
  };
  const program = new Command('beckon-server')
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} });
  addCommands(program, operator);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    ran.code = 2;
  }
  expect(open).toBe(0);
  const isJson = ran.out.startsWith('{') || ran.out.startsWith('[');
  return { ...ran, json: isJson ? JSON.parse(ran.out) : undefined };
}

function testInstallation(): Omit<OpenInstallation, 'close'> {
  return {
    ...testMail(),
    db: undefined as unknown as OpenInstallation['db'],
    pepper: { current: Buffer.alloc(32, 1), previous: null },
    teamSecrets: ['a secret of this test alone'],
    installed: { release: { version: '0.0.0', node: 'v26.0.0' }, has_model: false },
    openScratch: () => Promise.reject(new Error('not used in this test')),
  };
}
