import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import tls from 'node:tls';
import { type ErrorEntry, FAULT_MESSAGES } from '@beckon/contract';
import { expect } from 'vitest';

export type TestRequest = {
  method?: string;
  path: string;
  /** A list sends the header once per value. Undefined omits it. */
  headers?: Record<string, string | string[] | undefined>;
  body?: string | Uint8Array;
};
export type CheckedResponse = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: unknown;
  /** The errors of an error envelope, otherwise empty. */
  errors: ErrorEntry[];
};

/** Every request claims to come from a browser: no response may depend on it. */
const ORIGIN = { Origin: 'https://browser.example', 'Access-Control-Request-Method': 'POST' };

/** Sends one request over a socket. Every response is checked against the contract's rules for all responses under /api. */
export async function sendRequest(url: string, input: TestRequest): Promise<CheckedResponse> {
  const { method = 'POST', path, headers = {}, body } = input;
  const sentHeaders = Object.entries(headers).filter(([, value]) => value !== undefined);
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const sent: OutgoingHttpHeaders = { ...ORIGIN, ...length, ...Object.fromEntries(sentHeaders) };
  if (sent['Transfer-Encoding'] !== undefined) delete sent['Content-Length'];
  const request = http.request(new URL(url), { method, path, headers: sent });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  const checked = parseResponse({ status: response.statusCode ?? 0, headers: response.headers, text });
  expectContract(checked, method);
  return checked;
}

/** Sends raw bytes and returns everything until the server ends the connection, with the same checks. */
export async function sendRawRequest(
  port: number,
  bytes: string | Uint8Array,
  { end = false }: { end?: boolean } = {},
): Promise<CheckedResponse> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  if (end) socket.end(bytes);
  else socket.write(bytes);
  const [head = '', text = ''] = (await allOf(socket)).split('\r\n\r\n');
  socket.destroy();
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 2),
    ]),
  );
  const checked = parseResponse({ status: Number(line.split(' ')[1]), headers, text });
  expectContract(checked, 'POST');
  return checked;
}

export async function allOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return text;
}

function parseResponse(response: Pick<CheckedResponse, 'status' | 'headers' | 'text'>): CheckedResponse {
  const json: unknown = response.text === '' ? undefined : JSON.parse(response.text);
  const errors = response.status >= 300 && json ? (json as { errors: ErrorEntry[] }).errors : [];
  return { ...response, json, errors };
}

/** Headers that belong to certain statuses, and to no other. */
const BOUND_HEADERS: [name: string, statuses: number[], value: RegExp][] = [
  ['www-authenticate', [401], /^Bearer$/],
  ['allow', [405], /^POST$/],
  ['accept-encoding', [415], /^gzip, br, zstd$/],
  ['retry-after', [429, 503], /^[1-9]\d*$/],
  ['location', [308], /^https:/],
];

function expectContract(response: CheckedResponse, method: string): void {
  const { status, headers } = response;
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
  });
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  // RFC 6797 forbids the header over plain HTTP.
  expect(headers['strict-transport-security']).toBeUndefined();
  for (const [name, statuses, value] of BOUND_HEADERS) {
    if (statuses.includes(status)) expect(headers[name], name).toMatch(value);
    else expect(headers[name], `${name} on ${status}`).toBeUndefined();
  }
  expectRateLimit(status, headers);
  if (method === 'HEAD') expect(response.text).toBe('');
  else if (status < 300) expectSuccess(response);
  else expectErrors(response);
}

function expectRateLimit(status: number, headers: IncomingHttpHeaders): void {
  const { ratelimit } = headers;
  expect(headers['ratelimit-policy'] === undefined).toBe(ratelimit === undefined);
  if (ratelimit === undefined) return;
  expect(headers['ratelimit-policy']).toMatch(/^"[a-z-]+";q=[1-9]\d*;w=[1-9]\d*$/);
  const resetS = /^"[a-z-]+";r=\d+;t=(\d+)$/.exec(String(ratelimit))?.[1];
  expect(resetS).toBeDefined();
  if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(Number(resetS));
}

function expectSuccess({ json }: CheckedResponse): void {
  expect(Object.keys(json as object).filter((key) => key !== 'meta')).toEqual(['data']);
}

function expectErrors({ status, json, errors }: CheckedResponse): void {
  expect(Object.keys(json as object)).toEqual(['errors']);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.length).toBeLessThanOrEqual(20);
  for (const entry of errors) {
    expect(Object.keys(FAULT_MESSAGES)).toContain(entry.code);
    expect(entry.message).toMatch(/./);
    if ('field' in entry) expect(entry.field).toMatch(/./);
    expect(Object.keys(entry).filter((key) => !['code', 'message', 'field'].includes(key))).toEqual([]);
  }
  // Details of an internal error belong in the log only.
  if (status >= 500) expect(errors).toEqual([{ code: 'server_error', message: FAULT_MESSAGES.server_error }]);
}

export type LocalReply = { status: number; body: unknown };

export type LocalRequestOptions = { body?: unknown; headers?: Record<string, string> };

/** Sends one request over a local socket: `requestOverSocket(path, 'GET /livez')`. */
export function requestOverSocket(
  socketPath: string,
  what: string,
  { body, headers = {} }: LocalRequestOptions = {},
): Promise<LocalReply> {
  const [method = 'GET', path = '/'] = what.split(' ');
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const request = http.request({ socketPath, method, path, agent: false, headers: { ...type, ...headers } });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      json(response).then((read) => resolve({ status, body: read }), reject);
    });
  });
}

/** Returns the name in the certificate that is served at this port. */
export async function nameServed(port: number): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}
