import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type CheckedResponse, sendRawRequest } from '../../servers/http-client.ts';
import { bodyOf, type Facts } from '../../factories/endpoints.ts';
import {
  type Caller,
  type EndpointServer,
  newCaller,
  NOTHING_STORED,
} from '../../servers/endpoint-server.ts';

const CODERS = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync };

function expectTooLarge(response: CheckedResponse): void {
  expect([response.status, response.errors]).toMatchObject([413, [{ code: 'payload_too_large' }]]);
  expect(response.headers['ratelimit']).toBeDefined();
}

export function refusesLargeBodies(server: EndpointServer, facts: Facts): void {
  const large = JSON.stringify(bodyOf(facts)).padEnd(facts.bodyMaxBytes + 1, ' ');

  test('one byte above the limit is 413, however it is sent, and nothing is stored', async () => {
    const caller = await newCaller(server, facts);
    expectTooLarge(await caller.send({ body: large, once: 'k' }));
    expectTooLarge(await caller.send({ body: large, headers: { 'Transfer-Encoding': 'chunked' } }));
    for (const [coding, compress] of Object.entries(CODERS))
      expectTooLarge(await caller.send({ body: compress(large), headers: { 'Content-Encoding': coding } }));
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('the limit is that of this endpoint: 256 KiB for one record, 10 MiB for a list', () => {
    expect(facts.bodyMaxBytes).toBe(facts.kind === 'single' ? 262_144 : 10_485_760);
  });

  test('a declared length above the limit is 413 before a byte of the body has come', async () => {
    const caller = await newCaller(server, facts);
    const head = headOf(caller, `Content-Length: ${facts.bodyMaxBytes + 1}`);
    expectTooLarge(await sendRawRequest(server.ports.http ?? 0, head));
  });

  test('413 is said before the body is parsed and before the Idempotency-Key is read', async () => {
    const caller = await newCaller(server, facts);
    expectTooLarge(await caller.send({ body: '{'.repeat(facts.bodyMaxBytes + 1), once: 'not a key' }));
  });
}

/** Returns the head of a raw request, for requests that no client would send. */
export function headOf({ facts, secret }: Caller, ...headers: string[]): string {
  const lines = [`POST ${facts.path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${secret}`];
  return [...lines, 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
}

function expectUnsupported(response: CheckedResponse): void {
  expect([response.status, response.errors]).toMatchObject([415, [{ code: 'unsupported_media_type' }]]);
  expect(response.headers['accept-encoding']).toBe('gzip, br, zstd');
}

export function refusesOtherMedia(server: EndpointServer, facts: Facts): void {
  const types = [
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json5',
    'application/problem+json',
    'application/x-ndjson',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json; version=2',
    'application/json, text/plain',
    'json',
  ];
  const codings = [
    'deflate',
    'compress',
    'aws-chunked',
    'gzip, gzip',
    'gzip, br',
    'identity, gzip',
    'gzip;q=1',
    'utf-8',
  ];

  test('a body that is not declared application/json in UTF-8 is 415, and nothing is stored', async () => {
    const caller = await newCaller(server, facts);
    for (const type of types) expectUnsupported(await caller.send({ headers: { 'Content-Type': type } }));
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('a coding that we do not know, or more than one, is 415 and names those that we take', async () => {
    const caller = await newCaller(server, facts);
    const body = gzipSync(gzipSync(JSON.stringify(bodyOf(facts))));
    for (const coding of codings)
      expectUnsupported(await caller.send({ body, headers: { 'Content-Encoding': coding } }));
    expectUnsupported(await caller.send({ body, headers: { 'Content-Encoding': ['gzip', 'gzip'] } }));
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('415 is said before the size, the syntax and the Idempotency-Key are looked at', async () => {
    const caller = await newCaller(server, facts);
    const headers = { 'Content-Type': 'text/plain' };
    expectUnsupported(await caller.send({ headers, body: '{'.repeat(facts.bodyMaxBytes + 1), once: 'a b' }));
    const coding = { 'Content-Encoding': 'compress' };
    expectUnsupported(await caller.send({ headers: coding, body: '{', once: 'a b' }));
  });

  test('an answer to an unsupported body is charged to the rate limit', async () => {
    const caller = await newCaller(server, facts);
    await caller.limit({ rate: 1, burst: 5 });
    const { headers } = await caller.send({ headers: { 'Content-Type': 'text/plain' } });
    expect(headers['ratelimit']).toBe(`"${facts.name}";r=4;t=1`);
  });
}
