import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { FeedItem } from '@beckon/contract/dashboard';
import { emailsRule, newOutcomeScenario, sendTo } from '../../../../testing/factories/email-outcomes.ts';
import { testDashboard } from '../../../../testing/servers/dashboard.ts';
import { MINUTE } from '../../../../testing/factories/drafts.ts';
import {
  type EventListener,
  leaveAtBegin,
  listenTo,
  type ServerEvent,
} from '../../../../testing/servers/server-events.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { Fault } from '../../../platform/fault.ts';
import { idMaker } from '../../../platform/ids.ts';
import { insertActivity } from './store.ts';
import type { Access } from '../../workspace/members/team.ts';
import { createProject } from '../../administration/create-project.ts';
import { createFeeds } from '../../workspace/dashboard-api/feeds.ts';

const stage = await openStage();
const { db, clock } = stage.server;
const newId = idMaker(clock);
let projectId = 0;
let base = '';
const dashboard = testDashboard(db);
beforeAll(async () => {
  base = await dashboard.url();
  ({ id: projectId } = await createProject(db, { name: 'Acme' }));
});
beforeEach(() => clock.advance(MINUTE));
afterAll(() => dashboard.close());

async function happens(userId: string): Promise<void> {
  const at = new Date(clock.now());
  await insertActivity(db, [
    { projectId, at, id: newId(), kind: 'user_changed', userId, audienceId: null, detail: '{}' },
  ]);
}

function listen(base: string, query = '', headers: Record<string, string> = {}): Promise<EventListener> {
  const url = `${base}/api/dashboard/projects/${projectId}/feed${query}`;
  return listenTo(url, { 'x-test-role': 'viewer', ...headers });
}

const userOf = (event: ServerEvent | undefined): unknown =>
  (event?.data as FeedItem | undefined)?.external_user_id;

test('streams events as they happen, with their position as id, and only to members with a role', async () => {
  const listener = await listen(base);
  expect(listener.response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  await happens('ada');
  const event = await listener.next();
  expect(event).toMatchObject({ event: 'message', data: { type: 'user_changed', place: event?.id } });
  listener.leave();
  const path = `GET /projects/${projectId}/feed`;
  expect((await dashboard.request(path, { as: null })).status).toBe(401);
  expect((await dashboard.request(`GET /projects/${projectId + 999}/feed`)).status).toBe(404);
  const wrong = await dashboard.request(`${path}?filter=colour:red`);
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'filter']);
  expect((await dashboard.request(`${path}?last_event_id=none`)).status).toBe(422);
});

test('resumes without a gap, by the header or by the query', async () => {
  const first = await listen(base);
  await happens('before');
  const event = await first.next();
  first.leave();
  await happens('meanwhile');
  clock.advance(MINUTE);
  await happens('later');
  const cursor = String(event?.id);
  for (const [query, headers] of [
    [`?last_event_id=${cursor}`, {}],
    ['', { 'Last-Event-ID': cursor }],
    ['?last_event_id=', { 'Last-Event-ID': cursor }],
  ] as const) {
    const again = await listen(base, query, headers);
    const users: unknown[] = [];
    while (!users.includes('later')) users.push(userOf(await again.next()));
    // Events received before may be repeated; their ids identify them.
    expect(users.filter((user) => user === 'meanwhile' || user === 'later')).toEqual(['meanwhile', 'later']);
    again.leave();
  }
});

test('resumes a stream that sent nothing yet at its beginning', async () => {
  const begin = await leaveAtBegin(await listen(base));
  await happens('meanwhile');
  clock.advance(MINUTE);
  const again = await listen(base, '', { 'Last-Event-ID': begin });
  expect(userOf(await again.next())).toBe('meanwhile');
  again.leave();
});

test('reports a gap to a client that was away for too long, and continues from now', async () => {
  const first = await listen(base);
  await happens('long ago');
  const event = await first.next();
  first.leave();
  clock.advance(16 * MINUTE);
  const again = await listen(base, `?last_event_id=${String(event?.id)}`);
  expect(await again.next()).toEqual({ id: null, event: 'gap', data: {} });
  await happens('now');
  expect(userOf(await again.next())).toBe('now');
  again.leave();
});

test('GET /stream with `since` lists and counts nothing that happened before that time', async () => {
  await happens('before');
  clock.advance(MINUTE);
  const since = new Date(clock.now()).toISOString();
  await happens('after');
  const { json } = await dashboard.request<FeedItem[]>(`GET /projects/${projectId}/stream?since=${since}`);
  expect(json.data.map((item) => item.external_user_id)).toEqual(['after']);
  expect(json.meta.pagination.total).toBe(1);
  const wrong = await dashboard.request(`GET /projects/${projectId}/stream?since=soon`);
  expect([wrong.status, wrong.json.errors[0]?.field]).toEqual([422, 'since']);
});

test('applies a filter, and ends the oldest feed of a member with too many', async () => {
  const feeds = createFeeds();
  const ownDashboard = testDashboard(db, { feeds });
  const ownBase = await ownDashboard.url();
  const oldest = await listen(ownBase, '?filter=user:ada');
  await happens('bob');
  await happens('ada');
  expect(userOf(await oldest.next())).toBe('ada');
  const others = await Promise.all(Array.from({ length: 8 }, () => listen(ownBase)));
  expect(await oldest.next()).toMatchObject({ event: 'end', data: { reason: 'too_many' } });
  expect(await oldest.next()).toBeUndefined();
  expect(feeds.count()).toBe(8);
  // Another member is not affected.
  const theirs = await listen(ownBase, '', { 'x-test-role': 'editor' });
  expect(feeds.count()).toBe(9);
  for (const listener of [...others, theirs]) listener.leave();
  await ownDashboard.close();
});

test('ends the feeds of removed and signed-out members, and no others', async () => {
  const feeds = createFeeds();
  const gone = new Set<string>();
  const access: Access = {
    findMember: async ({ 'x-test-role': role }) =>
      gone.has(`who ${String(role)}`)
        ? null
        : { id: String(role), name: '', email: '', sessionId: 's', confirmedAt: null },
    roleIn: async (personId) => {
      if (gone.has(`factor ${personId}`)) throw new Fault('role_required');
      return gone.has(`role ${personId}`) ? null : 'viewer';
    },
    rolesOf: async () => new Map(),
    organizationsOf: async () => [],
    organizationsToMakeIn: async () => [],
    namesOf: async () => new Map(),
  };
  const ownDashboard = testDashboard(db, { feeds, access });
  const ownBase = await ownDashboard.url();
  const as = (role: string): Promise<EventListener> => listen(ownBase, '', { 'x-test-role': role });
  const [ended, removed, stays] = [await as('ended'), await as('removed'), await as('stays')];
  // A member whose organization now requires an authenticator app.
  const lacking = await as('lacking');
  await feeds.check();
  expect(feeds.count()).toBe(4);
  gone.add('who ended').add('role removed').add('factor lacking');
  await feeds.check();
  for (const listener of [ended, removed, lacking])
    expect(await listener.next()).toMatchObject({ event: 'end', data: { reason: 'signed_out' } });
  expect(feeds.count()).toBe(1);
  await happens('ada');
  expect(userOf(await stays.next())).toBe('ada');
  stays.leave();
  await ownDashboard.close();
});

test('ends its feeds with a reason as soon as the server stops', async () => {
  const ownDashboard = testDashboard(db);
  const listener = await listen(await ownDashboard.url());
  const closed = ownDashboard.close();
  expect(await listener.next()).toMatchObject({ event: 'end', data: { reason: 'stopping' } });
  expect(await listener.next()).toBeUndefined();
  await closed;
});

test('lists earlier events in pages, finds each by its position, and names the actors', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
  await sendTo(scenario, ['ada']);
  const { projectId: theirs } = scenario;
  await db.query(`UPDATE beckon.draft_move SET actor = 'team:1' WHERE project_id = $1 AND action = 'claim'`, [
    theirs,
  ]);
  const list = `GET /projects/${theirs}/stream`;
  const first = (await dashboard.request<FeedItem[]>(`${list}?filter=type:draft_changed&limit=1`)).json;
  expect(first).toMatchObject({
    data: [{ type: 'draft_changed', action: 'sent', external_user_id: 'ada' }],
    meta: { pagination: { total: 2, offset: 0, limit: 1 } },
  });
  const second = (
    await dashboard.request<FeedItem[]>(
      `${list}?filter=type:draft_changed&limit=1&cursor=${first.meta.cursor}`,
    )
  ).json;
  expect(second.data).toMatchObject([{ action: 'claim', actor: 'team:1', actor_name: 'Ada' }]);
  const cursor = second.data[0]?.place;
  const response = await dashboard.request(`${list}/${cursor}`, { as: 'viewer' });
  expect([response.status, response.json.data]).toEqual([200, second.data[0]]);
  expect((await dashboard.request(`GET /projects/${projectId}/stream/${cursor}`)).status).toBe(404);
  expect((await dashboard.request(`${list}/none`)).status).toBe(422);
  expect((await dashboard.request(`${list}?filter=type:none`)).json.errors[0]?.field).toBe('filter');
  expect((await dashboard.request(`${list}?limit=501`)).json.errors[0]?.field).toBe('limit');
});
