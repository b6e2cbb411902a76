import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { DASHBOARD_ORIGIN, testDashboard } from '../../../../testing/servers/dashboard.ts';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { listEntries } from '../audit/store.ts';
import { createProject } from '../../administration/create-project.ts';
import { DASHBOARD_ROUTES } from '../../../main/dashboard-routes.ts';
import { routesFor } from './route.ts';

const { route } = routesFor();

const server = await endpointServer();
const dashboard = testDashboard(server.db);
afterAll(() => dashboard.close());

const JSON_TYPE = { 'content-type': 'application/json' };

const entries = async () =>
  (await listEntries(server.db, { projectIds: [0], actor: null, action: null, after: null, limit: 50 })).map(
    ({ action, subject, isCompleted, actorName }) => ({ action, subject, isDone: isCompleted, actorName }),
  );

test('returns 401 without a session, whatever key the request has', async () => {
  const headers = { authorization: 'Bearer sk_live_0000000000000000000000000000000000000000' };
  for (const what of ['GET /projects', 'POST /projects']) {
    const {
      status,
      json,
      headers: responseHeaders,
    } = await dashboard.request(what, { as: null, body: what.startsWith('P') ? {} : undefined, headers });
    expect([status, json.errors[0]?.code, responseHeaders['www-authenticate']]).toEqual([
      401,
      'session_required',
      undefined,
    ]);
  }
});

test('refuses a change that another page had the browser send, and changes nothing', async () => {
  for (const origin of ['https://evil.example', 'null', '']) {
    const { status, json } = await dashboard.request('POST /projects', {
      body: { name: 'Theirs' },
      headers: { origin },
    });
    expect([status, json.errors[0]?.code]).toEqual([403, 'role_required']);
  }
  expect((await dashboard.request('GET /projects')).json.data).toEqual([]);
  expect(await entries()).toEqual([]);
});

test('validates a body against its shape, with the field of each error', async () => {
  const wrong = await dashboard.request('POST /projects', { body: { name: 7, colour: 'red' } });
  expect(wrong.status).toBe(422);
  expect(new Set(wrong.json.errors.map((error) => error.field))).toEqual(new Set(['colour', 'name']));
  expect((await dashboard.request('POST /projects', { body: { name: ' ' } })).status).toBe(422);
  expect((await dashboard.request('POST /projects', { body: { name: 'x'.repeat(2_000_000) } })).status).toBe(
    413,
  );
  expect(await entries()).toEqual([]);
});

test('lets a client that still sends a too large body read its 413', async () => {
  const { hostname, port } = new URL(await dashboard.url());
  const body = Buffer.alloc(8 * 1024 * 1024, ' ');
  const head = [
    'POST /api/dashboard/sign-in HTTP/1.1',
    `Host: ${hostname}`,
    `Origin: ${DASHBOARD_ORIGIN}`,
    `Content-Length: ${body.length}`,
  ];
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.write(`${[...head, 'Content-Type: application/json'].join('\r\n')}\r\n\r\n`);
  socket.end(body);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 413 [^]*payload_too_large/);
});

test('audits a change with its actor, and returns 404 for a project of others', async () => {
  const made = await dashboard.request('POST /projects', {
    body: { name: 'Acme', time_zone: 'Europe/Paris' },
  });
  expect([made.status, made.json.data]).toEqual([
    200,
    expect.objectContaining({ name: 'Acme', time_zone: 'Europe/Paris', role: 'owner' }),
  ]);
  expect(await entries()).toEqual([
    { action: 'project.create', subject: 'Acme', isDone: true, actorName: 'Ada' },
  ]);
  for (const project of ['999', '0', 'x', '1e3', '-1'])
    expect((await dashboard.request(`GET /projects/${project}/feed`)).status).toBe(404);
});

test('creates neither a project nor an audit entry for an invalid time zone', async () => {
  const before = [(await dashboard.request('GET /projects')).text, await entries()];
  const wrong = await dashboard.request('POST /projects', {
    body: { name: 'Lost', time_zone: 'Nowhere/None' },
  });
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'time_zone']);
  expect([(await dashboard.request('GET /projects')).text, await entries()]).toEqual(before);
});

const OPEN_ROUTES = DASHBOARD_ROUTES.filter(
  ({ key, needs }) => needs === 'anyone' && !key.startsWith('GET '),
);

describe('bodies of routes without a session', () => {
  test.each(OPEN_ROUTES.map(({ key }) => key))(
    '%s: refuses more than 16 KiB before reading JSON',
    async (key) => {
      const parse = vi.spyOn(JSON, 'parse');
      const body = `{"email":"${'x'.repeat(16 * 1_024)}"}`;
      const { status } = await dashboard.request(key, { as: null, body, headers: JSON_TYPE });
      const parsed = parse.mock.calls.filter(([text]) => String(text).length > 1_000);
      parse.mockRestore();
      expect([status, parsed]).toEqual([413, []]);
    },
  );

  test('cover sign-in, links and programs that request a token', () => {
    expect(OPEN_ROUTES.length).toBeGreaterThanOrEqual(8);
  });
});

describe('JSON of the dashboard API', () => {
  test.each([
    ['levels', `{"name":${'['.repeat(100_000)}`],
    ['values', `{"name":[${'[],'.repeat(50_000)}[]]}`],
    ['digits', `{"name":${'1'.repeat(100_000)}}`],
  ])('refuses too many %s by the field, before parsing', async (_, body) => {
    const parse = vi.spyOn(JSON, 'parse');
    const { status, json } = await dashboard.request('POST /projects', { body, headers: JSON_TYPE });
    const parsed = parse.mock.calls.filter(([text]) => String(text).length > 10_000);
    parse.mockRestore();
    expect([status, json.errors]).toMatchObject([422, [{ code: 'validation_failed', field: 'name' }]]);
    expect(parsed).toEqual([]);
  });

  test('is rejected as before if it is invalid or sets a prototype', async () => {
    for (const body of ['{"name":', '{"name":"Acme","__proto__":{"a":1}}'])
      expect((await dashboard.request('POST /projects', { body, headers: JSON_TYPE })).status).toBe(400);
  });
});

const PAUSE = { data: { paused: false, next_hour: 0, next_day: 0, open: 0, truncated: false } };

/** A heavy route whose responses wait until they are released, and the number of requests that ran at once. */
function gated() {
  const gates: PromiseWithResolvers<void>[] = [];
  const three = Promise.withResolvers<void>();
  const working = new Map<number, number>();
  const most = { together: 0, ofOne: 0 };
  const heavy = route('GET /projects/:project/pause', {
    needs: 'viewer',
    isHeavy: true,
    async handle(_deps, { projectId }) {
      working.set(projectId, (working.get(projectId) ?? 0) + 1);
      const counts = [...working.values()];
      const together = counts.reduce((a, b) => a + b, 0);
      most.together = Math.max(most.together, together);
      most.ofOne = Math.max(most.ofOne, ...counts);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      if (gates.length === 3) three.resolve();
      await gate.promise;
      working.set(projectId, (working.get(projectId) ?? 0) - 1);
      return PAUSE;
    },
  });
  return {
    most,
    three: three.promise,
    busy: testDashboard(server.db, {}, [heavy]),
    releaseAll: async <T>(responses: Promise<T>[]): Promise<T[]> => {
      let isFinished = false;
      const all = Promise.all(responses).finally(() => (isFinished = true));
      while (!isFinished) {
        for (const gate of gates.splice(0)) gate.resolve();
        await setImmediate();
      }
      return all;
    },
  };
}

test('runs three heavy requests at a time, two per project, and refuses those beyond 20 per project or 80 in total with Retry-After', async () => {
  const { most, three, busy, releaseAll } = gated();
  const projects: number[] = [];
  while (projects.length < 5) projects.push((await createProject(server.db, { name: 'One' })).id);
  let refused = 0;
  const sixtyRefused = Promise.withResolvers<void>();
  // Sixty of the first project, and twenty of each other.
  const responses = Array.from({ length: 140 }, async (_, n) => {
    const response = await busy.request(`GET /projects/${projects[n < 60 ? 0 : (n % 4) + 1]}/pause`);
    if (response.status !== 503) return response;
    expect(response.headers['retry-after']).toBe('5');
    if (++refused === 60) sixtyRefused.resolve();
    return response;
  });
  // No gate opens before all requests are waiting, refused or in a handler.
  await Promise.all([sixtyRefused.promise, three]);
  const statuses = (await releaseAll(responses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(80);
  expect(statuses.filter((status) => status === 503)).toHaveLength(60);
  expect(statuses.slice(0, 60).filter((status) => status === 200).length).toBeLessThanOrEqual(20);
  expect(most).toEqual({ together: 3, ofOne: 2 });
  await busy.close();
});

test('serves heavy requests of one project however many another sends', async () => {
  const { busy, releaseAll } = gated();
  const { id: greedy } = await createProject(server.db, { name: 'Greedy' });
  const { id: modest } = await createProject(server.db, { name: 'Modest' });
  const firstRefusal = Promise.withResolvers<void>();
  const many = Array.from({ length: 60 }, async () => {
    const { status } = await busy.request(`GET /projects/${greedy}/pause`);
    if (status === 503) firstRefusal.resolve();
    return status;
  });
  await firstRefusal.promise;
  const other = busy.request(`GET /projects/${modest}/pause`).then(({ status }) => status);
  const [otherStatus] = await releaseAll([other, ...many]);
  expect(otherStatus).toBe(200);
  await busy.close();
});

test('audits a heavy request like any other', async () => {
  const heavy = route('GET /projects/:project/pause', {
    needs: 'viewer',
    isHeavy: true,
    audit: 'pause.look',
    handle: () => Promise.resolve(PAUSE),
  });
  const [busy, { id }] = [
    testDashboard(server.db, {}, [heavy]),
    await createProject(server.db, { name: 'Third' }),
  ];
  expect((await busy.request(`GET /projects/${id}/pause`)).status).toBe(200);
  const kept = await listEntries(server.db, {
    projectIds: [Number(id)],
    actor: null,
    action: null,
    after: null,
    limit: 50,
  });
  expect(kept.map(({ action, isCompleted }) => [action, isCompleted])).toEqual([['pause.look', true]]);
  await busy.close();
});
