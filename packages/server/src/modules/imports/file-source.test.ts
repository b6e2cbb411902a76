import { expect, test } from 'vitest';
import type { ImportMapping } from '@beckon/contract/dashboard';
import { readUser } from '../../platform/records/record.ts';
import { sampleFile } from './file-sample.ts';
import { createFileSource } from './file-source.ts';
import { ImportHalt, type ImportChunk, type SourcePosition } from './source.ts';
import type { ImportFile } from './file-format.ts';

type FileOptions = { kind?: 'users' | 'events'; mapping?: ImportMapping };

function fileOf(text: string | Buffer, { kind = 'users', mapping }: FileOptions = {}): ImportFile {
  const bytes = Buffer.from(text);
  return {
    kind,
    sizeBytes: bytes.length,
    mapping: mapping ?? null,
    load: async (n) => (n === 0 ? bytes : null),
  };
}

async function read(file: ImportFile, after: SourcePosition | null = null): Promise<ImportChunk[]> {
  const chunks: ImportChunk[] = [];
  const source = createFileSource(file);
  for await (const chunk of source.read(after, new AbortController().signal)) chunks.push(chunk);
  return chunks;
}

const users = async (text: string, options: FileOptions = {}) =>
  (await read(fileOf(text, options))).flatMap((c) => c.users);
const events = async (text: string, options: FileOptions = {}) =>
  (await read(fileOf(text, { kind: 'events', ...options }))).flatMap((chunk) => chunk.events);
const rejected = async (text: string, options: FileOptions = {}) =>
  (await read(fileOf(text, options))).flatMap((chunk) => chunk.rejected);

test('maps columns by their headers to record fields, known traits and own traits', async () => {
  const text =
    '\uFEFFUser ID;E-mail;Signup Date;Plan;seats;vip;zip;note\nada;ada@x.org;2026-01-02;37;3;true;01234;\n';
  expect(await users(text)).toEqual([
    {
      external_user_id: 'ada',
      email: 'ada@x.org',
      traits: { signupDate: '2026-01-02T00:00:00.000Z', plan: '37', seats: 3, vip: true, zip: '01234' },
    },
  ]);
});

test('maps and parses columns as the mapping specifies', async () => {
  const mapping: ImportMapping = {
    columns: {
      nr: { to: 'external_user_id' },
      zip: { to: 'traits.postcode', type: 'number' },
      secret: { to: null },
      at: { to: 'traits.since', type: 'date' },
    },
  };
  expect(await users('nr,zip,secret,at\n7,0123,x,2026-01-31 09:00\n', { mapping })).toEqual([
    { external_user_id: '7', traits: { postcode: 123, since: '2026-01-31T09:00:00.000Z' } },
  ]);
  expect(await rejected('nr,zip,secret,at\n7,abc,x,\n', { mapping })).toMatchInlineSnapshot(`
    [
      {
        "field": "traits.postcode",
        "message": "traits.postcode is no number",
        "raw": "7,abc,x,",
        "row": 2,
        "userId": "7",
      },
    ]
  `);
});

test('accepts event times in all usual forms', async () => {
  const times = ['2026-01-02T03:04:05Z', '2026-01-02', '2026-01-02 03:04', '1767323045', '1767323045000'];
  const text = `user_id,event,timestamp,pages\n${times.map((time) => `ada,opened,${time},2`).join('\n')}`;
  const read_ = await events(text);
  expect(read_.map((event) => event.occurred_at)).toEqual([
    '2026-01-02T03:04:05.000Z',
    '2026-01-02T00:00:00.000Z',
    '2026-01-02T03:04:00.000Z',
    '2026-01-02T03:04:05.000Z',
    '2026-01-02T03:04:05.000Z',
  ]);
  expect(read_[0]).toMatchObject({ external_user_id: 'ada', name: 'opened', properties: { pages: 2 } });
});

test('rejects events without a column for time or id, unless equal rows count as one', async () => {
  const text = 'user_id,event\nada,opened\n';
  await expect(events(text)).rejects.toThrowErrorMatchingInlineSnapshot(
    `[ImportHalt: Select a column with the time or ID of the event, or treat equal rows as one event]`,
  );
  expect(await events(text, { mapping: { columns: {}, equal_rows_are_one: true } })).toHaveLength(1);
  const [fault] = await rejected('{"user_id":"ada","event":"opened"}\n', { kind: 'events' });
  expect(fault?.message).toMatchInlineSnapshot(`"The row has neither a time nor an id"`);
});

test('reads a JSONL line as a record, or as an object with keys as columns', async () => {
  const text =
    '{"external_user_id":"ada","traits":{"plan":"pro","deep":[1]}}\n{"id":7,"__proto__":"x","seats":"3"}\n[1]\n{';
  const chunks = await read(fileOf(text));
  expect(JSON.stringify(chunks.flatMap((chunk) => chunk.users))).toBe(
    '[{"external_user_id":"ada","traits":{"plan":"pro","deep":[1]}},{"external_user_id":"7","traits":{"__proto__":"x","seats":3}}]',
  );
  expect(chunks.flatMap((chunk) => chunk.rejected.map(({ row }) => row))).toEqual([3, 4]);
});

test('continues from the end of any chunk with the same rest', async () => {
  const text = `id,n\n${Array.from({ length: 3_500 }, (_, i) => `u${i},${i}`).join('\n')}`;
  const chunks = await read(fileOf(text));
  expect(chunks.map((chunk) => chunk.rows)).toEqual([1_000, 1_000, 1_000, 500]);
  for (const [i, { position }] of chunks.entries())
    expect(await read(fileOf(text), position)).toEqual(chunks.slice(i + 1));
});

test.each([
  ['', 'empty'],
  ['[{"id":1}]', 'single JSON array'],
  [Buffer.from([0x1f, 0x8b, 8, 0]), 'gzip'],
  [Buffer.from('PK\u0003\u0004'), 'ZIP'],
  [Buffer.from([0xff, 0xfe, 0x61, 0]), 'UTF-16'],
  [Buffer.from('id\0,b\n'), 'not text'],
  [`${'c,'.repeat(10_000)}id\nx`, '10001 columns'],
  [`${'x'.repeat(300_000)}\n`, '256 KiB'],
  ['email\nada@x.org', 'user ID'],
])('rejects %j with an explanation', async (text, message) => {
  const halted = read(fileOf(text));
  await expect(halted).rejects.toThrow(ImportHalt);
  await expect(halted).rejects.toThrow(message);
});

test('names the user of a rejected row if the row has an id', async () => {
  const owners = async (text: string, options: FileOptions = {}) =>
    (await rejected(text, options)).map(({ userId }) => userId);
  const kind = 'events' as const;
  expect(await owners('user_id,name,time\nada,x,no\n,x,2026-01-02\nbob,,,,\n', { kind })).toEqual([
    'ada',
    null,
    null,
  ]);
  expect(await owners('{"user_id":7}\n{"user_id":" ada "}\n{"user_id":"ada"', { kind })).toEqual([
    '7',
    ' ada ',
    null,
  ]);
});

test('handles rows with more cells than the header, and blank rows', async () => {
  expect(await users('id,a\nx,1,2\n,\n  \ny\n')).toEqual([{ external_user_id: 'y' }]);
  expect(await rejected('id,a\nx,1,2\n')).toMatchObject([{ row: 2, field: null }]);
});

const faultsOf = (record: object) => {
  const read = readUser(record, { now: 0, checkStrings: true });
  return typeof read === 'string' ? [] : read;
};

test('shows in a sample how the first rows are imported, with their errors', async () => {
  const sample = await sampleFile(fileOf('id,email,plan\nada,ada@x.org,pro\nbob,nothing,\n'), faultsOf);
  expect(sample).toMatchObject({
    format: 'csv',
    delimiter: ',',
    columns: [
      { name: 'id', to: 'external_user_id', values: ['ada', 'bob'] },
      { name: 'email', to: 'email' },
      { name: 'plan', to: 'traits.plan', type: 'auto', values: ['pro'] },
    ],
    problems: [],
  });
  expect(sample.rows[0]).toEqual({
    row: 2,
    record: { external_user_id: 'ada', email: 'ada@x.org', traits: { plan: 'pro' } },
    faults: [],
  });
  expect(sample.rows[1]?.faults).toEqual([{ field: 'email', message: expect.any(String) }]);
});

test('shows in a sample of JSONL where the keys of each row go', async () => {
  const sample = await sampleFile(fileOf('{"id":1,"seats":2}\n{"id":3,"user_id":4,"traits":{}}\n'), faultsOf);
  expect(sample.columns.map(({ name, to, values }) => [name, to, values])).toEqual([
    ['id', 'external_user_id', ['1', '3']],
    ['seats', 'traits.seats', ['2']],
    ['user_id', 'external_user_id', ['4']],
    ['traits', 'traits', ['{}']],
  ]);
  expect(sample.rows.map(({ record }) => record)).toEqual([
    { external_user_id: '1', traits: { seats: 2 } },
    { external_user_id: '4', traits: { id: 3 } },
  ]);
});
