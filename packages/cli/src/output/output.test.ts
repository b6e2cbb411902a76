import { expect, test } from 'vitest';
import { createOutput } from './output.ts';
import { printable, printableLines, toJson } from './printable.ts';
import { table } from './table.ts';

const HOSTILE = 'a\u001B[2Jb\u0007c\u202Ed\u2028e\u009Bf';

test('what people wrote cannot move a terminal, nor end a line of JSON', () => {
  // oxlint-disable-next-line no-control-regex
  const moving = /[\u0000-\u001F\u007F-\u009F\u2028\u202E]/;
  expect(printable(HOSTILE)).toBe('a\uFFFD[2Jb\uFFFDc\uFFFDd\uFFFDe\uFFFDf');
  expect(printableLines('one\r\ntwo\u001B[31m')).toBe('one\ntwo\uFFFD[31m');
  expect(table([{ name: HOSTILE, n: 1 }], 80).join('')).not.toMatch(moving);
  const json = toJson({ [HOSTILE]: HOSTILE, surrogate: '😀' });
  expect(json).not.toMatch(moving);
  expect(JSON.parse(json)).toEqual({ [HOSTILE]: HOSTILE, surrogate: '😀' });
});

test('a table fits the terminal: the widest column gives way, down to what can be read', () => {
  const rows = [
    { id: '1', subject: 'x'.repeat(200), state: null },
    { id: '22', subject: 'é'.normalize('NFD'), state: 'held' },
  ];
  const lines = table(rows, 40);
  expect(lines[0]?.startsWith('id  subject')).toBe(true);
  expect(lines.every((line) => line.normalize('NFC').length <= 40)).toBe(true);
  expect(lines[1]).toMatch(/^1 {3}x+… {2}-$/);
  expect(table(rows, 10)[1]).toContain('xxxxxxxxxxx…');
  expect(table([], 80)).toEqual(['']);
});

type Given = { stdout?: boolean; stderr?: boolean; env?: Record<string, string> };

function output({ stdout = false, stderr = false, env = {} }: Given, options = {}) {
  const said = { out: '', err: '' };
  const sink = (name: 'out' | 'err', isTerminal: boolean) => ({
    isTerminal,
    columns: () => 80,
    write: async (text: string) => void (said[name] += text),
  });
  const shell = { stdout: sink('out', stdout), stderr: sink('err', stderr), env };
  return { said, output: createOutput(shell, options) };
}

const ROWS = [{ n: 1 }, { n: 2 }];
const SHOWN = { row: (row: { n: number }) => row, none: 'Nothing.' };

test('a list is a table for people, lines for a pipe, and one value with --json', async () => {
  const people = output({ stdout: true, env: { NO_COLOR: '1' } });
  await people.output.many(ROWS, SHOWN);
  await people.output.many([], SHOWN);
  expect(people.said.out).toBe('n\n1\n2\nNothing.\n');
  const pipe = output({});
  await pipe.output.many(ROWS, SHOWN);
  expect(pipe.said.out).toBe('{"n":1}\n{"n":2}\n');
  const json = output({ stdout: true }, { json: true });
  await json.output.many(ROWS, SHOWN);
  expect(json.said.out).toBe('[{"n":1},{"n":2}]\n');
});

test('colours are for terminals, and not for those who do not want them', async () => {
  const painted = async (given: Given, options = {}): Promise<boolean> => {
    const one = output(given, options);
    await one.output.many(ROWS, SHOWN);
    return one.said.out.includes('\u001B');
  };
  expect(await painted({ stdout: true })).toBe(true);
  expect(await painted({ stdout: true, env: { NO_COLOR: '' } })).toBe(true);
  expect(await painted({ stdout: true, env: { NO_COLOR: '1' } })).toBe(false);
  expect(await painted({ stdout: true }, { color: false })).toBe(false);
  expect(await painted({ stdout: true }, { json: true })).toBe(false);
  expect(await painted({})).toBe(false);
});

test('notes and progress stand apart from answers, and are silent where nobody wants them', async () => {
  const loud = output({ stdout: true, stderr: true });
  await loud.output.progress('half');
  await loud.output.note('a note');
  expect(loud.said.out).toBe('');
  expect(loud.said.err).toBe('half\r\u001B[2Ka note\n');
  const quiet = output({ stdout: true, stderr: true }, { quiet: true });
  await quiet.output.progress('half');
  await quiet.output.note('a note');
  expect(quiet.said.err).toBe('');
  const piped = output({});
  await piped.output.progress('half');
  expect(piped.said.err).toBe('');
});
