import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { uploadFile } from '../../../testing/factories/imports.ts';
import { createProject } from '../administration/create-project.ts';
import { blankParts } from './blank-rows.ts';
import { PART_BYTES } from './import.ts';
import { partLoader } from './parts.ts';
import type { ErasedPerson } from './row-owner.ts';

const db = await openTestDatabase(fixedClock());
const { id: projectId } = await createProject(db, { name: 'Acme' });

const ADA: ErasedPerson = { userId: 'adé', email: 'ada@x.org' };

async function blanked(text: string, person = ADA): Promise<{ rows: number; text: string }> {
  const job = await uploadFile(db, { projectId, kind: 'users', text });
  const rows = await blankParts(db, job, person);
  const load = partLoader(db, job);
  const pieces: Buffer[] = [];
  for (let part = 0; part * PART_BYTES < Buffer.byteLength(text); part += 1)
    pieces.push((await load(part)) ?? Buffer.alloc(0));
  return { rows, text: Buffer.concat(pieces).toString() };
}

test('replaces the rows of a user with spaces of the same length, and changes no other row', async () => {
  const { rows, text } = await blanked(
    [
      'id,email,note',
      '"adé" ,"b@x.org"',
      'bob,ADA@x.org,adé',
      'adér,,',
      ',"ADA@X.org",',
      ',,"the adé of x"',
      'adé,a,b,c',
      '"adé',
    ].join('\n'),
  );
  expect(text.split('\n')).toEqual([
    'id,email,note',
    ' '.repeat(17),
    'bob,ADA@x.org,adé',
    'adér,,',
    ' '.repeat(13),
    ',,"the adé of x"',
    ' '.repeat(10),
    ' '.repeat(5),
  ]);
  expect(rows).toBe(4);
});

test('replaces rows of JSON too, in any notation', async () => {
  const { rows, text } = await blanked(
    [
      '{"id":"ad\\u00e9"}',
      '{"id":"ad\\u00E9 ","x":1}',
      '{"id":"bob","email":"ada@x.org"}',
      '{"email":"ada@x.org"}',
      '{"id":"ad\\u00e9",',
    ].join('\n'),
  );
  expect(text.split('\n').map((line) => line.trim())).toEqual([
    '',
    '',
    '{"id":"bob","email":"ada@x.org"}',
    '',
    '',
  ]);
  expect(rows).toBe(4);
  const result = await blanked('{"id":1}\n{"id":21,"seats":1}\n{"id":"1"}', { userId: '1', email: null });
  expect([result.text.split('\n')[1], result.rows]).toEqual(['{"id":21,"seats":1}', 2]);
});

test('replaces a row of several lines as a whole, and never the header', async () => {
  const { text, rows } = await blanked('id,name,city\nname,N,"1 Street\nSpringfield"\nbob,B,C', {
    userId: 'name',
    email: null,
  });
  expect(text).toBe(`id,name,city\n${' '.repeat(16)}\n${' '.repeat(12)}\nbob,B,C`);
  expect(rows).toBe(1);
});

test('replaces a row that spans two parts in both', async () => {
  const header = 'id,email,plan\n';
  const pad = `${'x'.repeat(99)}\n`.repeat(Math.floor(PART_BYTES / 100) - 1);
  const rest = PART_BYTES - pad.length - header.length;
  for (const cut of [1, 4, 8, 12]) {
    // The row starts so that the part ends after this many of its bytes.
    const before = `${header}${pad}${'y'.repeat(rest - cut - 1)}\n`;
    const { text, rows } = await blanked(`${before}ada,a@x.org,pro\nbob`, { userId: 'ada', email: null });
    expect(text.slice(before.length)).toBe(`${' '.repeat(15)}\nbob`);
    expect([text.startsWith(before), rows]).toEqual([true, 1]);
  }
});
