import { describe, expect, test } from 'vitest';
import { createOutput } from './output.ts';
import { printable, printableLines, toJson } from './printable.ts';
import { table } from './table.ts';
import { rowOf, viewOf } from './auto.ts';
import { render, type View } from './view.ts';
import { wordsFor } from './words.ts';

const HOSTILE = 'a\u001B[2Jb\u0007c\u202Ed\u2028e\u009Bf';
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028\u202E]/;

type OutputSetup = { terminal?: boolean; env?: Record<string, string> };

function output({ terminal = false, env = {} }: OutputSetup, options = {}) {
  const text = { out: '', err: '' };
  const sink = (name: 'out' | 'err') => ({
    isTerminal: terminal,
    columns: () => 80,
    write: async (more: string) => void (text[name] += more),
  });
  const shell = { stdout: sink('out'), stderr: sink('err'), env, now: () => 0 };
  return { text, output: createOutput(shell, options) };
}

describe('printable', () => {
  test('replaces characters that could move the cursor or end a line', () => {
    expect(printable(HOSTILE)).toBe('a\uFFFD[2Jb\uFFFDc\uFFFDd\uFFFDe\uFFFDf');
    expect(printableLines('one\r\ntwo\u001B[31m')).toBe('one\ntwo\uFFFD[31m');
    const json = toJson({ [HOSTILE]: HOSTILE, surrogate: '😀' });
    expect(json).not.toMatch(CONTROLS);
    expect(JSON.parse(json)).toEqual({ [HOSTILE]: HOSTILE, surrogate: '😀' });
  });

  test('applies to every part of a view', async () => {
    const capture = output({ terminal: true, env: { NO_COLOR: '1' } });
    await capture.output.value(null, (): View => [
      HOSTILE,
      { label: HOSTILE },
      { rows: [{ cell: HOSTILE }] },
    ]);
    expect(capture.text.out).not.toMatch(CONTROLS);
  });
});

describe('table', () => {
  const rows = [
    { id: '1', subject: 'x'.repeat(200), state: null },
    { id: '22', subject: 'é'.normalize('NFD'), state: true },
  ];

  test('fits the terminal by shortening the widest column, but keeps it readable', () => {
    const lines = table(rows, 40);
    expect(lines[0]?.startsWith('id  subject')).toBe(true);
    expect(lines.every((line) => line.normalize('NFC').length <= 40)).toBe(true);
    expect(lines[1]).toMatch(/^1 {3}x+… {2}-$/);
    expect(table(rows, 10)[1]).toContain('xxxxxxxxxxx…');
    expect(table([], 80)).toEqual(['']);
  });

  test('is not shortened in a pipe', () => {
    expect(table(rows, Infinity)[1]).toContain('x'.repeat(200));
  });
});

describe('output', () => {
  const view = (value: { n: number }[]): View => ({ rows: value, empty: 'None.' });

  test('prints a view, or with --json one value', async () => {
    const people = output({ terminal: true, env: { NO_COLOR: '1' } });
    await people.output.value([{ n: 1 }, { n: 2 }], view);
    await people.output.value([], view);
    await people.output.value({}, () => [{ name: 'Ada', left: null, several: ['a', 'b'] }, 'Text.']);
    expect(people.text.out).toBe('n\n1\n2\nNone.\nname     Ada\nseveral  a\n         b\n\nText.\n');
    const json = output({ terminal: true }, { json: true });
    await json.output.value([{ n: 1 }, { n: 2 }], view);
    expect(json.text.out).toBe('[{"n":1},{"n":2}]\n');
  });

  test('colors only terminals, and respects NO_COLOR and --no-color', async () => {
    const isColored = async (setup: OutputSetup, options = {}): Promise<boolean> => {
      const capture = output(setup, options);
      await capture.output.value([{ n: 1 }], view);
      return capture.text.out.includes('\u001B');
    };
    expect(await isColored({ terminal: true })).toBe(true);
    expect(await isColored({ terminal: true, env: { NO_COLOR: '' } })).toBe(true);
    expect(await isColored({ terminal: true, env: { NO_COLOR: '1' } })).toBe(false);
    expect(await isColored({ terminal: true }, { color: false })).toBe(false);
    expect(await isColored({ terminal: true }, { json: true })).toBe(false);
    expect(await isColored({})).toBe(false);
  });

  test('keeps notes and progress out of stdout, and silences them with --quiet', async () => {
    const loud = output({ terminal: true });
    await loud.output.progress('half');
    await loud.output.note('a note');
    expect(loud.text).toEqual({ out: '', err: 'half\r\u001B[2Ka note\n' });
    const quiet = output({ terminal: true }, { quiet: true });
    await quiet.output.progress('half');
    await quiet.output.note('a note');
    expect(quiet.text.err).toBe('');
    const piped = output({});
    await piped.output.progress('half');
    expect(piped.text.err).toBe('');
  });
});

describe('viewOf', () => {
  const words = wordsFor({
    isTerminal: true,
    isPainted: false,
    now: () => Date.parse('2026-01-01T12:00:00Z'),
  });
  const data = {
    external_user_id: 'u1',
    hold_reason: 'quiet_hours',
    event: 'user_signed_up',
    created_at: '2026-01-01T10:00:00Z',
    is_present: true,
    rule: { id: '1', name: 'welcome' },
    tags: ['a', 'b'],
    runs: { active: 1, ended: { goal: 2 } },
    text: 'one\ntwo',
    history: [{ at: null, state: 'sent', body: 'x\ny' }],
    none: [],
  };

  test('shows fields by their type, nested objects as lines, and lists of objects as tables', () => {
    const lines = render(viewOf(data), { columns: 80, words }).split('\n');
    expect(lines).toEqual([
      'user         u1',
      'hold reason  quiet hours',
      'event        user_signed_up',
      'created      2 hours ago',
      'current      yes',
      'rule         welcome',
      'tags         a, b',
      '',
      'Runs  active: 1',
      '      ended: goal 2',
      '',
      'one',
      'two',
      '',
      'History',
      'time  state',
      '-     sent',
    ]);
  });

  test('shows the named fields in their order', () => {
    expect(render(viewOf(data, ['tags', 'rule']), { columns: 80, words })).toBe('tags  a, b\nrule  welcome');
    expect(rowOf(data, ['tags', ['own', ({ event }) => event]], words)).toEqual({
      tags: 'a, b',
      own: 'user_signed_up',
    });
  });
});

describe('when', () => {
  const now = new Date(2026, 10, 24, 9, 15).getTime();
  const after = (ms: number): string => new Date(now + ms).toISOString();
  const hour = 3_600_000;

  test('is relative within a day, and absolute beyond it', () => {
    const { when, at } = wordsFor({ isTerminal: true, isPainted: false, now: () => now });
    expect([1_000, -1_000, -60_000, 2.5 * hour, -5 * hour].map((ms) => when(after(ms)))).toEqual([
      'in less than a minute',
      'just now',
      '1 minute ago',
      'in 2 hours',
      '5 hours ago',
    ]);
    expect(when(new Date(2026, 11, 3, 7, 5).toISOString())).toBe('Dec 3, 07:05');
    expect(when(new Date(2025, 11, 3, 7, 5).toISOString())).toBe('Dec 3, 2025, 07:05');
    expect(when(null)).toBe(null);
    expect(at(new Date(now).toISOString())).toMatch(/^[A-Z][a-z]{2} \d+, \d\d:\d\d:\d\d$/);
  });

  test('is ISO 8601 in a pipe', () => {
    const { when } = wordsFor({ isTerminal: false, isPainted: false, now: () => now });
    expect(when('2026-01-01T00:00:00.000Z')).toBe('2026-01-01T00:00:00.000Z');
  });
});
