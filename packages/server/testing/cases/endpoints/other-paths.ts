import { expect, test } from 'vitest';
import { sendRequest } from '../../servers/http-client.ts';
import type { Facts } from '../../factories/endpoints.ts';
import { type EndpointServer, newCaller, NOTHING_STORED } from '../../servers/endpoint-server.ts';

/** Tests paths that resemble this endpoint's path. */
export function refusesOtherPaths(server: EndpointServer, facts: Facts): void {
  const { path } = facts;
  const others = [
    `${path}/`,
    `${path}//`,
    `/${path}`,
    `${path}/u-1`,
    `${path}.json`,
    path.toUpperCase(),
    path.replace('/v1/', '/v2/'),
    path.replace('/api/', '/'),
    path.replace('/v1/', '/v1//'),
  ];

  test('a trailing slash, another case, version or depth is 404, whatever the key', async () => {
    const caller = await newCaller(server, facts);
    for (const other of others) {
      for (const secret of [caller.secret, null]) {
        const { status, errors } = await caller.send({ secret, path: other });
        expect([other, status, errors]).toMatchObject([other, 404, [{ code: 'not_found' }]]);
      }
    }
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('404 is said before the method, the media type and the body are looked at', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND', 'POST']) {
      const headers = { 'Content-Type': 'text/plain', 'Content-Encoding': 'compress' };
      const { status, errors } = await sendRequest(server.url, {
        method,
        path: `${path}/`,
        headers,
        body: '{',
      });
      expect([method, status, errors[0]?.code]).toEqual([method, 404, 'not_found']);
    }
    expect((await sendRequest(server.url, { method: 'HEAD', path: `${path}/` })).status).toBe(404);
  });
}

/** Tests every method except POST. */
export function refusesOtherMethods(server: EndpointServer, facts: Facts): void {
  const { path } = facts;
  const METHODS = [
    'GET',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'PURGE',
    'QUERY',
    'M-SEARCH',
  ];

  test.each(METHODS)('%s is 405, whatever the key and the body, and POST is named', async (method) => {
    const caller = await newCaller(server, facts);
    for (const secret of [null, caller.secret]) {
      for (const query of ['', '?a=1']) {
        const { status, errors, headers } = await caller.send({ method, secret, query });
        expect([status, errors]).toMatchObject([405, [{ code: 'method_not_allowed' }]]);
        expect(headers['allow']).toBe('POST');
      }
    }
    expect(await caller.stored()).toEqual(NOTHING_STORED);
  });

  test('HEAD is 405 with the headers of one and no body', async () => {
    const { status, headers, text } = await sendRequest(server.url, { method: 'HEAD', path });
    expect([status, headers['allow'], text]).toEqual([405, 'POST', '']);
  });

  test('a preflight of a browser is refused like any OPTIONS, and is told nothing', async () => {
    const headers = { 'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key' };
    const { status } = await sendRequest(server.url, { method: 'OPTIONS', path, headers });
    expect(status).toBe(405);
  });

  test('405 is said before the key, the media type and the size are looked at', async () => {
    const caller = await newCaller(server, facts);
    const headers = { 'Content-Type': 'text/plain' };
    const body = ' '.repeat(facts.bodyMaxBytes + 1);
    expect((await caller.send({ method: 'PUT', secret: null, headers, body })).status).toBe(405);
  });
}
