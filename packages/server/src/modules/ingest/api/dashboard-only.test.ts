import { expect, test } from 'vitest';
import { sendRequest } from '../../../../testing/servers/http-client.ts';
import { EVENTS } from '../../../../testing/factories/endpoints.ts';
import { endpointServer, newCaller, twinOf } from '../../../../testing/servers/endpoint-server.ts';
import { revokeKey } from '../keys/change-key.ts';
import { suspendProject } from '../../administration/suspend-project.ts';

const server = await endpointServer();
const twin = await twinOf(server);

const PATHS = ['drafts', 'audiences', 'sequences', 'rules', 'keys', 'imports'].flatMap((noun) => [
  `/api/v1/${noun}`,
  `/api/v1/${noun}/`,
  `/api/v1/${noun}/42`,
  `/api/v1/${noun}/42/approve?x=1`,
]);
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

test.each(PATHS)('%s is 403 with a key and 401 without one, whatever the method', async (path) => {
  const { secret } = await newCaller(server, EVENTS);
  for (const method of METHODS) {
    const body = method === 'GET' ? {} : { body: '{' };
    const open = await sendRequest(server.url, { method, path, headers: bearer(secret), ...body });
    expect([method, open.status, open.errors]).toMatchObject([method, 403, [{ code: 'forbidden' }]]);
    const closed = await sendRequest(server.url, { method, path, ...body });
    expect([method, closed.status, closed.errors[0]?.code]).toEqual([method, 401, 'auth_required']);
  }
  expect((await sendRequest(server.url, { method: 'HEAD', path, headers: bearer(secret) })).status).toBe(403);
});

test('a key in the query string, a revoked key and a key of a suspended project open none of them either', async () => {
  const caller = await newCaller(server, EVENTS);
  const inQuery = { method: 'GET', path: `/api/v1/drafts?api_key=${caller.secret}` };
  expect((await sendRequest(server.url, inQuery)).status).toBe(401);
  const request = { method: 'GET', path: '/api/v1/drafts', headers: bearer(caller.secret) };
  await caller.send({ at: twin });
  await suspendProject(server.db, caller.id);
  const { status, errors } = await sendRequest(twin.url, request);
  expect([status, errors]).toMatchObject([403, [{ code: 'forbidden' }]]);
  await revokeKey(server.db, { id: caller.keyId });
  expect((await sendRequest(twin.url, request)).status).toBe(401);
});

test('a name that only begins like one of them is 404', async () => {
  const { secret } = await newCaller(server, EVENTS);
  for (const path of [
    '/api/v1/draftsman',
    '/api/v1/key',
    '/api/v2/drafts',
    '/drafts',
    '/api/v1/Drafts',
    '/api/v1',
  ]) {
    const { status, errors } = await sendRequest(server.url, {
      method: 'GET',
      path,
      headers: bearer(secret),
    });
    expect([path, status, errors[0]?.code]).toEqual([path, 404, 'not_found']);
  }
});

function bearer(secret: string): { Authorization: string } {
  return { Authorization: `Bearer ${secret}` };
}
