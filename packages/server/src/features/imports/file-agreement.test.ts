import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ImportMapping } from '@beckon/contract/dashboard';
import { readMoment, type CellType, type FileKind } from '@beckon/contract/files';
import type { Rules } from '../../../../cli/src/import/plan.ts';
import { csvRows, jsonRows } from '../../../../cli/src/import/rows.ts';
import { parseInstant } from '../../base/instant.ts';
import { createFileSource } from './file-source.ts';

const HEADERS = [
  ['external_user_id', 'User ID', 'user_id', 'externalId', 'id', 'ID', 'uid', 'uuid', 'insert_id'],
  ['customer_id', 'distinct_id', 'message_id', 'email', 'E-Mail', 'mail', 'event', 'Event Name', 'name'],
  ['Full Name', 'plan', 'Plan', 'traits.plan', 'properties.plan', 'traits', 'properties', 'role'],
  ['occurred_at', 'created_at', 'createdAt', 'timestamp', 'time', 'date', 'signup date', 'signupDate'],
  ['company', 'organization', 'amount', '', 'column 2', 'beckon_line', 'beckon_plan', '__proto__', 'Größe'],
].flat();
const CELLS = [
  ['', ' ', 'ada', ' ada ', 'ada@example.com', 'trial_started', 'payment_failed', 'a "quoted" one', 'a,b;c'],
  ['7', '007', '-0', '1.50', '.5', '1e5', '123456789012345', '1234567890123456', '0.1234567890123456'],
  [
    'true',
    'TRUE',
    'True',
    'false',
    'yes',
    'N',
    '1',
    'null',
    '{"a":1}',
    '{"__proto__":1}',
    '[1]',
    '{',
    'x\ny',
  ],
  ['2026-01-31', '2026-02-30', '2026-01-31 09:00', '2026-01-31T09:00:00+0200', '2026-01-31 09:00:00 UTC'],
  ['31.01.2026', '1767225600', '1767225600.5', '1767225600000', '0000-01-01', '2026-01-31T24:00:00Z'],
].flat();
const TARGETS = {
  users: ['external_user_id', 'email', 'traits', 'traits.plan', 'traits.signupDate', 'seats', 'id'],
  events: ['external_user_id', 'name', 'occurred_at', 'message_id', 'properties', 'properties.plan', 'count'],
};

type SaidType = Exclude<CellType, 'auto'>;
type Given = {
  format: 'csv' | 'jsonl';
  kind: FileKind;
  delimiter: string;
  header: string[];
  rows: string[][];
  said: { target: string; column: number; type: SaidType | null }[];
  name: string | null;
  equalRowsAreOne: boolean;
};

const text = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((one) => !/[\0\r\n]/.test(one));
const files: fc.Arbitrary<Given> = fc.constantFrom<FileKind>('users', 'events').chain((kind) =>
  fc
    .uniqueArray(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...HEADERS) }, text), {
      minLength: 2,
      maxLength: 9,
      selector: (name) => name.trim(),
    })
    .map((header) => (header.some((name) => /user|id/i.test(name)) ? header : ['user_id', ...header]))
    // A column without a name is called after its place, and no other is.
    .filter((header) => !header.includes('') || !header.includes('column 2'))
    .chain((header) => {
      const cell = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...CELLS) }, text);
      const said = fc.record({
        target: fc.constantFrom(...TARGETS[kind]),
        column: fc.nat(header.length - 1),
        type: fc.constantFrom<SaidType | null>(null, 'text', 'number', 'boolean', 'date', 'json'),
      });
      return fc.record({
        format: fc.constantFrom<Given['format']>('csv', 'csv', 'jsonl'),
        kind: fc.constant(kind),
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
        header: fc.constant(header),
        rows: fc.array(
          fc
            .array(cell, { minLength: header.length - 1, maxLength: header.length + 1 })
            .filter((cells) => !isOnlySigns(cells)),
          { minLength: 1, maxLength: 6 },
        ),
        said: fc.uniqueArray(said, { maxLength: 3, comparator: isOfOneColumn }),
        name: fc.constantFrom(null, 'opened'),
        equalRowsAreOne: fc.boolean(),
      });
    }),
);

function isOfOneColumn(a: Given['said'][number], b: Given['said'][number]): boolean {
  return a.target === b.target || a.column === b.column;
}

/** What the server takes for the end of a spreadsheet. */
function isOnlySigns(cells: string[]): boolean {
  return cells.some((cell) => cell.trim() !== '') && /^[\s,;|"]*$/.test(cells.join(''));
}

function bytesOf({ format, header, rows, delimiter }: Given): Buffer {
  if (format === 'jsonl') return Buffer.from(rows.map((cells) => `${objectOf(header, cells)}\n`).join(''));
  const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
  const plain = (cell: string): string => (/^[\w.@+-]*$/.test(cell) ? cell : quoted(cell));
  const lines = [header.map(quoted), ...rows.map((cells) => cells.map(plain))];
  return Buffer.from(lines.map((cells) => `${cells.join(delimiter)}\n`).join(''));
}

/** What is JSON in a cell is a value of its own. */
function objectOf(header: string[], cells: string[]): string {
  const entries = header.map((name, i): [string, unknown] => {
    const cell = cells[i] ?? '';
    try {
      return [name, JSON.parse(cell)];
    } catch {
      return [name, cell];
    }
  });
  return JSON.stringify(Object.fromEntries(entries));
}

type Made = { records: unknown[]; faults: [line: number, field: string | null, message: string][] };

/** Null: refused as a whole. */
async function byCommand(given: Given): Promise<Made | null> {
  const { kind, said, name, equalRowsAreOne, delimiter } = given;
  const rules: Rules = {
    kind,
    map: new Map(said.map(({ target, column }) => [target, nameAt(given, column)])),
    types: new Map(said.flatMap(({ target, type }) => (type === null ? [] : [[target, type] as const]))),
    name: kind === 'events' ? name : null,
    equalRowsAreOne,
  };
  const made: Made = { records: [], faults: [] };
  const bytes = bytesOf(given);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  const opened =
    given.format === 'jsonl'
      ? jsonRows(pieces(), rules)
      : await csvRows(pieces(), { delimiter, rules }).catch(() => null);
  if (opened === null) return null;
  for await (const row of opened.rows)
    if (row.problem) made.faults.push([row.line, row.problem.field ?? null, row.problem.message]);
    else made.records.push(row.toJSON());
  return made;
}

async function byServer(given: Given): Promise<Made | null> {
  const { kind, said, name, equalRowsAreOne } = given;
  const mapping: ImportMapping = {
    columns: Object.fromEntries(
      said.map(({ target, column, type }) => [
        nameAt(given, column),
        { to: target, ...(type !== null && { type }) },
      ]),
    ),
    equal_rows_are_one: equalRowsAreOne,
    ...(kind === 'events' && name !== null && { event_name: name }),
  };
  const bytes = bytesOf(given);
  const source = createFileSource({ kind, sizeBytes: bytes.length, mapping, load: async () => bytes });
  const made: Made = { records: [], faults: [] };
  try {
    for await (const { users, events, rejected } of source.read(null, new AbortController().signal)) {
      made.records.push(...users, ...events);
      for (const { row, field, message } of rejected) made.faults.push([row ?? 0, field, message]);
    }
  } catch {
    return null;
  }
  return made;
}

function nameAt({ format, header }: Given, at: number): string {
  if (format === 'jsonl') return header[at] ?? '';
  const name = header[at]?.trim() ?? '';
  return name === '' ? `column ${at + 1}` : name;
}

test('a file becomes the same records here and in the command line, or is refused by both', async () => {
  let taken = 0;

  await fc.assert(
    fc.asyncProperty(files, async (given) => {
      const [here, there] = [await byServer(given), await byCommand(given)];
      taken += here?.records.length ?? 0;
      expect(JSON.stringify(here)).toBe(JSON.stringify(there));
    }),
    { numRuns: 400 },
  );
  expect(taken).toBeGreaterThan(50);
});

test('whatever the API takes for a moment is the same one in a file', () => {
  const two = (max: number): fc.Arbitrary<string> =>
    fc.nat(max).map((number) => String(number).padStart(2, '0'));
  const parts = fc.tuple(fc.constantFrom('0000', '0001', '1969', '2026', '9999'), two(13), two(32));
  const time = fc.tuple(fc.constantFrom('T', 't'), two(25), two(61), two(61));
  const rest = fc.tuple(
    fc.constantFrom('', '.5', '.123456789'),
    fc.constantFrom('Z', 'z', '+14:59', '-15:00'),
  );
  fc.assert(
    fc.property(parts, fc.option(fc.tuple(time, rest)), (day, told) => {
      const [[t = '', ...clock], [fraction = '', zone = '']] = told ?? [[], []];
      const text = `${day.join('-')}${t}${clock.join(':')}${fraction}${zone}`;
      expect(readMoment(text)).toBe(parseInstant(text));
    }),
    { numRuns: 2_000 },
  );
});
