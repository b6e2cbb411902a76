import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { serverCommand } from '../../../testing/servers/server-command.ts';
import { addCommands } from './commands.ts';
import type { Operator } from './operator.ts';

const program = new Command('beckon-server');
addCommands(program, {} as Operator);
const commands = (parent: Command): Command[] =>
  parent.commands.flatMap((command) => [command, ...commands(command)]);

describe.each(commands(program).map((command) => ({ name: command.name(), command })))(
  '$name',
  ({ command }) => {
    test('has a help text that is an imperative with an object', () => {
      expect(command.description()).toMatch(/^[A-Z][a-z-]+ \S+/);
      expect(command.description().split(' ', 1)[0]).not.toMatch(/(?:[^s]s|ed|ing)$/);
    });

    test('describes its arguments and options, with the defaults in the text', () => {
      for (const { description, defaultValue } of [...command.registeredArguments, ...command.options])
        expect([description, defaultValue]).toEqual([expect.stringMatching(/^[A-Z]/), undefined]);
    });
  },
);

describe('describeError', () => {
  test('names the code, the message and the field with --json', async () => {
    const { code, err } = await serverCommand({}, ['reset-access', 'no address', '--json']);
    const error = { code: 'validation_failed', message: expect.any(String) as string, field: 'email' };
    expect([code, JSON.parse(err)]).toEqual([1, { error }]);
  });

  test('uses the code "failed" for an error without one', async () => {
    const { err } = await serverCommand({}, ['restore', '--json']);
    expect(JSON.parse(err)).toEqual({
      error: { code: 'failed', message: 'No backup. Pass --from <folder>.' },
    });
  });
});
