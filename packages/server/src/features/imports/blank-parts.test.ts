import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../testkit/database.ts';
import { heldClock } from '../../../testkit/clock.ts';
import { uploadFile } from '../../../testkit/imports.ts';
import { createProject } from '../../flows/create-project.ts';
import { blankParts } from './blank-parts.ts';
import { PART_BYTES } from './import.ts';
import { partLoader } from './parts.ts';

const db = await openTestDatabase(heldClock());
const { id: projectId } = await createProject(db, { name: 'Acme' });

async function blanked(text: string, texts: string[]): Promise<{ lines: number; text: string }> {
  const one = await uploadFile(db, { projectId, kind: 'users', text });
  const lines = await blankParts(db, one, texts);
  const load = partLoader(db, one);
  const pieces: Buffer[] = [];
  for (let part = 0; part * PART_BYTES < Buffer.byteLength(text); part += 1)
    pieces.push((await load(part)) ?? Buffer.alloc(0));
  return { lines, text: Buffer.concat(pieces).toString() };
}

test('lines that name a person become blanks of the same length, and no other line changes', async () => {
  const { lines, text } = await blanked(
    'id,email\nada,"ADA@X.org"\nbob,b@x.org\n{"id":"ad\\u00e9"}\n7,adé x',
    ['ada@x.org', 'adé'],
  );
  expect(text).toBe(`id,email\n    "         "\nbob,b@x.org\n "  " "        " \n        `);
  expect(lines).toBe(3);
});

test('a line that goes over two parts is blanked in both', async () => {
  const pad = `${'x'.repeat(99)}\n`.repeat(Math.floor(PART_BYTES / 100) - 1);
  const rest = PART_BYTES - pad.length;
  for (const cut of [1, 4, 8, 12]) {
    // The line begins so that the part ends behind so many of its bytes.
    const before = `${pad}${'y'.repeat(rest - cut - 1)}\n`;
    const { text, lines } = await blanked(`${before}ada,a@x.org,pro\nbob`, ['a@x.org']);
    expect(text.slice(before.length)).toBe(`${' '.repeat(15)}\nbob`);
    expect([text.startsWith(before), lines]).toEqual([true, 1]);
  }
});
