import { describe, expect, test } from 'vitest';
import { Option as ParserOption } from 'commander';
import { ALL_COMMANDS } from '../../testkit/all-commands.ts';
import { testShell } from '../../testkit/shell.ts';

const GLOBAL = ['--url', '--project', '--profile', '--key-file', '--json', '--quiet', '--color', '--version'];
const shell = testShell();

describe.each(ALL_COMMANDS)('$name', ({ command }) => {
  test('has a help text that is an imperative with an object', () => {
    expect(command.help).toMatch(/^[A-Z][a-z]+ (?!by |for |when )\S+/);
    // An imperative has no -s, -ed or -ing: "List keys", not "Lists keys" or "Listing keys".
    expect(command.help.split(' ')[0]).not.toMatch(/(?:[^s]s|ed|ing)$/);
  });

  test('describes its arguments and options', () => {
    expect(Object.entries(command.args).filter(([, about]) => about === '')).toEqual([]);
    for (const { flags, help } of Object.values(command.options)) {
      expect(help, flags).toMatch(/^[A-Z]/);
      expect(GLOBAL, flags).not.toContain(new ParserOption(flags).long);
    }
  });
});

describe('global options', () => {
  test('are accepted by commands, and shown in their help', async () => {
    const { code, out } = await shell.run(['drafts', 'list', '--json', '--help']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^Usage: beckon drafts list[^]*--json/)]);
  });
});
