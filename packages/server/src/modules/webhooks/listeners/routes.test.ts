import { beforeAll, expect, test } from 'vitest';
import type { ListenedWebhook, TokenListed } from '@beckon/contract/dashboard';
import { readWebhookSecret } from '@beckon/contract/signature';
import { endpointServer } from '../../../../testing/servers/endpoint-server.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { type EventListener, leaveAtBegin, listenTo } from '../../../../testing/servers/server-events.ts';
import { type Browser, testTeam } from '../../../../testing/factories/team.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { openListener, reencryptListeners } from './listener.ts';
import { insertWebhooks } from '../deliveries/store.ts';
import { createFeeds } from '../../workspace/dashboard-api/feeds.ts';

const server = await endpointServer();
const { db, clock } = server;
const newId = idMaker(clock);
const feeds = createFeeds();
const encrypter = createEncrypter('a secret of this test alone', null, 'test');
const { setUp, browser, join, tokenFor, dashboard } = testTeam(server, { feeds, encrypter });
const { ada, projectId } = await setUp();
const project = `/projects/${projectId}`;
const program = (token: string): Browser => browser({ origin: undefined, authorization: `Bearer ${token}` });
let base = '';
beforeAll(async () => {
  base = await dashboard.url();
});

async function happens(body = '{"é":"\\u0000"}'): Promise<string> {
  const id = newId();
  const about = { projectId, outcomeId: null, type: 'email.replied', userId: 'ada' };
  await insertWebhooks(db, [{ ...about, id, body, createdAt: clock.now() }]);
  return id;
}

const listen = (token: string, headers: Record<string, string> = {}): Promise<EventListener> =>
  listenTo(`${base}/api/dashboard${project}/listen`, { authorization: `Bearer ${token}`, ...headers });

test('creates one encrypted secret per member and project, also for concurrent requests', async () => {
  const bob = await join(ada, { projectId, email: 'bob@x.org', role: 'reviewer' });
  const open = async (client: Browser): Promise<string> =>
    ((await client.request(`POST ${project}/listener`)).json.data as { secret: string }).secret;
  const token = program(await tokenFor(ada, ['read']));
  const [first, ...others] = await Promise.all([open(ada), open(token), open(ada)]);
  expect(readWebhookSecret(first)).not.toBe(null);
  expect(new Set([first, ...others])).toEqual(new Set([first]));
  expect(await open(bob)).not.toBe(first);
  expect(await findText(db, [first])).toEqual([]);
  const viewer = await join(ada, { projectId, email: 'viewer@x.org', role: 'viewer' });
  expect((await viewer.request(`POST ${project}/listener`)).status).toBe(403);
  expect((await viewer.request(`GET ${project}/listen`)).status).toBe(403);
  // A new secret key of the installation re-encrypts them.
  const next = createEncrypter('the next one', 'a secret of this test alone', 'test');
  expect([
    await reencryptListeners(db, { encrypter: next, log: silentLog }),
    await reencryptListeners(db, { encrypter: next, log: silentLog }),
  ]).toEqual([2, 0]);
  const [person] = await db.query<{ id: string }>(
    `SELECT id FROM beckon.team_user WHERE email = 'ada@x.org'`,
  );
  const onlyNext = createEncrypter('the next one', null, 'test');
  const key = { projectId, memberId: person?.id ?? '' };
  expect(await openListener({ db, encrypter: onlyNext }, key)).toBe(first);
});

test('streams every webhook to a program as endpoints get it, and resumes', async () => {
  const token = await tokenFor(ada, ['read']);
  const stream = await listen(token);
  expect([stream.response.statusCode, stream.response.headers['content-type']]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  const id = await happens();
  const message = await stream.next();
  expect(message?.data).toEqual({
    id: `msg_${id}`,
    type: 'email.replied',
    body: '{"é":"\\u0000"}',
  } satisfies ListenedWebhook);
  stream.leave();
  clock.advance(60_000);
  const missed = await happens('{"n":2}');
  const back = await listen(token, { 'last-event-id': message?.id ?? '' });
  expect((await back.next())?.data).toMatchObject({ id: `msg_${id}` });
  expect((await back.next())?.data).toMatchObject({ id: `msg_${missed}`, body: '{"n":2}' });
  back.leave();
  clock.advance(25 * 3_600_000);
  const late = await listen(token, { 'last-event-id': message?.id ?? '' });
  expect((await late.next())?.event).toBe('gap');
  late.leave();
  const wrong = await program(token).request(`GET ${project}/listen`, undefined, { 'last-event-id': 'x' });
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'Last-Event-ID']);
});

test('resumes a stream that sent nothing yet at its beginning', async () => {
  const token = await tokenFor(ada, ['read']);
  const begin = await leaveAtBegin(await listen(token));
  const missed = await happens('{"n":3}');
  clock.advance(60_000);
  const back = await listen(token, { 'last-event-id': begin });
  expect((await back.next())?.data).toMatchObject({ id: `msg_${missed}` });
  back.leave();
});

test('ends a stream once its token is revoked or its member loses access', async () => {
  const [kept, gone] = [await tokenFor(ada, ['read'], 'kept'), await tokenFor(ada, ['read'], 'gone')];
  const bob = await join(ada, { projectId, email: 'eve@x.org', role: 'reviewer' });
  const bobs = await listen(await tokenFor(bob, ['read']));
  const [stays, ends] = [await listen(kept), await listen(gone)];
  const { id } = ((await ada.request('GET /profile/tokens')).json.data as TokenListed[]).find(
    ({ label }) => label === 'gone',
  ) ?? { id: '' };
  await ada.request(`POST /profile/tokens/${id}/revoke`);
  const members = (await ada.request(`GET ${project}/members`)).json.data as { id: string; email: string }[];
  const eve = members.find(({ email }) => email === 'eve@x.org')?.id ?? '';
  await ada.request(`POST ${project}/members/${eve}/role`, { role: 'viewer' });
  await feeds.check();
  for (const stream of [ends, bobs]) {
    expect(await stream.next()).toMatchObject({ event: 'end', data: { reason: 'signed_out' } });
    expect(await stream.next()).toBe(undefined);
  }
  const message = await happens();
  expect((await stays.next())?.data).toMatchObject({ id: `msg_${message}` });
  stays.leave();
});
