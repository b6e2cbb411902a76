import { afterAll, expect, test } from 'vitest';
import type { IngestRequest, IngestWarning } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { endpointServer, newCaller } from '../../../../testing/servers/endpoint-server.ts';
import { EVENTS, EVENTS_BULK } from '../../../../testing/factories/endpoints.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { listKeys } from '../keys/list-keys.ts';
import { requestLog } from '../activity/request-log.ts';
import { warningCounter } from '../warnings/warnings.ts';

const server = await endpointServer();
const { db, clock } = server;
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

async function project() {
  const { id: projectId } = await newCaller(server, EVENTS);
  const [key] = await listKeys(db, projectId);
  const log = requestLog({ db, clock, newId: idMaker(clock), log: silentLog });
  const request = {
    projectId,
    endpoint: 'events',
    accepted: 1,
    rejected: 0,
    keyId: key?.id ?? null,
    bytes: 40,
  };
  return { projectId, key, log, one: request };
}

test('lists requests newest first, with their key, and distinguishes replays from refusals', async () => {
  const { projectId, key, log, one } = await project();
  log.note({ ...one, status: 202, code: null, ms: 3, requestId: 'r1' });
  await log.flush();
  clock.advance(1_000);
  log.note({ ...one, status: 202, code: 'idempotent_replay', ms: 1, requestId: 'r2' });
  await log.flush();
  clock.advance(1_000);
  log.note({
    ...one,
    status: 422,
    code: 'validation_failed',
    accepted: 0,
    ms: 1,
    requestId: 'r3',
    keyId: null,
  });
  await log.close();
  const at = `GET /projects/${projectId}/requests`;
  const { json } = await dashboard.request<IngestRequest[]>(at, { as: 'viewer' });
  expect(json.data).toMatchObject([
    { request_id: 'r3', status: 422, code: 'validation_failed', replayed: false, key: null },
    { request_id: 'r2', status: 202, code: null, replayed: true, key: { label: key?.label } },
    { request_id: 'r1', status: 202, code: null, replayed: false, bytes: 40, slowest_ms: 3, requests: 1 },
  ]);
  expect(json.meta).toEqual({ pagination: { total: 3, offset: 0, limit: 50 }, cursor: null });
  const ids = async (query: string) => {
    const found = await dashboard.request<IngestRequest[]>(`${at}?${query}`);
    return found.json.data.map(({ request_id: id }) => id);
  };
  expect(await ids('filter=status:4*')).toEqual(['r3']);
  expect(await ids(`filter=${encodeURIComponent(`key:${key?.id} -code:*replay`)}`)).toEqual(['r1']);
  const first = (await dashboard.request<IngestRequest[]>(`${at}?limit=2`)).json.meta.cursor;
  expect(await ids(`limit=2&cursor=${first}`)).toEqual(['r1']);
  for (const [query, field] of [
    ['filter=user:1', 'filter'],
    ['cursor=none', 'cursor'],
    ['limit=0', 'limit'],
  ])
    expect((await dashboard.request(`${at}?${query}`)).json.errors[0]?.field).toBe(field);
});

test('keeps the errors of up to ten records with the request, whatever the fields are called', async () => {
  const caller = await newCaller(server, EVENTS_BULK);
  const odd = 'odd\u0000\ud800 name';
  const wrong = { external_user_id: 'u', name: 'usage_threshold_reached', properties: { [odd]: 1 } };
  const events = Array.from({ length: 12 }, (_, i) =>
    i === 0 ? { external_user_id: 'u', name: 'n' } : wrong,
  );
  expect((await caller.send({ body: { events } })).status).toBe(200);
  const bulk = await onlyRequest(caller.id);
  expect(bulk).toMatchObject({ accepted: 1, rejected: 11 });
  expect(bulk?.faults).toHaveLength(10);
  expect(bulk?.faults[0]).toMatchObject({ index: 1, field: expect.any(String) as string });
  const single = await newCaller(server, EVENTS);
  await single.send({ body: { external_user_id: 7, name: '' } });
  const refused = await onlyRequest(single.id);
  expect(refused?.faults.map(({ index, field }) => [index, field])).toEqual([
    [null, 'external_user_id'],
    [null, 'name'],
  ]);
});

/** Written a quarter of a second later at most. */
async function onlyRequest(projectId: number): Promise<IngestRequest | undefined> {
  const listed = () => dashboard.request<IngestRequest[]>(`GET /projects/${projectId}/requests`);
  await expect.poll(async () => (await listed()).json.data.length, { timeout: 5_000 }).toBe(1);
  return (await listed()).json.data[0];
}

test('logs a request with the status of its response', async () => {
  const caller = await newCaller(server, EVENTS);
  const [key] = await listKeys(db, caller.id);
  const { status } = await caller.send({ body: { external_user_id: 'u', name: 'n' } });
  expect(status).toBe(202);
  expect(await onlyRequest(caller.id)).toMatchObject({ status: 202, bytes: 35, key: { id: key?.id } });
});

test('lists warnings, and none of another project', async () => {
  const { projectId } = await project();
  const other = await project();
  const warnings = warningCounter({ db, clock, log: silentLog });
  warnings.note(projectId, 'placeholder_user_id');
  await warnings.close();
  const list = async (id: number) =>
    (await dashboard.request<IngestWarning[]>(`GET /projects/${id}/warnings`, { as: 'viewer' })).json.data;
  expect(await list(projectId)).toEqual([
    {
      code: 'placeholder_user_id',
      day: new Date(clock.now()).toISOString().slice(0, 10),
      count: 1,
      last_at: new Date(clock.now()).toISOString(),
    },
  ]);
  expect(await list(other.projectId)).toEqual([]);
  expect((await dashboard.request('GET /projects/9999/warnings')).status).toBe(404);
});
