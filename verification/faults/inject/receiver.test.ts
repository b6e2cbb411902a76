import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutbound } from '../../../packages/server/src/platform/outbound/outbound.ts';
import type { OutboundResponse } from '../../../packages/server/src/platform/outbound/exchange.ts';
import { BAD_MODES, badAnswer } from './receiver.ts';

const outbound = createOutbound({ allowPrivate: true, connectMs: 2_000, totalMs: 2_000 });
const server = createServer((request, response) => {
  request.resume().on('end', () => badAnswer(mode, Math.random)(request, response));
});
let mode = '';

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  outbound.close();
  server.closeAllConnections();
  server.close();
});

function post(how: string): Promise<OutboundResponse> {
  mode = how;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return outbound.post({ url, headers: {}, key: 'endpoint', body: Buffer.from('{}') });
}

/** The result that the webhook client must report for each mode. */
const MEANS: Record<string, Partial<OutboundResponse>> = {
  fine: { ok: true, status: 204 },
  error: { ok: true, status: 500 },
  unavailable: { ok: true, status: 503, retryAfter: '1' },
  'busy-for-30-years': { ok: true, status: 429, retryAfter: '1000000000' },
  'busy-for-less-than-nothing': { ok: true, status: 429, retryAfter: '-1' },
  'busy-until-2099': { ok: true, status: 429, retryAfter: 'Thu, 31 Dec 2099 23:59:59 GMT' },
  'busy-until-never': { ok: true, status: 429, retryAfter: 'when it suits you; äh' },
  redirect: { ok: true, status: 302 },
  drip: { ok: false, error: 'timeout' },
  endless: { ok: true, status: 200 },
  'gzip-bomb': { ok: true, status: 200 },
  'headers-of-a-megabyte': { ok: false, error: 'protocol' },
  'headers-without-end': { ok: false, error: 'timeout' },
  'continue-unasked': { ok: true, status: 204 },
  'reset-after-reading': { ok: false, error: 'reset' },
  'reset-within-the-answer': { ok: false, error: 'reset' },
  hang: { ok: false, error: 'timeout' },
  gone: { ok: true, status: 410 },
};

test.each(Object.entries(MEANS))('classifies %s correctly', async (how, means) => {
  expect(await post(how)).toMatchObject(means);
});

test('covers every mode, and says which status the client can read', () => {
  expect(BAD_MODES.toSorted()).toEqual(
    Object.keys(MEANS)
      .filter((how) => how !== 'fine' && how !== 'gone')
      .toSorted(),
  );
  for (const [how, means] of Object.entries(MEANS))
    if (means.ok) expect(badAnswer(how, Math.random).replyStatus, how).toBe(means.status);
  expect(() => badAnswer('nonsense', Math.random)).toThrow('there is no mode nonsense');
});

test('chooses every mode at random, and the mode that disables the endpoint rarely', () => {
  let seed = 1;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const seen = Array.from({ length: 20_000 }, () => badAnswer(null, random).mode);
  expect(new Set(seen)).toEqual(new Set([...BAD_MODES, 'fine', 'gone']));
  expect(seen.filter((how) => how === 'gone').length).toBeLessThan(40);
});
