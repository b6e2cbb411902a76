import { afterAll, beforeEach, expect, test } from 'vitest';
import type { WebhookDelivery, WebhookEndpoint } from '@beckon/contract/dashboard';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { HOOK_CA } from '../../../../testing/servers/hook-server.ts';
import { webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import { listEntries } from '../../workspace/audit/store.ts';
import { createOutbound } from '../../../platform/outbound/outbound.ts';

const stage = await webhookStage();
const { db, hooks, encrypter, clock } = stage;
const openOutbound = () => createOutbound({ allowPrivate: true, ca: HOOK_CA });
const dashboard = testDashboard(db, { encrypter, openOutbound });
afterAll(async () => {
  await dashboard.close();
  await stage.close();
});
beforeEach(() => stage.forget());

type Made = WebhookEndpoint & { secret: string };
const MINUTE = 60_000;

async function made(path: string, more: object = {}) {
  const project = await stage.project();
  const at = `/projects/${project}`;
  const body = { url: hooks.url(path), ...more };
  const { json } = await dashboard.request<Made>(`POST ${at}/webhooks`, { body });
  return { project, at, endpoint: json.data, of: `${at}/webhooks/${json.data.id}` };
}

test('creates an endpoint, shows its secret once, and lists, edits and shows it', async () => {
  const { at, endpoint, of } = await made('/a', { types: ['email.opened'], description: 'CRM' });
  const { secret, ...view } = endpoint;
  expect(secret).toMatch(/^whsec_/);
  const listed = await dashboard.request<WebhookEndpoint[]>(`GET ${at}/webhooks`, { as: 'admin' });
  expect(listed.json.data).toEqual([view]);
  expect(listed.text).not.toContain(secret);
  const edited = await dashboard.request<WebhookEndpoint>(`PATCH ${of}`, {
    body: { types: null, per_second: 5 },
  });
  expect(edited.json.data).toEqual({ ...view, types: null, per_second: 5 });
  expect((await dashboard.request(`GET ${of}`)).json.data).toEqual(edited.json.data);
  for (const [body, field] of [
    [{ url: 'ftp://x.org' }, 'url'],
    [{ types: ['email.read'] }, 'types'],
    [{ per_second: 0 }, 'per_second'],
    [{ colour: 'red' }, 'colour'],
  ] as const)
    expect((await dashboard.request(`PATCH ${of}`, { body })).json.errors[0]?.field).toBe(field);
});

test('sends a test event at once, shows its response and body, and is audited', async () => {
  const { project, at, endpoint, of } = await made('/tested');
  hooks.setReply(() => ({ status: 418, body: 'short' }));
  const { json } = await dashboard.request<WebhookDelivery>(`POST ${of}/test`);
  expect(json.data).toMatchObject({
    type: 'test',
    endpoint_id: endpoint.id,
    state: 'exhausted',
    attempts: [{ status: 418, response: 'short', url: endpoint.url }],
  });
  const whole = await dashboard.request<WebhookDelivery & { body: string }>(
    `GET ${at}/webhook-deliveries/${json.data.id}/${endpoint.id}`,
  );
  expect(whole.json.data.body).toBe(hooks.received[0]?.body);
  const query = { projectIds: [project], actor: null, action: 'webhook.send_test', after: null, limit: 9 };
  expect(await listEntries(db, query)).toMatchObject([{ subject: endpoint.url, isCompleted: true }]);
});

test('lists deliveries in pages and by state, and resends one, all failed or all missed ones', async () => {
  const { project, at, endpoint, of } = await made('/told');
  hooks.setReply(() => ({ status: 500, body: '' }));
  for (let i = 0; i < 3; i += 1) {
    await stage.queue(project);
    clock.advance(1_000);
  }
  await stage.advance(4 * 24 * 60 * MINUTE);
  const list = `GET ${at}/webhook-deliveries`;
  const first = (await dashboard.request<WebhookDelivery[]>(`${list}?limit=2`)).json;
  expect(first.data.map(({ state }) => state)).toEqual(['exhausted', 'exhausted']);
  expect(first.meta.pagination).toEqual({ total: 3, offset: 0, limit: 2 });
  const rest = (await dashboard.request<WebhookDelivery[]>(`${list}?limit=2&cursor=${first.meta.cursor}`))
    .json;
  expect(rest.data).toHaveLength(1);
  expect(new Set([...first.data, ...rest.data].map(({ id }) => id)).size).toBe(3);
  const delivered = await dashboard.request<WebhookDelivery[]>(
    `${list}?state=delivered&endpoint=${endpoint.id}`,
  );
  expect(delivered.json.data).toEqual([]);
  hooks.setReply(() => ({ status: 200, body: '' }));
  const message = rest.data[0]?.id;
  const ofMessage = (await dashboard.request<WebhookDelivery[]>(`${list}?message=${message}`)).json;
  expect([ofMessage.data.map(({ id }) => id), ofMessage.meta.pagination.total]).toEqual([[message], 1]);
  const replay = (body: object) =>
    dashboard.request<{ replayed: number }>(`POST ${at}/webhook-replays`, {
      body: { endpoint: endpoint.id, ...body },
    });
  expect((await replay({ message: rest.data[0]?.id })).json.data).toEqual({ replayed: 1 });
  await stage.settle();
  const since = new Date(clock.now() - 5 * 24 * 60 * MINUTE).toISOString();
  expect((await replay({ since })).json.data).toEqual({ replayed: 2 });
  await stage.settle();
  const disabled = await dashboard.request<WebhookEndpoint & { missed: number }>(`POST ${of}/disable`);
  expect(disabled.json.data).toMatchObject({ state: 'disabled', disabled_reason: 'manual', missed: 0 });
  expect((await replay({ missed: true })).status).toBe(409);
  await stage.queue(project);
  await stage.settle();
  expect((await dashboard.request<WebhookEndpoint>(`POST ${of}/enable`)).json.data.state).toBe('enabled');
  expect((await replay({ missed: true })).json.data).toEqual({ replayed: 1 });
  for (const [body, field] of [
    [{}, 'since'],
    [{ missed: true, since }, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ since, until: '2020-01-01T00:00:00Z' }, 'since'],
    [{ since: '2020-01-01T00:00:00Z' }, 'since'],
    [{ since, states: ['pending'] }, 'states.0'],
    [{ message: 'none' }, 'message'],
  ] as const)
    expect((await replay(body)).json.errors[0]?.field).toBe(field);
  expect((await dashboard.request(`${list}?cursor=x`)).json.errors[0]?.field).toBe('cursor');
});

test('keeps the old secret for a while after a rotation, and deletes only by the typed URL', async () => {
  const { at, endpoint, of } = await made('/rotated');
  clock.advance(1_000);
  const rotated = await dashboard.request<Made>(`POST ${of}/rotate`, { body: { overlap_hours: 2 } });
  expect(rotated.json.data.secret).not.toBe(endpoint.secret);
  expect(rotated.json.data.secrets.map(({ expires_at: at2 }) => at2)).toEqual([
    null,
    new Date(clock.now() + 120 * MINUTE).toISOString(),
  ]);
  expect((await dashboard.request(`POST ${of}/rotate`, { body: { overlap_hours: 200 } })).status).toBe(422);
  const wrong = await dashboard.request(`DELETE ${of}`, { body: { url: 'https://x.org' } });
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'url']);
  expect((await dashboard.request(`DELETE ${of}`, { body: { url: endpoint.url } })).json.data).toEqual({
    canceled: 0,
  });
  expect((await dashboard.request(`GET ${of}`)).status).toBe(404);
  expect((await dashboard.request<unknown[]>(`GET ${at}/webhooks`)).json.data).toEqual([]);
});

test('restricts webhooks to admins, and returns 404 for those of another project', async () => {
  const { at, endpoint } = await made('/theirs');
  const other = `/projects/${await stage.project()}`;
  const acts = ['enable', 'disable', 'rotate', 'test'].map(
    (act) => `POST ${other}/webhooks/${endpoint.id}/${act}`,
  );
  for (const what of [
    ...acts,
    `GET ${other}/webhooks/${endpoint.id}`,
    `PATCH ${other}/webhooks/${endpoint.id}`,
  ])
    expect((await dashboard.request(what, what.startsWith('GET') ? {} : { body: {} })).status).toBe(404);
  for (const what of [
    `GET ${at}/webhooks`,
    `GET ${at}/webhook-deliveries`,
    `POST ${at}/webhooks`,
    `POST ${at}/webhook-replays`,
    `POST ${at}/webhooks/${endpoint.id}/test`,
    `DELETE ${at}/webhooks/${endpoint.id}`,
  ])
    expect((await dashboard.request(what, { as: 'editor' })).status).toBe(403);
  const nothing = `${other}/webhook-deliveries/msg_${endpoint.id}/${endpoint.id}`;
  expect((await dashboard.request(`GET ${nothing}`)).status).toBe(404);
});
