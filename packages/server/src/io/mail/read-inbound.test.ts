import { afterAll, expect, test } from 'vitest';
import { createMailReader, readHere } from './read-inbound.ts';

const { read, close } = createMailReader();
afterAll(close);
const envelope = { from: 'ada@home.test', to: ['r+x@in.acme.test'] };
const HEAD = 'From: ada@home.test\r\nSubject: Re: x\r\nMessage-ID: <a@b>\r\n\r\n';

test.each([
  ['large mail', `> ${'x'.repeat(74)}\r\n`.repeat(60_000)],
  ['small one of many lines', '\r\n'.repeat(50_000)],
])('a %s is read as any other, and meanwhile everybody else is served', async (_, body) => {
  const raw = Buffer.from(`${HEAD}Thanks!\r\n\r\n${body}`);
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 5);
  const found = await read({ raw, envelope });
  clearInterval(ticking);
  expect(found?.verdict.kind).toBe('reply');
  expect(found).toEqual(await readHere({ raw, envelope }));
  expect(turns).toBeGreaterThan(5);
});

test('many large ones wait for each other, and all are read', async () => {
  const raw = Buffer.from(HEAD + `${'y'.repeat(70)}\r\n`.repeat(3_000));
  const found = await Promise.all(Array.from({ length: 6 }, () => read({ raw, envelope })));
  expect(found.map((one) => one?.verdict.kind)).toEqual(Array.from({ length: 6 }, () => 'reply'));
});
