import { afterAll, describe, expect, it, test } from 'vitest';
import { createMailReader, isQuick, readHere } from './reader.ts';

const { read, close } = createMailReader();
afterAll(close);
const envelope = { from: 'ada@home.test', to: ['r+x@in.acme.test'] };
const HEAD = 'From: ada@home.test\r\nSubject: Re: x\r\nMessage-ID: <a@b>\r\n\r\n';

test.each([
  ['large email', `> ${'x'.repeat(74)}\r\n`.repeat(60_000)],
  ['small email of many lines', '\r\n'.repeat(50_000)],
])('createMailReader reads a %s like any other, without blocking the thread', async (_, body) => {
  const raw = Buffer.from(`${HEAD}Thanks!\r\n\r\n${body}`);
  let turns = 0;
  let isReading = true;
  const countTurns = (): void => {
    turns += 1;
    if (isReading) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const found = await read({ raw, envelope });
  isReading = false;
  expect(found?.classification.kind).toBe('reply');
  expect(found).toEqual(await readHere({ raw, envelope }));
  // Reading on this thread leaves the event loop only a few turns.
  expect(turns).toBeGreaterThan(100);
});

test('createMailReader reads many large emails in turn', async () => {
  const raw = Buffer.from(HEAD + `${'y'.repeat(70)}\r\n`.repeat(3_000));
  const found = await Promise.all(Array.from({ length: 6 }, () => read({ raw, envelope })));
  expect(found.map((result) => result?.classification.kind)).toEqual(
    Array.from({ length: 6 }, () => 'reply'),
  );
});

const LONG = 125_000;
const foldLines = (text: string): string => text.replaceAll(/.{70}/g, '$&\r\n ');

describe('isQuick', () => {
  it('returns true for an ordinary email, and for a long header without addresses', () => {
    const received = `Received: from a.test by b.test; Tue, 3 Mar 2026 10:00:00 +0000\r\n`;
    const body = `To: ${'ada@home.test, '.repeat(2_000)}\r\n`;
    for (const header of ['', received.repeat(200), `X-Report: ${'a'.repeat(50_000)}\r\n`])
      expect(isQuick(Buffer.from(`${header}${HEAD}${body}`)), header.slice(0, 20)).toBe(true);
  });

  const list = '":'.repeat(LONG / 2);
  it.each([
    ...['From', 'Sender', 'Reply-To', 'To', 'Cc', 'Bcc', 'Delivered-To', 'Return-Path'].map(
      (name): [string, string] => [`one ${name} of 125 kB`, `${name}: ${list}\r\n${HEAD}`],
    ),
    ['a folded list', `To: ${foldLines('":'.repeat(30_000))}\r\n${HEAD}`],
    ['many short lists', `To: ${'":'.repeat(400)}\r\n`.repeat(100) + HEAD],
    ['lists in several fields', `From: ${'":'.repeat(2_500)}\r\nCC : ${'":'.repeat(2_500)}\r\n${HEAD}`],
    ['a list below another long field', `X-A: ${'a'.repeat(10_000)}\r\nto: ${'":'.repeat(9_000)}\r\n${HEAD}`],
    ['a list with bare carriage returns', `X-A: b\rTo: ${list}\r\r`],
    ['a list below empty lines', `\r\n\r\nTo: ${list}`],
    ['a list below a line of a mailbox', `From ada Tue Mar  3 10:00:00 2026\n To: ${list}`],
  ])('returns false for an email with %s', (_title, raw) => {
    expect(raw.length).toBeLessThanOrEqual(128 * 1024);
    expect(isQuick(Buffer.from(raw))).toBe(false);
  });

  it('finds the header of an email that is a view of a larger buffer', () => {
    const before = Buffer.from(`To: ${list}\r\n`);
    const raw = Buffer.concat([before, Buffer.from(HEAD)]).subarray(before.length);
    expect(isQuick(raw)).toBe(true);
  });
});
