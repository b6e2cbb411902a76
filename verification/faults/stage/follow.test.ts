import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { followJournal } from './follow.ts';

test('continues reading a growing journal where it stopped, and never returns a partial line', () => {
  const dir = mkdtempSync(join(tmpdir(), 'beckon-follow-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'some.jsonl');
  const next = followJournal(path);
  expect(next()).toEqual([]);
  const lines = [1, 2, 3].map((at) => `${JSON.stringify({ kind: 'quiet', at, text: 'Grüße 👋' })}\n`);
  const bytes = Buffer.from(lines.join(''));
  const cut =
    Buffer.byteLength(lines[0] ?? '') + bytes.subarray(Buffer.byteLength(lines[0] ?? '')).indexOf('ß') + 1;
  appendFileSync(path, bytes.subarray(0, cut));
  expect(next().map(({ at }) => at)).toEqual([1]);
  appendFileSync(path, bytes.subarray(cut));
  expect(next()).toEqual([2, 3].map((at) => ({ kind: 'quiet', at, text: 'Grüße 👋' })));
  expect(next()).toEqual([]);
});
